from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.graph.facts import Alias, Facts
from deia.graph.package_facts import READERS, package_facts

POM = """<project><artifactId>me</artifactId>
<!-- <dependency><artifactId>no</artifactId></dependency> -->
<dependency><groupId>a.b</groupId><artifactId>c</artifactId></dependency></project>"""
CASES = [
    ("requirements-dev.txt", 'a[x]==1 ; python_version < "3"\n# no\n-r b.txt\nB_c>=2\n', "->a@1 ->b-c@4"),
    ("pyproject.toml", '[project]\nname = "Me"\ndependencies = [\n  "click>=8",\n]\n', "->click@4"),
    ("pyproject.toml", '[tool.poetry.group.dev.dependencies]\npython = "3"\npytest = "^1"\n', "->pytest@3"),
    ("uv.lock", '[[package]]\nname = "a"\ndependencies = [\n  { name = "b" },\n]\n[[package]]\nname = "b"\n', "a->b@4"),
    ("poetry.lock", '[[package]]\nname = "a"\n[package.dependencies]\nb = ">=1"\n', "a->b@4"),
    ("Cargo.lock", '[[package]]\nname = "a"\nversion = "1"\ndependencies = [\n "b 2.0",\n]\n', "a->b@5"),
    ("Cargo.toml", '[dependencies]\nserde = "1"\nq = { package = "r" }\n', "->serde@2 ->r@3"),
    ("package.json", '{"name": "w",\n"devDependencies": {"@s/l": "^4"}}', "->@s/l@2"),
    ("package-lock.json", '{"packages": {\n"node_modules/a": {\n"dependencies": {\n"b": "2"}}}}', "a->b@4"),
    ("yarn.lock", '"@b/c@^7", "@b/c@^8":\n  version "7.1"\n  dependencies:\n    chalk "^2"\n', "@b/c->chalk@4"),
    ("pnpm-lock.yaml", "dependencies:\n  a: 1\npackages:\n  /a@1.0:\n    dependencies:\n      b: 2\n", "->a@2 a->b@6"),
    ("go.mod", "module x.org/y\nrequire (\n\ta.org/b v1.0.0 // c\n)\nrequire c.io/d v0\n", "->a.org/b@3 ->c.io/d@5"),
    ("Gemfile", "gem 'rails', '~> 7'\n# gem 'no'\n", "->rails@1"),
    ("Gemfile.lock", "GEM\n  specs:\n    rails (7.0)\n      rack (>= 2)\n", "rails->rack@4"),
    ("pom.xml", POM, "->a.b:c@3"),
    ("build.gradle", "dependencies {\n  testImplementation('a.b:c:1.0')\n}\n", "->a.b:c@2"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "wanted"), CASES)
def test_every_manifest_and_lock_file_says_what_depends_on_what_with_the_line(
    name: str, text: str, wanted: str
) -> None:
    found = package_facts(f"a:sub/{name}", text).references
    assert [f"{each.source}->{each.target}@{each.line}" for each in found] == wanted.split()
    assert {(each.type, each.target_type) for each in found} == {("DEPENDS_ON", "PACKAGE")}


def test_versions_are_those_of_the_lock_file() -> None:
    text = '[[package]]\nname = "a"\nversion = "1.5"\n'
    assert [(each.name, each.fields) for each in package_facts("uv.lock", text).entities] == [("a", {"version": "1.5"})]


def test_code_reaches_a_crate_and_a_module_of_go_by_the_name_in_the_manifest() -> None:
    assert package_facts("a:sub/go.mod", "module x.org/y\n").aliases == (Alias("go/x.org/y", "a:sub"),)
    crate = package_facts("a:sub/Cargo.toml", '[package]\nname = "my-app"\n')
    assert crate.aliases == (Alias("crate/my_app", "a:sub/src/crate"),)


@given(st.sampled_from([*READERS, "requirements.txt"]), st.data())
def test_no_text_is_too_broken(name: str, data: st.DataObject) -> None:
    whole = next((text for other, text, _ in CASES if other.lower() == name), "a")
    cut = data.draw(st.integers(0, len(whole)))
    text = data.draw(
        st.text() | st.sampled_from([whole[:cut], whole[:cut] + "\0" + whole[cut:], "[]", "{}", "1", "null"])
    )
    assert isinstance(package_facts(name, text), Facts)
