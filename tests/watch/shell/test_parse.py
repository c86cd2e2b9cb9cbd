"""The shell parser: what would run is listed, what is only text is not, and no text makes it fail."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deia.watch.shell.nodes import Command
from deia.watch.shell.parse import parse_commands


def lines(text: str, shell: str = "bash") -> list[str]:
    """Return the commands of a text as a person would write them."""
    return [" ".join((one.program, *one.arguments)) for one in parse_commands(text, shell=shell)]


def only(text: str, shell: str = "bash") -> Command:
    (command,) = parse_commands(text, shell=shell)
    return command


def matched(text: str) -> list[str]:
    """Return programs with their arguments but without data, as a trigger sees them."""
    return [
        " ".join((one.program, *(word for at, word in enumerate(one.arguments) if at not in one.data)))
        for one in parse_commands(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("   # only a comment", []),
        ("ls -la", ["ls -la"]),
        ("a && b || c; d | e |& f & g\nh", list("abcdefgh")),
        ("rm -rf \\\n  x", ["rm -rf x"]),
        ("echo ok # ignored 'quote\nrm x", ["echo ok", "rm x"]),
        ("echo a#b $#", ["echo a#b $#"]),
        ("&& git reset", ["git reset"]),
        ('r"m" -rf "a b" c\\ d', ["rm -rf a b c d"]),
        ("$'\\x72\\x6d' $'a\\'b'", ["rm a'b"]),
        ('rm "$HOME/x" ${X:-y}', ["rm $HOME/x ${X:-y}"]),
        ("if a; then b; elif c; then d; else e; fi", list("abcde")),
        ("for x in 1 2; do rm $x; done", ["rm 1 2"]),
        ("for ((i=0; i<3; i++)); do rm $i; done", ["rm $i"]),
        ("while a; do b; done; until c; do d; done", list("abcd")),
        ("case $x in a|b) rm a;; (c) ls;; *) d ;; esac; e", ["rm a", "ls", "d", "e"]),
        ("f() { rm y; }; function g { ls; }", ["rm y", "ls"]),
        ("(cd x && rm y); { a; b; }; ! c", ["cd x", "rm y", "a", "b", "c"]),
        ("[[ a == b && (c || d) ]] && rm", ["[[ a == b c d ]]", "rm"]),
        ("(( i++ )); rm", ["rm"]),
        (
            'echo $(rm a) `rm b` "$(rm c)" "`rm d`"',
            ["rm a", "rm b", "rm c", "rm d", "echo $(rm a) `rm b` $(rm c) `rm d`"],
        ),
        ("echo $( (rm a) )", ["rm a", "echo $( (rm a) )"]),
        ("echo $((1 + $(rm a)))", ["rm a", "echo $((1 + $(rm a)))"]),
        ("echo $((rm a); b)", ["rm a", "b", "echo $((rm a); b)"]),
        ('echo "${x:-$(rm a)}"', ["rm a", "echo ${x:-$(rm a)}"]),
        ("cat <(rm a) > >(tee b)", ["rm a", "tee b", "cat <(rm a)"]),
        ("a=(1 2 $(rm x)); ls !(y|z)", ["rm x", "ls !(y|z)"]),
        ("A=1 B=$(rm x) make", ["rm x", "make"]),
        ("A=1", []),
        ("echo `echo \\`rm x\\``", ["rm x", "echo `rm x`", "echo `echo \\`rm x\\``"]),
        ("git push origin main 'unterminated", ["git push origin main unterminated"]),
    ],
)
def test_a_line_is_split_into_the_commands_that_would_run(text: str, expected: list[str]) -> None:
    assert lines(text) == expected


@pytest.mark.parametrize(
    ("text", "expected", "through"),
    [
        ("sudo -u root -- git reset --hard", "git reset --hard", ("sudo",)),
        ("sudo -nu x A=b rm y", "rm y", ("sudo",)),
        ("doas rm y", "rm y", ("doas",)),
        ("env -i -u X A=b git push", "git push", ("env",)),
        ("env - rm y", "rm y", ("env",)),
        ("env -S 'A=1 rm y'", "rm y", ("env",)),
        ("timeout -k 5 10 nice -n 5 nohup time -p rm y", "rm y", ("timeout", "nice", "nohup", "time")),
        ("stdbuf -oL setsid exec command builtin rm y", "rm y", ("stdbuf", "setsid", "exec", "command", "builtin")),
        ("watch -n1 'rm y'", "rm y", ("watch",)),
        ("strace -f -o log rm y", "rm y", ("strace",)),
        ("busybox rm y", "rm y", ("busybox",)),
        ("bash -c 'rm y'", "rm y", ("bash -c",)),
        ("sh -lc 'rm y'", "rm y", ("sh -c",)),
        ("bash -euo pipefail -c -- 'rm y'", "rm y", ("bash -c",)),
        ("bash --norc -ec 'rm y' arg0 arg1", "rm y", ("bash -c",)),
        ("$SHELL -c 'rm y'", "rm y", ("$SHELL -c",)),
        ("bash -c \"bash -c 'rm y'\"", "rm y", ("bash -c", "bash -c")),
        ('eval "rm y"', "rm y", ("eval",)),
        ("trap 'rm y' EXIT", "rm y", ("trap",)),
        ("su - postgres -c 'rm y'", "rm y", ("su -c",)),
        ("nix-shell -p jq --run 'rm y'", "rm y", ("nix-shell",)),
        ("xargs -0 -n1 -I {} rm {}", "rm {}", ("xargs",)),
        ("xargs --arg-file=x rm", "rm", ("xargs",)),
        ("parallel -j 4 rm ::: a b", "rm a b", ("parallel",)),
        ("parallel ::: 'rm y'", "rm y", ("parallel",)),
        ("bash <<< 'rm y'", "rm y", ("bash",)),
        ("bash -s <<'E'\nrm y\nE", "rm y", ("bash",)),
        ("sudo bash <<E\nrm y\nE", "rm y", ("sudo", "bash")),
        ('powershell -NoProfile -Command "Remove-Item y"', "Remove-Item y", ("powershell -Command",)),
        ('cmd /c "del /q y"', "del /q y", ("cmd /c",)),
        ("chpst -u app rm y", "rm y", ("chpst",)),
        ("setuidgid app rm y", "rm y", ("setuidgid",)),
        ("s6-envdir /run/env rm y", "rm y", ("s6-envdir",)),
    ],
)
def test_a_program_that_only_runs_another_is_seen_through(text: str, expected: str, through: tuple[str, ...]) -> None:
    assert lines(text) == [expected]
    assert only(text).through == through


@pytest.mark.parametrize(
    ("text", "expected", "through"),
    [
        ("find . -exec rm {} +", "rm {}", ("find -exec",)),
        ("find . -execdir sh -c 'rm y' _ {} \\;", "rm y", ("find -execdir", "sh -c")),
        ("fd x -x rm", "rm", ("fd -x",)),
        ("ssh -p 22 -i key host 'rm y'", "rm y", ("ssh",)),
        ("ssh host -t sudo rm y", "rm y", ("ssh", "sudo")),
        ("ssh host <<'E'\nrm y\nE", "rm y", ("ssh",)),
        ("docker exec -it -u root c rm y", "rm y", ("docker exec",)),
        ("podman run --rm -v a:b image rm y", "rm y", ("podman run",)),
        ("docker run --entrypoint sh image -c 'rm y'", "rm y", ("docker run", "sh -c")),
        ("docker compose -f x.yml exec -T db rm y", "rm y", ("docker compose exec",)),
        ("docker-compose run --rm db rm y", "rm y", ("docker-compose run",)),
        ("kubectl -n prod exec -it pod -c main -- rm y", "rm y", ("kubectl exec",)),
        ("uv run --with x rm y", "rm y", ("uv run",)),
        ("poetry run rm y", "rm y", ("poetry run",)),
        ("npx -y prisma@5 migrate reset", "prisma migrate reset", ("npx",)),
        ("pnpm dlx @nestjs/cli@latest new", "cli new", ("pnpm dlx",)),
        ("npm exec -- rm y", "rm y", ("npm exec",)),
        ("yarn prisma migrate reset", "prisma migrate reset", ("yarn",)),
        ("yarn --cwd web run prisma migrate reset", "prisma migrate reset", ("yarn run",)),
        ("yarn workspace web prisma migrate reset", "prisma migrate reset", ("yarn workspace",)),
        ("pnpm --filter web vercel remove y", "vercel remove y", ("pnpm",)),
        ("bun --bun prisma migrate reset", "prisma migrate reset", ("bun",)),
        ("pipx run --spec y alembic downgrade base", "alembic downgrade base", ("pipx run",)),
        ("asdf exec rm y", "rm y", ("asdf exec",)),
        ("dotenv -e .env -- rm y", "rm y", ("dotenv",)),
        ("dotenvx run -f .env -- rm y", "rm y", ("dotenvx run",)),
        ("nix develop -c rm y", "rm y", ("nix develop",)),
        ("nix shell nixpkgs#y --command bash -c 'rm y'", "rm y", ("nix shell", "bash -c")),
        ("mise exec node@20 -- rm y", "rm y", ("mise exec",)),
        ("hatch run test:rm y", "rm y", ("hatch run",)),
        ("rye run rm y", "rm y", ("rye run",)),
        ("aws --region eu ssm send-command --parameters 'commands=[\"rm y\"]'", "rm y", ("aws ssm",)),
        ('aws ssm send-command --parameters \'{"commands": ["rm y"]}\'', "rm y", ("aws ssm",)),
        ("aws ssm send-command --parameters commands='rm y' --targets z", "rm y", ("aws ssm",)),
        ("aws ecs execute-command --task z --command 'rm y'", "rm y", ("aws execute-command",)),
        ("bundle exec rails db:drop", "rails db:drop", ("bundle exec",)),
        ("git bisect run rm y", "rm y", ("git bisect run",)),
        ("git submodule foreach 'rm y'", "rm y", ("git submodule foreach",)),
        ("git rebase --exec 'rm y' main", "rm y", ("git",)),
        ("python3.11 -c 'import os; os.system(\"rm y\")'", "rm y", ("python3.11 -c",)),
        ("python -c'import os; os.system(\"rm y\")'", "rm y", ("python -c",)),
        ("python -c \"import subprocess as s; s.run(['rm', 'y'], check=True)\"", "rm y", ("python -c",)),
        ("python3 - <<'E'\nimport os\nos.popen('rm y')\nE", "rm y", ("python3",)),
        ("python -m pip uninstall x", "pip uninstall x", ("python -m",)),
        ("python3 -m git_filter_repo --path x", "git-filter-repo --path x", ("python3 -m",)),
        ("node -e 'require(\"child_process\").execSync(`rm y`)'", "rm y", ("node -e",)),
        ('node -pe \'require("child_process").spawn("rm", ["y"])\'', "rm y", ("node -pe",)),
        ("perl -we 'system(\"rm y\")'", "rm y", ("perl -we",)),
        ("ruby -e 'puts `rm y`'", "rm y", ("ruby -e",)),
        ("awk 'BEGIN { system(\"rm y\") }'", "rm y", ("awk",)),
        ("awk 'BEGIN { \"rm y\" | getline }'", "rm y", ("awk",)),
    ],
)
def test_a_program_that_runs_another_is_listed_before_it(text: str, expected: str, through: tuple[str, ...]) -> None:
    outer, inner = parse_commands(text)
    assert " ".join((inner.program, *inner.arguments)) == expected
    assert inner.through == through
    assert outer.through == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nsenter -t 1 -m -u rm y", ["rm y"]),
        ("unshare -r rm y", ["rm y"]),
        ("flatpak-spawn --host rm y", ["rm y"]),
        ("script -qc 'rm y' log", ["rm y"]),
        ("script -q log rm y", ["rm y"]),
        ("su -lc 'rm y'", ["rm y"]),
        ("screen -dmS name rm y", ["rm y"]),
        ("ansible all -m shell -a 'rm y'", ["ansible all -m shell -a rm y", "rm y"]),
        ("tmux new-session -d 'rm y'", ["tmux new-session -d rm y", "rm y"]),
        ("vim -c '!rm y' -c q", ["vim -c !rm y -c q", "rm y"]),
        ("vi +'silent !rm y' x", ["vi +silent !rm y x", "rm y"]),
        ("kubectl debug node/n -it --image=x -- rm y", ["kubectl debug node/n -it --image=x -- rm y", "rm y"]),
        ("lxc exec c -- rm y", ["lxc exec c -- rm y", "rm y"]),
        ("adb shell rm y", ["adb shell rm y", "rm y"]),
        ("concurrently 'rm y' 'ls'", ["concurrently rm y ls", "rm y", "ls"]),
        ("hyperfine --prepare 'rm y' ls", ["hyperfine --prepare rm y ls", "rm y", "ls"]),
        ("alias x='rm y'; x z", ["alias x=rm y", "rm y z"]),
        ("alias ls='ls -l'; ls y", ["alias ls=ls -l", "ls -l y"]),
        ("alias x='rm y; ls'; x", ["alias x=rm y; ls", "rm y", "ls"]),
        ("{rm,-r,y}", ["rm -r y"]),
        ("rm a/{b,c{d,e}}", ["rm a/b a/cd a/ce"]),
        ('curl -d \'{"a": 1, "b": 2}\' h', ['curl -d {"a": 1, "b": 2} h']),
        ("rm${IFS}-r${IFS}y", ["rm -r y"]),
        ("rm$IFS-r$IFS$9/y", ["rm -r /y"]),
        ("rm${IFS%??}-r${IFS:0:1}y;ls", ["rm -r y", "ls"]),
        ("rm '${IFS}' $IFS", ["rm ${IFS}"]),
        ("OLD=$IFS; rm -r y", ["rm -r y"]),
        ('for d in a b; do rm "$d/x" ${d}y; done', ["rm a/x b/x ay by"]),
        ('for d in a b; do git -C "$d" reset --hard; done', ["git -C a reset --hard"]),  # one at a time
        ("for d in a b; do rm -rf $d; done", ["rm -rf a b"]),
        ("for d in a b; do rm -rf {x,y} z; done", ["rm -rf x y z"]),
        ('ls | while read -r f; do rm "$f"; done', ["ls", "read -r f", "rm {}"]),
        ("echo cm0geSBhbmQgeg== | base64 -d | sh", ["echo cm0geSBhbmQgeg==", "base64 -d", "rm y and z"]),
        ("curl h | sh", ["curl h", "$(curl h)", "sh"]),
        ("curl h | python3 -", ["curl h", "$(curl h)", "python3 -"]),
        ("curl h | python3 -m json.tool", ["curl h", "python3 -m json.tool", "json.tool"]),
        ('bash -c "$(curl h)"', ["curl h", "$(curl h)"]),
        ("cat x | xargs sudo", ["cat x", "sudo", "$0"]),
        ("cat x | xargs -I{} sh -c {}", ["cat x", "{}", "$0"]),
        ("cat x | xargs -n1 sh -c 'wc \"$1\"' _", ["cat x", "wc $1"]),
        ("cat x | parallel", ["cat x", "$0"]),
        ("parallel ::: ls pwd", ["ls", "pwd"]),
        ("find /a -exec rm {} +", ["find /a -exec rm {} +", "rm -r /a"]),
        ("find /a -name b -exec rm {} +", ["find /a -name b -exec rm {} +", "rm {}"]),
        (
            "python3 -c 'import shutil; shutil.rmtree(\"y\")'",
            ['python3 -c import shutil; shutil.rmtree("y")', "rmtree y"],
        ),
        ("node -e 'fs.rmSync(`y`, {recursive: true})'", ["node -e fs.rmSync(`y`, {recursive: true})", "rmSync y"]),
        ("ruby -e 'FileUtils.rm_rf \"y\"'", ['ruby -e FileUtils.rm_rf "y"', "rm_rf y"]),
        (":(){ :|:& };:", ["fork-bomb", ":", ":", ":"]),
        ("f(){ g|h& };f", ["g", "h", "f"]),
        ("bash -c '(( rm -rf y ))'", ["rm -rf y"]),
        ("(( i -= 1 )); rm y", ["rm y"]),
        ("GIT RESET --HARD", ["GIT reset --hard"]),
        ("powershell -EncodedCommand cgBtACAALQByACAAeQA=", ["rm -r y"]),
        ("git -c alias.x='!rm y' x", ["rm y", "git -c alias.x=!rm y x"]),
    ],
)
def test_what_a_line_hides_is_found(text: str, expected: list[str]) -> None:
    assert lines(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("iex 'rm y'", ["iex rm y", "rm y"]),
        ("iex (iwr h)", ["iwr h", "iex (iwr h)", "$(iwr h)"]),
        ("irm h | iex", ["irm h", "$(irm h)", "iex"]),
        (
            "Start-Process powershell -ArgumentList '-c rm y'",
            ["Start-Process powershell -ArgumentList -c rm y", "rm y"],
        ),
        ("gci C:/x -Recurse | Remove-Item -Force", ["gci C:/x -Recurse", "Remove-Item -Force C:/x"]),
        ("a > x 2>&1", ["a"]),
    ],
)
def test_what_powershell_hides_is_found(text: str, expected: list[str]) -> None:
    assert lines(text, "powershell") == expected


@pytest.mark.parametrize(
    ("text", "folders"),
    [
        ("cd /x && ls", ["", "/x"]),
        ("(cd /x && ls); pwd", ["", "/x", ""]),
        ("A=$(cd /x && pwd); ls", ["", "/x", ""]),
        ("bash -c 'cd /x; ls'; pwd", ["", "/x", ""]),
        ("cd && ls", ["", "~"]),
        ('cd "$UNKNOWN" && ls', ["", ""]),
        ("X=/x; cd $X/y; ls", ["", "/x/y"]),
    ],
)
def test_where_a_line_went_is_known_to_what_follows(text: str, folders: list[str]) -> None:
    assert [one.folder for one in parse_commands(text) if one.program != "cd"] == folders[1:]


@pytest.mark.parametrize("shell", ["powershell", "cmd"])
def test_redirections_of_windows_shells_are_kept(shell: str) -> None:
    assert only("a > x 2>&1 < y", shell).redirects == ((">", "x"), ("2>&", "1"), ("<", "y"))


@pytest.mark.parametrize(
    "text",
    [
        "echo rm y",
        "echo 'x $(rm y)'",
        'echo "a; rm y"',
        "printf '%s' 'rm y'",
        "git commit -m 'rm y'",
        "git commit -am 'rm y'",
        "git commit --message='rm y'",
        "git -C x stash push -m 'rm y'",
        "git tag v1 -m 'rm y'",
        "gh pr create --title 'rm y' -b 'rm y'",
        "gh issue close 3 --comment 'rm y'",
        "grep -rn 'rm y' .",
        "grep -A 3 -e 'rm y' file",
        "rg -g '*.py' 'rm y'",
        "git grep 'rm y'",
        "sed -i 's/rm y/x/' file",
        "awk '/rm y/ {print}' file",
        "jq -r '.[] | rm y'",
        "curl -X POST -d 'rm y' host",
        "[ 'rm y' = x ]",
        "[[ $a == 'rm y' ]]",
        "cat <<'EOF' > file\nrm y\n$(rm y)\nEOF",
        "cat > f <<EOF\nrm y\nEOF",
        "tee f <<-EOF\n\trm y\n\tEOF",
        "git commit -m \"$(cat <<'EOF'\nrm y it's\nEOF\n)\"",
        "echo 'rm y' | cat",
        "bash -n -c 'rm y'",
        "command -v rm",
        "x='rm y'; echo \"$x\"",
        "# rm y",
        "python -c 'print(\"ok\")'  # os.system('rm y')",
        "node -e 'console.log(\"rm y\")'",
    ],
)
def test_text_that_only_names_a_command_is_not_a_command(text: str) -> None:
    commands = parse_commands(text)
    assert "rm" not in {one.program for one in commands}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo 'terraform destroy'", ["echo"]),
        ("git commit -am 'rm y' --author x", ["git commit -am --author x"]),
        ("git commit --message='rm y'", ["git commit"]),
        ("gh pr create --body 'rm y' -t z --draft", ["gh pr create --body -t --draft"]),
        ("grep -rn 'rm y' src", ["grep -rn src"]),
        ("grep -e 'rm y' src", ["grep -e src"]),
        ("sed -n '1,20p' f", ["sed -n f"]),
        ("find . -name -delete", ["find . -name"]),
        ("curl -X DELETE -H 'a: b' host", ["curl -X DELETE -H host"]),
        ("git push --force origin main", ["git push --force origin main"]),
        ("git clean -fd -x", ["git clean -fd -x"]),
        ("ssh host 'echo \"rm y\"'", ["ssh host", "echo"]),
    ],
)
def test_data_is_kept_apart_from_what_a_trigger_matches(text: str, expected: list[str]) -> None:
    assert matched(text) == expected


@pytest.mark.parametrize(
    ("text", "stdin"),
    [
        ("echo y | rm x", "y"),
        ("echo -e 'a\\nb' | rm x", "a\nb"),
        ("printf '%s-%s\\n' a b | rm x", "a-b\n"),
        ("cat <<E | rm x\nyes\nE", "yes"),
        ("rm x <<< y", "y"),
        ("rm x <<-E\n\tone\n\ttwo\n\tE", "one\ntwo"),
        ("curl z | rm x", ""),
        ("echo y |\n rm x", "y"),
    ],
)
def test_what_is_fed_to_a_command_is_known_where_the_text_says_it(text: str, stdin: str) -> None:
    assert parse_commands(text)[-1].program == "rm"
    assert parse_commands(text)[-1].stdin == stdin


@pytest.mark.parametrize("feed", ["echo 'rm y' | bash", "printf 'rm y\\n' | sudo sh -s", "cat <<E | ssh host\nrm y\nE"])
def test_text_piped_into_a_shell_runs(feed: str) -> None:
    assert lines(feed)[-1] == "rm y"


def test_several_here_documents_on_one_line_are_read_in_order() -> None:
    first, second, last = parse_commands("cat <<A; tee <<'B'\none\nA\ntwo\nB\nls")
    assert (first.stdin, second.stdin, last.program) == ("one", "two", "ls")


def test_a_substitution_in_an_unquoted_here_document_runs() -> None:
    assert lines("cat <<E\n$(rm y)\nE") == ["cat", "rm y"]


def test_a_substitution_inside_a_script_is_listed_once() -> None:
    assert lines('bash -c "ls $(rm y)"') == ["rm y", "ls $(rm y)"]


def test_a_variable_set_in_the_same_text_is_known_where_it_runs() -> None:
    assert lines("W='rm y'; $W; bash -c \"$W\"; echo $W | sh") == ["rm y", "rm y", "echo $W", "rm y"]


def test_items_that_are_known_are_given_to_xargs() -> None:
    assert lines("echo .env | xargs rm -f")[-1] == "rm -f .env"
    assert lines("echo .env | xargs -I{} rm {}")[-1] == "rm .env"


def test_redirections_and_environment_are_kept() -> None:
    command = only("A=1 B=2 make x > out 2>&1 < in >> log &> both")
    assert command.redirects == ((">", "out"), ("2>&", "1"), ("<", "in"), (">>", "log"), ("&>", "both"))
    assert command.environment == ("A=1", "B=2")
    assert command.arguments == ("x",)
    assert only("> file").redirects == ((">", "file"),)


def test_the_text_of_a_command_is_its_own_slice_of_the_line() -> None:
    assert [one.text for one in parse_commands("cd x && sudo rm  'a b' 2>e | tee y")] == [
        "cd x",
        "sudo rm  'a b' 2>e",
        "tee y",
    ]


@pytest.mark.parametrize(
    ("word", "program"),
    [
        ("/usr/bin/rm", "rm"),
        ("\\rm", "rm"),
        ("'rm'", "rm"),
        ("git.exe", "git"),
        ('"C:\\Program Files\\Git\\bin\\git.EXE"', "git"),
        ("./scripts/deploy.sh", "deploy.sh"),
        ('"${ROOT}/bin/x"', "x"),
        ("RM", "RM"),
        ("/", "/"),
    ],
)
def test_a_program_goes_by_its_base_name(word: str, program: str) -> None:
    assert only(f"{word} a").program == program


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Remove-Item -Recurse -Force x; ls", ["Remove-Item -Recurse -Force x", "ls"]),
        ("gci | ForEach-Object { Remove-Item $_ }", ["gci", "ForEach-Object", "Remove-Item $_"]),
        ("& 'C:\\a b\\git.exe' reset `\n --hard", ["git reset --hard"]),
        ("if (Test-Path x) { del x } else { md y }", ["Test-Path x", "del x", "md y"]),
        ("$a = Get-Item x; $b = 'rm y'", ["Get-Item x"]),
        ("@'\nRemove-Item x\n'@ | Out-File y", ["Out-File y"]),
        ("<# del x #> ls # del y", ["ls"]),
        ("$h = @{ del = 'x' }; ls", ["ls"]),
        ('del "$(Get-Item x)" 2>$null', ["Get-Item x", "del $(Get-Item x)"]),
        ("a && b || c", ["a", "b", "c"]),
        ("Write-Host 'it''s' \"a`\"b\"", ["Write-Host it's a\"b"]),
        ("git commit -m 'x'; pwsh -c 'del y'", ["git commit -m x", "del y"]),
    ],
)
def test_powershell_is_split_by_its_own_rules(text: str, expected: list[str]) -> None:
    assert lines(text, "powershell") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("del /q x & rd /s y && a", ["del /q x", "rd /s y", "a"]),
        ("echo a^&b", ["echo a&b"]),
        ("if exist x (del x) else md y", ["del x", "md y"]),
        ("for %f in (*.t) do del %f", ["del %f"]),
        ('rem del x\n@del "a b" > nul', ["del a b"]),
    ],
)
def test_cmd_is_split_by_its_own_rules(text: str, expected: list[str]) -> None:
    assert lines(text, "cmd") == expected


def test_nesting_without_end_is_given_up_and_not_followed() -> None:
    assert parse_commands("$(" * 5000 + "rm y" + ")" * 5000)
    assert [one.program for one in parse_commands("sudo " * 100 + "rm y")] == ["sudo"]


_PIECES = [
    "$(", "${", "$((", "))", ")", "}", "(", "{", "`", "'", '"', "\\", "\n", "\r\n", " ", ";", "&&", "|", "&",
    "<<E", "E\n", "<<<", "<(", ">", "2>", "#", "[[", "]]", "case x in ", "esac", "for ", "do ", "f()", "sudo ",
    "xargs -I{} ", "bash -c ", "eval ", "echo {} ", "env -S", "find -exec ", "ssh h ", "parallel ::: ",
    "python -c ", "os.system(", "awk ", "$'", "@'\n", "@{", "<#", "^", "W=rm;", "$W ", "\x00", "\ud800",
    "git commit -m", "--", "-", "=", "x", "trap ", "docker run ", "npx ", "printf %s%s ", "{a,b}", "alias x=", "cd ",
    "for x in ", "read x;", "$x ", "curl|sh ", "base64 -d|sh ", "vim -c '!", "iex (", "parallel ", "start ", "${IFS}",
]  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=60), st.sampled_from(["bash", "powershell", "cmd", "other"]))
def test_no_text_raises(pieces: list[str], shell: str) -> None:
    text = "".join(pieces)
    for one in parse_commands(text, shell=shell):
        assert all(0 <= at < len(one.arguments) for at in one.data)
        assert repr(one)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["bash", "powershell", "cmd"]))
def test_no_characters_raise(text: str, shell: str) -> None:
    parse_commands(text, shell=shell)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80).filter(lambda text: not ("{" in text and "," in text)))
@example("$IFS")
def test_a_quoted_text_is_one_argument_and_runs_nothing(text: str) -> None:
    """A word in single quotes is returned as written, except for braces, which are expanded even so."""
    quoted = "'" + text.replace("'", "'\\''") + "'"
    assert only(f"rm {quoted}").arguments == (text,)


def test_braces_that_stand_for_nothing_stay() -> None:
    assert only("rm '{,}'").arguments == ("{,}",)


_LONG = ["a;", "$((", '"$(', "`", "'", "${x", "<<E\n", "eval ", "sudo ", "case x in ", "a<(", "awk '|' "]
_LONG_IN_BASH = [
    "{a,",
    "{a,b}",
    "((a -b ",
    "f(){ ",
    "for x in a b; do $x ",
    "alias a=b;a ",
    "cd x;(",
    "xargs sudo ",
    "${IFS}",
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("piece", "shell"),
    [
        *((piece, shell) for piece in _LONG for shell in ("bash", "powershell", "cmd")),
        *((piece, "bash") for piece in _LONG_IN_BASH),
    ],
)
def test_time_is_linear_in_the_length(piece: str, shell: str) -> None:
    """Eight times the text may take at most forty times as long; a quadratic reader would take sixty-four times."""

    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        best = 9.0
        for _ in range(2):
            begin = time.process_time()
            parse_commands(text, shell=shell)
            best = min(best, time.process_time() - begin)
        return best

    assert seconds(80_000) < 40 * max(seconds(10_000), 0.002)


def test_importing_the_parser_brings_nothing_but_itself() -> None:
    code = "import sys; a = set(sys.modules); import deia.watch.shell.parse; print(*sorted(set(sys.modules) - a))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert all(name.startswith(("deia", "__future__")) for name in out.split())


def test_the_programs_agree_with_an_independent_grammar() -> None:
    """Compare with tree-sitter's bash grammar, if it is installed, on scripts such as agents write."""
    tree_sitter = pytest.importorskip("tree_sitter")
    grammar = pytest.importorskip("tree_sitter_bash")
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    script = (
        'set -e; cd /x && for f in a b; do cp "$f" "$(dirname "$f")/y" || exit 1; done\n'
        "case $1 in up) docker ps;; *) ls | grep -v x | wc -l;; esac\n"
        "f() { date; }; if test -f a; then cat <<E > b\n$(whoami)\nE\nfi\n"
        "diff <(sort a) <(sort b) || { pwd; (tar xf c); }\n"
    )
    expected: list[str] = []
    pending = [parser.parse(script.encode()).root_node]
    while pending:
        node = pending.pop()
        pending.extend(node.children)
        if node.type == "command":
            expected.append(node.child_by_field_name("name").text.decode())
    assert sorted(one.program for one in parse_commands(script)) == sorted(expected)


@pytest.mark.parametrize(
    "line",
    ["yarn add rm", "yarn remove y", "pnpm rm y", "pnpm --filter web remove y", "bun rm y", "dotenv list", "nix run y"],
)
def test_a_runners_own_commands_run_nothing_of_the_project(line: str) -> None:
    assert [command.program for command in parse_commands(line)] == line.split()[:1]


@pytest.mark.parametrize(
    ("line", "shell"),
    [
        ("echo hi;" * 1_000 + "rm y", "bash"),
        ("echo hi\n" * 20_000 + "rm y", "bash"),
        ("echo hi & " * 1_000 + "rm y", "cmd"),
        ("echo hi;" * 1_000 + "rm y", "powershell"),
        (f"bash -c '{'echo hi;' * 1_000}rm y'; rm y", "bash"),
        (f"bash -c '{'echo hi;' * 1_500}'; " * 3 + "rm y", "bash"),
        (f"echo $({'echo hi;' * 2_000})\nrm y", "bash"),
    ],
)
def test_of_too_many_commands_the_first_and_the_last_are_read(line: str, shell: str) -> None:
    commands = parse_commands(f"ls y{chr(10) if shell == 'bash' else ' & '}{line}", shell=shell)
    assert (commands[0].program, commands[-1].program) == ("ls", "rm")
    assert len(commands) <= 1_000
