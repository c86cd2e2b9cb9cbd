"""Problems and other findings as text, as JSON, and in forms for builds: GitHub's annotations, JUnit and SARIF."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from html import escape
from itertools import groupby
from urllib.parse import quote

import deia
from deia import fast_json
from deia.problems import Problem
from deia.records import Record
from deia.serve.cli import colours, output
from deia.text import counted

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


class Checked(Record):
    """Something that was checked, and its problem, if it has one."""

    group: str  # such as the file, or the trigger of a case
    name: str
    problem: Problem | None = None


def print_problems(form: str, tool: str, problems: Sequence[Problem], *, root: str = "", scope: str = "") -> int:
    """Print the problems that a command found in the files of `root`, and return how many errors are among them.

    The summary for a person begins with `scope`, which says what was checked.
    """
    errors = sum(problem.severity == "error" for problem in problems)
    shown = [problem.but(path=from_here(root, problem.path)) for problem in problems]
    if form == "json":
        output.say(fast_json.dumps([problem.values() for problem in problems]))
    elif form == "text":
        summary = f"{scope}{counted(errors, 'error')}, {counted(len(problems) - errors, 'warning')}."
        colours.say("\n".join((*map(str, shown), summary)), colours.PROBLEMS)
    else:
        checked = [Checked(group=problem.path, name=str(problem), problem=problem) for problem in shown]
        print_report(form, tool, checked or [Checked(group=tool, name=tool)])
    return errors


def print_report(form: str, tool: str, checked: Sequence[Checked]) -> None:
    """Print what a command checked, in a form for builds."""
    output.say(WRITERS[form](tool, checked))


def from_here(root: str, path: str) -> str:
    """Return the path of a file of the commons relative to the current folder, where editors and builds expect it."""
    try:
        shown = os.path.relpath(os.path.join(root, path))
    except ValueError:  # another drive
        shown = os.path.join(root, path)
    return shown.replace(os.sep, "/")


def _annotations(_tool: str, checked: Sequence[Checked]) -> str:
    """Return workflow commands of GitHub Actions, escaped as its documentation says."""
    lines = []
    for problem in (check.problem for check in checked if check.problem):
        message = _message(problem).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        path = problem.path
        for char, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C")):
            path = path.replace(char, code)
        place = f"file={path},line={max(problem.line, 1)},title=deia {problem.code}"
        lines.append(f"::{problem.severity} {place}::{message}")
    return "\n".join(lines)


def _junit(tool: str, checked: Sequence[Checked]) -> str:
    """Return test suites, one for each group; an error is a failure, and a warning is output of a test that passed."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {_counts(tool, checked)}>"]
    for group, members in groupby(checked, key=lambda check: check.group):
        cases = list(members)
        lines += [f"  <testsuite {_counts(group, cases)}>", *map(_case, cases), "  </testsuite>"]
    return "\n".join((*lines, "</testsuites>"))


def _counts(name: str, checked: Sequence[Checked]) -> str:
    failures = sum(check.problem is not None and check.problem.severity == "error" for check in checked)
    return f'name="{_xml(name)}" tests="{len(checked)}" failures="{failures}" errors="0"'


def _case(checked: Checked) -> str:
    problem = checked.problem
    start = f'    <testcase classname="{_xml(checked.group)}" name="{_xml(checked.name)}"'
    if problem is None:
        return f"{start}/>"
    if problem.severity != "error":
        return f"{start}><system-out>{_xml(str(problem))}</system-out></testcase>"
    failure = f'<failure type="{_xml(problem.code)}" message="{_xml(_message(problem))}">{_xml(str(problem))}</failure>'
    return f'{start} file="{_xml(problem.path)}" line="{problem.line}">{failure}</testcase>'


def _xml(text: str) -> str:
    """Return a text as XML, without the characters that XML 1.0 does not allow."""
    allowed = (
        char for char in output.printable(text) if char not in "\ufffe\uffff" and not "\ud800" <= char <= "\udfff"
    )
    return escape("".join(allowed))


def _sarif(tool: str, checked: Sequence[Checked]) -> str:
    problems = [check.problem for check in checked if check.problem]
    driver = {
        "name": tool, "semanticVersion": deia.__version__,
        "rules": [{"id": code} for code in dict.fromkeys(problem.code for problem in problems)],
    }  # fmt: skip
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": list(map(_result, problems))}
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(problem: Problem) -> dict[str, object]:
    place: dict[str, object] = {"artifactLocation": {"uri": quote(problem.path, errors="surrogatepass")}}
    if problem.line:
        place["region"] = {"startLine": problem.line}
    level = "error" if problem.severity == "error" else "warning"
    return {
        "ruleId": problem.code, "level": level, "message": {"text": _message(problem)},
        "locations": [{"physicalLocation": place}],
    }  # fmt: skip


def _message(problem: Problem) -> str:
    return f"{problem.found} {problem.fix}".strip()


WRITERS: dict[str, Callable[[str, Sequence[Checked]], str]] = {
    "github": _annotations, "junit": _junit, "sarif": _sarif,
}  # fmt: skip
CI_FORMS = tuple(WRITERS)
