"""The mark of a conversation in which a check fails: how test runners, linters, compilers and hooks report it.

Patterns are of what programs print, so each needs a number, a mark at the beginning of a line, or the program's own
wording: "failed" alone is in every second log. Each needs a word for the gate, and alternatives that begin alike would
hide theirs. The mark ends when a test runner reports that all passed.
"""

from __future__ import annotations

from collections.abc import Sequence

from deia.knowledge import Clause, Earlier

FAILING_TURNS = 30  # turns for which a failure counts; a call and its result are two
SOME = r"[1-9]\d{0,5}"
REPORTED_FAILING = (
    rf"^(?:=+ |[ \t]{{0,8}}){SOME} failed\b(?:$|(?:, [^\n]{{0,120}})? in \d)",  # pytest, Playwright
    rf"^[ \t]{{0,8}}{SOME} fail$",  # Bun
    rf"^[ \t]{{0,8}}{SOME} failing$",  # Mocha
    rf"^[ \t]{{0,8}}(?:Test|Tests)(?: Suites| Files)?:? {{1,9}}{SOME} failed\b",  # Jest, Vitest
    rf"^(?:\(fail\) |[ \t]{{0,12}}--- FAIL: |FAIL\t|\W fail {SOME}$)",  # Bun, Go, Node
    r"^(?:FAILED \S{1,200}::|FAILED \((?:failures|errors)=|test result: FAILED\b)",  # pytest, unittest, Cargo
    r"^Failed! {1,3}- Failed:",  # .NET
    r"^FAILED \| \d{1,6} passed\b",  # Deno
    r"^> Task :\S{0,80}(?:test|check|lint)\S{0,40} FAILED$",  # Gradle
    r"\.{5}\bFailed$",  # pre-commit
    r"\b(?:TEST FAILED|Test failed\. See above)\b",  # Xcode, npm
    rf"\b\d{{1,6}} (?:example|examples|test|tests), {SOME} (?:failure|failures)\b",  # RSpec, ExUnit
    rf"\bTests run: \d{{1,6}}, Failures: (?:{SOME}|0, Errors: {SOME})\b",  # Maven
    r"^FAILURES!$",  # PHPUnit
    rf"\bExecuted \d{{1,6}} (?:test|tests), with {SOME} (?:failure|failures)\b",  # XCTest
    r"\berror TS\d{4}:",
    rf"^Found {SOME} (?:error|errors)\b",  # mypy, Ruff, tsc, Biome
    rf"\b{SOME} problem \({SOME} error\b",  # ESLint
    rf"\b{SOME} problems \({SOME} (?:error|errors)\b",
    rf"^{SOME} issues:$",  # golangci-lint
    r"^error: could not compile\b",
    r"\bCoverage failure: total of\b",
    r"\bcoverage threshold for \S{1,20} \([\d.]{1,8}%\) not met\b",
    r"\bRequired test coverage of\b[^\n]{0,60}\bnot reached\b",
    r"\bhusky - [^\n]{0,40}\b(?:exited|failed)\b",
    rf"\bProcess completed with exit code {SOME}\b",  # GitHub Actions
    r"^\S[^\t\n]{0,80}\tfail\t",  # gh pr checks
)
CHECKED = "{test|spec|suite|ci|build|pipeline|linter|lint|typecheck|type check|snapshot|pre-commit hook|coverage check}"
SAID_TO_FAIL = (
    f"{CHECKED} {{is|are|was|were|keep|}} {{still|now|}} {{fail|red|flaky}}",
    "{failing|broken|flaky|red} {test|spec|suite|check|build|ci|pipeline|snapshot|assertion|hook}",
)
REPORTED_PASSING = (
    r"^(?:=+ )?\d{1,6} passed\b[^\n]{0,120}\bin \d",
    r"^[ \t]{0,8}Tests:? {1,9}\d{1,6} passed\b",
    r"^ {0,4}0 fail$",
    r"^ok {1,3}\t?\S{1,200}[\t ]{1,3}(?:\d|\(cached)",
    r"^test result: ok\b",
    r"^ {0,4}\d{1,6} passing\b",
    r"^OK$",
    r"^OK \(\d{1,6} (?:test|tests)\b",
    r"\b\d{1,6} (?:example|examples|test|tests), 0 failures\b",
    r"\bBUILD SUCCESS$",
    r"^BUILD SUCCESSFUL\b",
    r"^\W fail 0$",
    r"^ok \| \d{1,6} passed\b",
)


def _clauses(kind: str, values: Sequence[str]) -> tuple[Clause, ...]:
    return tuple(Clause(kind=kind, value=value) for value in values)


CHECKS_FAILING = Earlier(
    any=(*_clauses("output", REPORTED_FAILING), *_clauses("phrase", SAID_TO_FAIL)),
    until=_clauses("output", REPORTED_PASSING),
    within=FAILING_TURNS,
)
