"""Every starter document is complete, listed, referred to and unlike all others, and everything it names exists."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import tomllib
from collections import Counter
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from deia.folders import STARTER
from deia.records import URGENCIES
from deia.watch.clauses.sql import VERBS, statements
from deia.watch.shell.parse import parse_commands
from tests.starter.starter_commons import COMMONS

TEXTS = {document.path: document.text for document in COMMONS.documents}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
SECTIONS = ("What happens", "How to recognise it early", "Do instead", "Recover", "Verify", "Sources")
CASE = "case-studies/"
QUESTIONS = 3
FEWEST_STEPS, FEWEST_TIPS = 8, 2
PLATFORMS = (
    "git github netlify vercel heroku railway fly supabase firebase cloudflare aws gcp azure kubernetes helm docker "
    "terraform opentofu pulumi ansible postgresql mysql sqlite mongodb redis prisma django rails alembic node python "
    "shell windows ci"
).split()
FOLDERS = {"anti-patterns", "patterns", "processes", "case-studies", "platforms"}
TYPES = {"anti-pattern", "pattern", "process", "case-study", "platform", "checklist"}
FIELDS = ("title", "platform", "category", "tags", "severity", "audience", "created", "verified", "type")
# Two documents that share two thirds of their lines have a similarity of at least 0.57, mostly about 0.7. The most
# similar ones of ours, which are about the same topic, have 0.38.
MOST_ALIKE = 0.5


def blocks(*languages: str) -> list[tuple[str, str]]:
    """Return the fenced blocks in some languages, each with its document."""
    return [(path, block) for path, text in TEXTS.items() for name, block in FENCE.findall(text) if name in languages]


def front_matter(path: str) -> dict[str, object]:
    """Return the front matter of a document."""
    _, head, _ = (Path(STARTER) / path).read_text(encoding="utf-8").split("---\n", 2)
    loaded = yaml.safe_load(head)
    assert isinstance(loaded, dict)
    return loaded


def weights(texts: dict[str, str]) -> dict[str, dict[str, float]]:
    """Return the TF-IDF vector of each text, normalised to length one."""
    counts = {
        name: Counter(re.findall(r"[a-z]{3,}", text.split("\n## Sources")[0].lower())) for name, text in texts.items()
    }
    documents_with = Counter(word for count in counts.values() for word in count)
    vectors = {}
    for name, count in counts.items():
        vector = {word: (1 + math.log(n)) * math.log(len(texts) / documents_with[word]) for word, n in count.items()}
        length = math.sqrt(sum(value * value for value in vector.values()))
        vectors[name] = {word: value / length for word, value in vector.items()}
    return vectors


def alike(first: dict[str, float], second: dict[str, float]) -> float:
    """Return the cosine similarity of two texts."""
    return sum(value * second.get(word, 0.0) for word, value in first.items())


@pytest.mark.parametrize("path", TEXTS)
def test_a_document_says_all_that_is_asked_of_one(path: str) -> None:
    head = front_matter(path)
    assert [name for name in FIELDS if not head.get(name)] == []
    assert head["severity"] in URGENCIES
    assert head["type"] in TYPES
    assert isinstance(head["verified"], date)
    assert path.split("/")[1] in FOLDERS
    titles = re.findall(r"^## (.+)$", TEXTS[path], re.MULTILINE)
    assert titles[-1] == "Sources"
    if CASE not in path and head["type"] != "checklist":
        assert [title for title in SECTIONS if title not in titles] == []


@pytest.mark.parametrize("path", TEXTS)
def test_a_document_names_a_source(path: str) -> None:
    sources = TEXTS[path].split("\n## Sources\n")[1]
    named = re.search(r"https://[\w.-]+\.\w+|\b\w+\(\d\)|`npm help \w+`|[Mm]anual", sources)
    assert named, sources


def test_a_link_inside_the_commons_leads_somewhere() -> None:
    inside = [(path, link) for path, text in TEXTS.items() for link in LINK.findall(text) if "://" not in link]
    gone = [(path, link) for path, link in inside if not (Path(STARTER) / path).parent.joinpath(link).exists()]
    assert gone == []
    known = {entry.id for entry in COMMONS.entries}
    assert {name for entry in COMMONS.entries for name in entry.related_docs} <= known


def test_a_path_named_in_a_document_is_there() -> None:
    named = {(path, name) for path, text in TEXTS.items() for name in re.findall(r"\bbok/[\w/-]+\.md\b", text)}
    assert [(path, name) for path, name in named if name not in TEXTS] == []


def test_a_document_has_one_cluster_that_owns_it() -> None:
    source: Any = COMMONS.index.source
    owners = Counter(
        item["id"] for cluster in source["clusters"].values() for item in cluster["documents"] if isinstance(item, dict)
    )
    assert owners == Counter(entry.id for entry in COMMONS.entries)
    assert {entry.path for entry in COMMONS.entries} == set(TEXTS)


def test_a_document_is_asked_for_in_three_ways() -> None:
    asked = Counter(
        name for pattern in COMMONS.query_patterns for name in pattern.common_docs for _ in pattern.natural_language
    )
    assert [entry.id for entry in COMMONS.entries if asked[entry.id] < QUESTIONS] == []


def test_no_two_documents_say_the_same() -> None:
    vectors = weights(TEXTS)
    near = [(one, other) for one, other in combinations(vectors, 2) if alike(vectors[one], vectors[other]) > MOST_ALIKE]
    assert near == []


def test_a_document_that_is_mostly_another_would_be_found() -> None:
    one, other = (TEXTS[path].split("\n## Sources")[0].splitlines() for path in sorted(TEXTS)[:2])
    mixed = "\n".join([*one[: len(one) * 2 // 3], *other[len(other) * 2 // 3 :]])
    vectors = weights({**TEXTS, "mixed": mixed})
    assert alike(vectors["mixed"], vectors[min(TEXTS)]) > MOST_ALIKE


@pytest.mark.parametrize(("path", "block"), blocks("sh", "bash"))
def test_a_shell_block_parses(path: str, block: str) -> None:
    assert parse_commands(block), path
    if shutil.which("bash"):
        done = subprocess.run(["bash", "-n"], input=block.encode(), capture_output=True, check=False)
        assert not done.returncode, done.stderr.decode()


@pytest.mark.parametrize(("path", "block"), blocks("sql"))
def test_an_sql_block_is_made_of_statements(path: str, block: str) -> None:
    found = statements(block)
    assert found, path
    assert [each.words[:3] for each in found if each.words[0].lower() not in VERBS] == []


def test_blocks_of_data_and_of_code_parse() -> None:
    for path, block in blocks("yaml"):
        assert list(yaml.safe_load_all(block)), path
    for path, block in blocks("toml"):
        assert tomllib.loads(block), path
    for path, block in blocks("python"):
        assert compile(block, path, "exec")
    for path, block in blocks("dockerfile"):
        words = [line.split()[0] for line in block.replace("\\\n", "").splitlines() if line and line[0] not in "# "]
        assert set(words) <= {"FROM", "RUN", "COPY", "ENV", "ARG", "CMD", "USER", "WORKDIR", "ENTRYPOINT"}, path
    for path, block in blocks("js"):
        if shutil.which("node"):
            done = subprocess.run(["node", "--check", "-"], input=block.encode(), capture_output=True, check=False)
            assert not done.returncode, (path, done.stderr.decode())


def test_a_platform_has_a_tip() -> None:
    tips = Counter(name for entry in COMMONS.entries if entry.quick_tips for name in entry.platforms)
    assert sorted({name for entry in COMMONS.entries for name in entry.platforms} - set(tips)) == []


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_platform_that_many_use_has_documents_tips_and_triggers(platform: str) -> None:
    own = [entry for entry in COMMONS.entries if platform in entry.platforms]
    assert len(own) >= 1
    assert sum(len(entry.quick_tips) for entry in own) >= FEWEST_TIPS
    shown = {reference.id for trigger in COMMONS.triggers for reference in trigger.documents}
    assert shown & {entry.id for entry in own}


def test_an_audience_has_a_learning_path_of_its_own_documents_with_reasons() -> None:
    audiences = {entry.id: entry.audience for entry in COMMONS.entries}
    paths = {path.audience: path.steps for path in COMMONS.learning_paths}
    assert set(paths) == {name for names in audiences.values() for name in names}
    steps = [(name, step) for name, each in paths.items() for step in each]
    assert [step.document for name, step in steps if name not in audiences[step.document] or not step.why] == []
    assert min(map(len, paths.values())) >= FEWEST_STEPS


def test_a_concept_names_a_word_that_the_starter_uses() -> None:
    spoken = " ".join(
        [*TEXTS.values(), *(f"{e.title} {e.summary} {' '.join(e.keywords)}" for e in COMMONS.entries)]
    ).lower()
    unknown = [concept.words for concept in COMMONS.concepts if not any(word in spoken for word in concept.words)]
    assert unknown == []
    assert {"k8s", "tf", "pg", "gha", "cf", "venv"} <= {word for concept in COMMONS.concepts for word in concept.words}
