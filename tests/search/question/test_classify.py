"""Tests of the kinds of text; an announced action is never small talk."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.search.question.classify import CONVERSATIONAL, FILLERS, GREETINGS, KINDS, Known, audience, kind_of

PLATFORMS = {"netlify", "aws lambda", "kubernetes", "github actions", "postgres"}
AUDIENCES = ["developer", "devops_engineers", "security", "ai_agents"]
KNOWN = Known(is_platform=PLATFORMS.__contains__, audiences=lambda: AUDIENCES)
RISKY = (
    "delete drop destroy remove wipe purge truncate reset revert force push merge deploy ship release "
    "rollback overwrite kill terminate shutdown stop restart migrate apply run execute proceed publish "
    "rotate revoke disable uninstall rm "
).split()
TYPED = {
    "question": [
        "which runbook covers certificate expiry",
        "is there a checklist for releases?",
        "did anybody restore a backup before",
        "how do I roll back a deploy?",
        "what does --force do?",
        "why is my pod crashing",
        "should we rebase or merge",
        "can't I delete the branch?",
        "is it safe to drop a column",
        "what does TypeError mean?",
        "how do I fix error: cannot lock ref",
        "where are the logs",
        "what happens when I delete a netlify site?",
        "does terraform destroy ask first?",
        "kubectl delete namespace stuck?",
        "netlify delete site recover?",
        "who owns the database",
    ],
    "keywords": [
        "netlify dns",
        "rollback deploy",
        "KubePodCrashLooping",
        "docker build fails",
        "git push rejected",
        "postgres vacuum bloat",
        "delete",
        "ok delete it",
        "permission denied publickey",
        "make deploy slow",
        "go modules",
        "next js hydration",
        "error handling in go",
        "database migration best practices",
        "python packaging",
        "top secret rotation",
        "netlify",
        "hello world",
        "thanks delete it",
        "yes drop the table",
    ],
    "statement": [
        "our cluster lost its quorum after the upgrade",
        "somebody revoked the token that production uses",
        "I want to rename the default branch of the repository",
        "yes go on and delete the old environment for me",
        "I deleted the production database by accident",
        "Find all directories under test directory tree",
        "we are about to force push to main",
        "please delete the site and recreate it from scratch",
        "the build fails after we upgraded node",
        "ok go ahead and drop the users table now",
        "my deploy is stuck since the last release",
    ],
    "command": [
        "git push --force origin main",
        "kubectl delete pod api-7f9c6d -n prod",
        "rm -rf node_modules",
        "$ npm install",
        "sudo systemctl restart nginx",
        "docker compose up -d",
        "terraform destroy -auto-approve",
        "git rebase main",
        "npm ci",
        "AWS_PROFILE=prod aws s3 rm s3://bucket --recursive",
        "psql -c 'drop table users'",
        "find . -name '*.log' -delete",
        "netlify sites:delete",
        "curl -X DELETE https://api.example.com/v1/sites/1",
        "kubectl get pods",
        "git reset --hard HEAD~1",
        "helm uninstall web",
        "cat a.txt | grep foo",
        "make -j4 build",
        "docker system prune -af",
        "git checkout main",
        "python manage.py migrate --fake",
        "pip install -r requirements.txt",
        "go test ./...",
        "redis-cli flushall",
        "chmod -R 777 /var/www",
    ],
    "platform": [
        "show me all Netlify documentation",
        "list everything about kubernetes",
        "netlify docs",
        "what do we know about Netlify?",
        "all AWS Lambda lessons",
        "give me an overview of github actions",
        "Show all docs for postgres please",
        "anything on netlify?",
    ],
    "audience": [
        "what should DevOps engineers know?",
        "what must a developer read first?",
        "docs for security people",
        "show everything for developers",
        "what should SREs know?",
        "onboarding for new developers",
        "what should AI agents learn",
        "what do backend developers need to know?",
    ],
    "conversational": [
        "thanks!",
        "hi",
        "Hello there",
        "ok",
        "thank you so much for your help",
        "great, that worked",
        "👍",
        "good morning team",
        "danke",
        "how are you?",
        "lol",
        "never mind",
        "sounds good",
        "yes",
        "cool cool cool",
        "See you later!",
        "perfect, thanks a lot",
        "got it",
    ],
    "error": [
        "TypeError: Cannot read properties of undefined (reading 'x')",
        "fatal: not a git repository (or any of the parent directories): .git",
        "bash: jq: command not found",
        'ERROR: relation "users" does not exist',
        "error[E0308]: mismatched types",
        "ERR_PNPM_OUTDATED_LOCKFILE Cannot install with frozen-lockfile",
        'Error from server (NotFound): pods "web" not found',
        "java.lang.OutOfMemoryError: Java heap space",
        "rm: cannot remove 'x': Permission denied",
        "ModuleNotFoundError: No module named 'yaml'",
        "panic: runtime error: index out of range [5] with length 3",
        "ORA-00942: table or view does not exist",
        "npm ERR! code ERESOLVE",
        "Error: Cannot find module 'express'",
        "E0308",
    ],
}

EVERY = [(kind, text) for kind, texts in TYPED.items() for text in texts]


def test_there_are_enough_examples_of_every_kind() -> None:
    assert set(TYPED) == set(KINDS)
    assert len(EVERY) >= 120


@pytest.mark.parametrize(("kind", "text"), EVERY)
def test_texts_are_classified(kind: str, text: str) -> None:
    assert kind_of(text, KNOWN).name == kind


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("DevOps engineers", "devops_engineers"), ("SREs", "devops_engineers"), ("ops team", "devops_engineers"),
        ("developers", "developer"), ("backend developers", "developer"), ("security people", "security"),
        ("AI agents", "ai_agents"), ("florists", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_role_finds_the_audience_of_its_profession(asked: str, meant: str) -> None:
    assert audience(asked.casefold().split(), AUDIENCES) == meant


@pytest.mark.parametrize(
    ("typed", "strong"),
    [
        ("sudo kubectl delete pod api-7f9c6d", ("kubectl", "delete")), ("git push --force", ("git", "push")),
        ("docker compose up -d", ("docker", "compose", "up")), ("netlify sites:delete", ("netlify", "sites:delete")),
    ],
)  # fmt: skip
def test_a_command_is_about_its_program_and_sub_commands(typed: str, strong: tuple[str, ...]) -> None:
    assert kind_of(typed, KNOWN).strong == strong


def test_values_that_occur_in_one_command_only_are_left_out() -> None:
    assert kind_of("docker rm -f 3f2a9c8d7e6f5a4b", KNOWN).text == "docker rm -f"


def test_the_platform_and_the_audience_are_those_of_the_commons() -> None:
    assert kind_of("show me all AWS Lambda documentation", KNOWN).value == "aws lambda"
    assert kind_of("what should site reliability engineers know?", KNOWN).value == "devops_engineers"
    assert kind_of("show me all Oracle documentation", KNOWN).name not in ("platform", "audience")


def test_no_word_of_small_talk_names_an_action() -> None:
    assert not (GREETINGS | FILLERS).intersection(RISKY)


@given(st.lists(st.sampled_from(sorted(GREETINGS | FILLERS)), max_size=8), st.sampled_from(RISKY), st.integers(0, 8))
@settings(max_examples=100, deadline=None)
def test_a_risky_word_is_never_small_talk(around: list[str], risky: str, at: int) -> None:
    text = " ".join([*around[:at], risky, *around[at:]])
    assert kind_of(text, KNOWN).name != CONVERSATIONAL


@given(st.text(st.characters(), max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_text_has_a_kind(text: str) -> None:
    assert kind_of(text, KNOWN).name in KINDS
