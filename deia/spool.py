"""The ledger's writing end: one event, one line, one write. It never raises, never waits, and redacts first.

A line is at most 4 KiB, so that a single append is whole, and begins with a newline, so that the torn tail of a killed
writer cannot swallow the next event. All processes of one machine share a day's file.
"""

from __future__ import annotations

import time

from deia import files
from deia.fast_json import dumps
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VERSION = 1
MOST_BYTES = 4096
TEXT_FIELDS = ("query", "note", "error", "because")  # what `telemetry = metadata` leaves out

# Prefixes by which the issuers themselves make their keys recognisable (as published for secret scanners).
KEY_PREFIXES = (
    "sk-", "sk_live_", "sk_test_", "rk_live_", "pk_live_", "whsec_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
    "github_pat_", "glpat-", "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "npm_",
    "pypi-", "dop_v1_", "hf_", "eyJ", "SG.", "shpat_", "sbp_", "nfp_", "vercel_", "rnd_", "tskey-", "FlyV1", "lin_api_",
)  # fmt: skip
SECRET_NAMES = (
    "password",
    "passwd",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "authorization",
    "bearer",
)
SEPARATORS = str.maketrans(dict.fromkeys("\"'`<>()[]{},;|", " "))


def append(folder: str, event: str, fields: Mapping[str, Any], *, telemetry: str = "full") -> str:
    """Write one event to the ledger in `folder`; give its id, or the empty text where nothing was written."""
    if telemetry == "off" or not folder:
        return ""
    now = time.time()
    identity = f"{int(now * 1000):x}-{files.process():x}-{time.perf_counter_ns() & 0xFFFFF:05x}"
    line = {"ts": timestamp(now), "v": VERSION, "event": event, "id": identity, **_kept(fields, telemetry)}
    path = f"{folder}/{timestamp(now)[:10]}-{files.writer()}.jsonl"
    return identity if files.append(path, _encoded(line)) else ""


def timestamp(seconds: float) -> str:
    """Write a time as UTC, ISO 8601, in ms."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"


def _kept(fields: Mapping[str, Any], telemetry: str) -> dict[str, Any]:
    kept = {}
    for name, value in fields.items():
        if value in ("", None) or (telemetry == "metadata" and name in TEXT_FIELDS):
            continue
        kept[name] = redact(value) if isinstance(value, str) else value
    return kept


def _encoded(line: dict[str, Any]) -> bytes:
    """Encode a line within its size: the longest text or list is halved, and what cannot be halved goes."""
    data = dumps(line).encode()
    while len(data) > MOST_BYTES - 2:
        longest = max(line, key=lambda name: len(dumps({name: line[name]})))
        value = line[longest]
        if isinstance(value, (str, list, tuple)) and len(value) > 1:
            line[longest] = value[: len(value) // 2]
        else:
            del line[longest]
        data = dumps(line).encode()
    return b"\n" + data + b"\n"


def redact(text: str) -> str:
    """Replace what looks like a secret by `[secret]` and an e-mail address by `[email]`, keeping the rest as it is."""
    if len(text) < 6:
        return text
    previous = ""
    for word in text[: MOST_BYTES * 2].translate(SEPARATORS).split():
        shown = _hidden(word, previous)
        if shown != word:
            text = text.replace(word, shown)
        previous = word
    return text


def _hidden(word: str, previous: str) -> str:
    name, mark, value = _named_value(word)
    if mark and len(value) > 3 and any(secret in name.lower() for secret in SECRET_NAMES):
        return f"{name}{mark}[secret]"
    if "://" in word and "@" in word:
        scheme, _, rest = word.partition("://")
        return f"{scheme}://[secret]@{rest.rpartition('@')[2]}"
    if "@" in word[1:-1] and "." in word.rpartition("@")[2]:
        return "[email]"
    told = len(word) > 5 and _announces_secret(previous.lower())
    return f"{name}{mark}[secret]" if looks_secret(value) or (told and not mark) else word


def _announces_secret(word: str) -> bool:
    name = word.strip("-:=")
    return name in SECRET_NAMES or (word.endswith((":", "=")) and any(secret in name for secret in SECRET_NAMES))


def _named_value(word: str) -> tuple[str, str, str]:
    cuts = [at for at in (word.find("="), word.find(":")) if at > 0]
    at = min(cuts, default=-1)
    if at < 0 or word[at : at + 3] == "://":
        return "", "", word
    return word[:at], word[at], word[at + 1 :]


def looks_secret(word: str) -> bool:
    """Say whether a word is a known key format, or long and as mixed as only generated text is."""
    if len(word) < 16:
        return False
    if word.startswith(KEY_PREFIXES):
        return True
    if len(word) < 24 or "/" in word.strip("/") or not word.isascii():
        return False
    digits = sum(char.isdigit() for char in word)
    mixed = any(char.isupper() for char in word) and any(char.islower() for char in word)
    plain = sum(char.isalnum() for char in word) >= 0.9 * len(word)
    return plain and digits >= 3 and (mixed or len(word) >= 32) and len(set(word)) >= 10
