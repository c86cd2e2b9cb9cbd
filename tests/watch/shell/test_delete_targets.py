"""The place that a path leads to, judged from any text."""
# ruff: noqa: S108 - paths to classify, nothing is written there

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.triggers.clause_language import PLACES, TemplateError, parse_command
from deia.watch.shell.delete_targets import place_of
from deia.watch.shell.parse import parse_commands
from deia.watch.shell.templates import matches_command

EXAMPLES = {
    "<root>": ["/", "/*", "//", "/.", "/etc", "/usr/*", "/home", "C:\\", "C:\\Windows", "/tmp/../etc", "/x/.."],
    "<home>": ["~", "~/", "~/*", "$HOME", "${HOME}/*", "/home/sam", "/Users/sam/", "~sam", "~/.ssh", "%USERPROFILE%"],
    "<parent>": ["..", "../", "../..", "../*", "a/../.."],
    "<whole>": [".", "./", "*", "./*", "$PWD", "a/..", "$(pwd)/*", ".*"],
    "<repository>": [".git", "./.git/", "/srv/app/.git"],
    "<variable>": ["$X/", "$X/*", "${X}/*", "$X/usr", "$A/$B", "${A}/${B}/*", "$(jq -r .out x.json)/*", "`x`/*"],
    "<backups>": ["/backup", "/backups/*", "/srv/shop/backups/", "~/backups", "../backups", "/var/backups"],
    "<outside>": ["/srv/backup-tool", "/backups/2024", "/srv/www", "~/projects", "../other", "/some/path",
                  "/home/sam/code", "~sam/x", "D:\\data\\x"],
    "<source>": ["src", "./src/", "packages/eval", "tests", "app/*"],
    "<data>": ["runs", "data/2026", "uploads/", "app.db", "/var/lib/mysql", "/var/lib/postgresql/*",
               "packages/api/data"],
    "<shared>": ["/tmp", "/tmp/*", "/var/tmp/"],
    "<scratch>": ["/tmp/x", "$TMPDIR/x", "$TMPDIR", "node_modules", "a/b/dist", "x.pyc", "src/__pycache__",
                  "~/.cache/pip", "$(mktemp -d)/x", "/home/sam/app/tmp/x", "my-tmp-folder", "/var/lib/apt/lists/*"],
    "<found>": ["{}"],
    "<unknown>": ["$X", "${X:?}/*", "$(make-path)/x", "`x`/y", "${X:-build}/*", "$(dirname $0)/*", "$(open"],
    "<other>": ["foo", "foo/bar.txt", "src/app.py", "", "x" * 5000],
}  # fmt: skip


@pytest.mark.parametrize(("place", "path"), [(place, path) for place, paths in EXAMPLES.items() for path in paths])
def test_a_path_leads_to_its_place(place: str, path: str) -> None:
    assert place_of(path) == place


def test_the_templates_know_the_places_that_paths_lead_to() -> None:
    assert set(PLACES) == set(EXAMPLES)


@given(st.text(alphabet="./~$*{}()%\\:abHOME_TMPDIR `?-", max_size=40))
@settings(max_examples=100, deadline=None)
def test_any_path_leads_somewhere(path: str) -> None:
    assert place_of(path) in PLACES


@pytest.mark.parametrize(
    ("template", "line", "fits"),
    [
        ("rm -r … <home>", "rm -rf /tmp/x ~", True),
        ("rm -r … <home>", "rm -rf /tmp/x ~/x", False),
        ("rm -r … {<root>|<home>}", "D=/; rm -rf $D", True),
        ("rm -r … <variable>", "D=build; rm -rf $D/*", False),
        ("rm -r … <variable>", "D=$(mktemp -d /tmp/x.XXX); rm -rf $D/*", False),
        ("rm -r … <variable>", "rm -rf $D/*", True),
        ("rm -r <source>", "rm -rf -- src", True),
        ("rm -r <whole>", "rm -rf --one-file-system .", True),
        ("find <whole> -delete", "find . -delete", True),
        ("find <whole> -delete", "find . -exec echo -delete ;", False),
    ],
)
def test_a_template_may_ask_for_a_place(template: str, line: str, *, fits: bool) -> None:
    wanted = parse_command(template)
    assert any(matches_command(one, command) for one in wanted for command in parse_commands(line)) is fits


@pytest.mark.parametrize("template", ["rm -r <hom>", "<home> x", "rm <>"])
def test_a_place_that_does_not_exist_is_refused(template: str) -> None:
    with pytest.raises(TemplateError):
        parse_command(template)
