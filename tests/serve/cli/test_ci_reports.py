"""Findings in the forms that builds read, from the commands themselves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.problems import Problem
from deia.serve.cli.ci_reports import CI_FORMS, WRITERS, Checked

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia

TEXTS = st.text(max_size=40)
PROBLEMS = st.builds(
    Problem, path=TEXTS, line=st.integers(0, 9), found=TEXTS, fix=TEXTS, code=TEXTS,
    severity=st.sampled_from(["error", "warning"]),
)  # fmt: skip
CHECKED = st.lists(st.builds(Checked, group=TEXTS, name=TEXTS, problem=st.none() | PROBLEMS), max_size=5)


def read_xml(text: str | bytes) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - what we wrote ourselves


def break_a_case(commons: Path) -> None:
    path = commons / "triggers" / "sites.cases.yaml"
    path.write_text(path.read_text().replace("don't delete the site", "I'll delete the site"), encoding="utf-8")


def test_failed_cases_are_failures_in_junit(deia: Deia, commons: Path) -> None:
    break_a_case(commons)
    shown = deia("trigger", "test", "--format", "junit")
    assert shown.code == 1
    root = read_xml(shown.out)
    assert (root.get("tests"), root.get("failures")) == ("4", "1")
    (failed,) = [case for case in root.iter("testcase") if case.find("failure") is not None]
    assert (failed.get("classname"), failed.get("file"), failed.get("line")) == (
        "site-delete", "triggers/sites.cases.yaml", "6",
    )  # fmt: skip
    failure = failed.find("failure")
    assert failure is not None
    assert "site-delete should not fire, but fires" in (failure.get("message") or "")


def test_failed_cases_are_results_in_sarif_and_rows_in_json(deia: Deia, commons: Path) -> None:
    break_a_case(commons)
    told = json.loads(deia("trigger", "test", "--format", "sarif").out)
    (run,) = told["runs"]
    (result,) = run["results"]
    assert (told["version"], result["ruleId"], result["level"]) == ("2.1.0", "failed-case", "error")
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "triggers/sites.cases.yaml"}, "region": {"startLine": 6},
    }  # fmt: skip
    rows = json.loads(deia("trigger", "test", "--json").out)
    assert [row["line"] for row in rows if not row["holds"]] == [6]
    assert len(rows) == 4


def test_problems_of_a_commons_are_told_to_builds(deia: Deia, commons: Path) -> None:
    (commons / "triggers" / "bad.yaml").write_text("- id: broken\n", encoding="utf-8")
    problems = json.loads(deia("lint", "--json").out)
    errors = [problem for problem in problems if problem["severity"] == "error"]
    assert errors
    results = json.loads(deia("lint", "--format", "sarif").out)["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == [problem["code"] for problem in problems]
    root = read_xml(deia("lint", "--format", "junit").out)
    assert len(list(root.iter("failure"))) == len(errors)
    assert len(list(root.iter("system-out"))) == len(problems) - len(errors)
    assert deia("lint", "--format", "sarif").code == 1


def test_a_firing_fails_a_build(deia: Deia) -> None:
    shown = deia("check", "I will delete the shop site", "--format", "junit", "--exit-code")
    assert shown.code == 1
    assert [failure.get("type") for failure in read_xml(shown.out).iter("failure")] == ["site-delete"]
    assert json.loads(deia("check", "hello", "--format", "sarif").out)["runs"][0]["results"] == []


def test_json_and_another_form_cannot_be_wanted_at_once(deia: Deia) -> None:
    assert "not both" in deia("lint", "--json", "--format", "sarif").err
    assert "not both" in deia("search", "site", "--json", "--format", "paths").err
    assert json.loads(deia("search", "site", "--json").out) is not None
    assert deia("check", "hello", "--json").out == deia("check", "hello", "--format", "json").out


@given(CHECKED)
def test_whatever_a_problem_says_xml_can_be_read(checked: list[Checked]) -> None:
    root = read_xml(WRITERS["junit"]("deia", checked).encode())
    assert len(list(root.iter("testcase"))) == len(checked)


@given(CHECKED)
def test_whatever_a_problem_says_sarif_names_its_file(checked: list[Checked]) -> None:
    (run,) = json.loads(WRITERS["sarif"]("deia", checked))["runs"]
    problems = [each.problem for each in checked if each.problem]
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]]
    assert [unquote(uri) for uri in uris] == [problem.path for problem in problems]


@pytest.mark.parametrize("form", CI_FORMS)
def test_a_sound_commons_is_told_in_every_form(deia: Deia, form: str) -> None:
    assert deia("trigger", "lint", "--format", form).code == 0
