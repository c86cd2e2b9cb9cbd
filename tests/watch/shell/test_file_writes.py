"""Which files a shell command writes: the destinations, not the sources, however the options are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.records import Turn
from deia.watch.clauses.confirm import written_paths
from deia.watch.turn.parsed_turn import Reading
from tests.watch.conftest import make_trigger

if TYPE_CHECKING:
    from tests.watch.conftest import Fires


def call(command: str, tool: str = "Bash") -> Turn:
    return Turn(role="tool_call", text=command, tool=tool, tool_input={"command": command})


def written(command: str, tool: str = "Bash") -> set[str]:
    return set(written_paths(Reading(call(command, tool))))


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("echo x | sudo tee -a .env", {".env"}),
        ("echo x >> .env", {".env"}),
        ("cat > .env <<E\nA=1\nE", {".env"}),
        ("bash -c 'echo x > .env'", {".env"}),
        ("cp .env.example .env", {".env"}),
        ("cp .env /backup", {"/backup"}),
        ("cp .env /backup/", {"/backup/", "/backup/.env"}),
        ("cp -t conf a/x b", {"conf", "conf/x", "conf/b"}),
        ("cp --target-directory=conf a/x", {"conf", "conf/x"}),
        ("mv old.py new.py", {"old.py", "new.py"}),
        ("ln -sf ../shared .env", {".env"}),
        ("install -m 600 -o root key /etc/key", {"/etc/key"}),
        ("sed -i 's/a/b/' .env", {".env"}),
        ("sed -i.bak -e s/a/b/ one two", {"one", "two"}),
        ("sed -i '' 's/a/b/' .env", {".env"}),
        ("sed -Ei 's/a/b/' .env", {".env"}),
        ("sed --in-place=.bak s/a/b/ .env", {".env"}),
        ("sed -n 's/a/b/p' .env", set()),
        ("sed -n '/x/p' init.d/site", set()),
        ("perl -pi -e 's/a/b/' f.py", {"f.py"}),
        ("perl -ne 'print' f.py", set()),
        ("yq -i '.a = 1' values.yaml", {"values.yaml"}),
        ("dd if=/dev/zero of=disk.img bs=1M", {"disk.img"}),
        ("rsync -a --exclude x src/ dst", {"dst"}),
        ("rsync -a src/ host:/srv", set()),
        ("scp host:/etc/x .env", {".env"}),
        ("scp -P 22 .env host:", set()),
        ("curl -fsSLo .env https://x.example/e", {".env"}),
        ("curl --output=.env https://x.example/e", {".env"}),
        ("curl https://x.example/-o", set()),
        ("wget -O .env https://x.example/e", {".env"}),
        ("wget -O - https://x.example/e", set()),
        ("sort -o out.txt in.txt", {"out.txt"}),
        ("truncate -s 0 app.log", {"app.log"}),
        ("touch -d yesterday a", {"a"}),
        ("rm -rf -- -odd build", {"-odd", "build"}),
        ("cat .env", set()),
        ("cp onlyone", set()),
        ("tee", set()),
    ],
)
def test_a_command_writes_what_it_is_told_to(command: str, paths: set[str]) -> None:
    assert written(command) == paths


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("Set-Content -Path .env -Value x", {".env"}),
        ("Set-Content .env 'a b'", {".env"}),
        ("'x' | Out-File -Append -FilePath .env", {".env"}),
        ("'x' | out-file .env -Encoding utf8", {".env"}),
        ("Add-Content -Lit a.txt -Value b", {"a.txt"}),
        ("Get-Content a.txt | Set-Content b.txt", {"b.txt"}),
        ("Get-Process | Export-Csv -NoTypeInformation out.csv", {"out.csv"}),
        ("Copy-Item a.txt .env -Force", {".env"}),
        ("Copy-Item -Path a.txt -Destination .env", {".env"}),
        ("New-Item -ItemType File -Path .env", {".env"}),
        ("Remove-Item -Recurse build", {"build"}),
        ("Get-Content .env", set()),
        ("Set-Content -Path", set()),
    ],
)
def test_a_cmdlet_writes_what_its_parameter_names(command: str, paths: set[str]) -> None:
    assert written(command, "PowerShell") == paths


def test_a_write_clause_fires_on_what_a_shell_writes_and_not_on_what_it_reads(fires: Fires) -> None:
    trigger = make_trigger(("write", (".env",)))
    assert fires(trigger, call("printenv | tee .env"))
    assert fires(trigger, call("cp .env.example .env"))
    assert not fires(trigger, call("cp .env /tmp/copy"))


WORDS = st.sampled_from(
    "tee cp mv sed dd rsync install perl curl sort Set-Content Out-File -i -t -o -e -path -destination of= -- - -p:x a"
    " b/ host:x s/a/b/ , '' \"\" > | $X".split(" ")
)


@settings(max_examples=100, deadline=None)
@given(st.lists(WORDS, max_size=12).map(" ".join), st.sampled_from(["Bash", "PowerShell"]))
def test_any_line_gives_paths_or_nothing(command: str, tool: str) -> None:
    assert all(path and "\0" not in path for path in written(command, tool))
