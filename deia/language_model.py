"""Ask a language model at an endpoint with OpenAI's interface, if the person has set one; nothing needs it.

The endpoint is set in the environment only: `DEIA_LLM_URL` (such as http://127.0.0.1:11434/v1; a second one after a
space takes over where the first fails), `DEIA_LLM_MODEL`, `DEIA_LLM_KEY`, and `DEIA_LLM_PER_MINUTE`, how many questions
this process may ask in a minute. A file in a folder cannot set them, since texts of the commons go there.

Answers are streamed, so that one which comes too slowly ends in time.
"""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

from deia.errors import DeiaError
from deia.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from http.client import HTTPMessage
    from typing import IO

URL, MODEL, KEY, RATE = "DEIA_LLM_URL", "DEIA_LLM_MODEL", "DEIA_LLM_KEY", "DEIA_LLM_PER_MINUTE"
SECONDS = 60.0  # for one answer
TRIES = 3  # of each endpoint
WAIT, LONGEST_WAIT = 1.0, 20.0  # seconds before another try, doubled each time, or as the endpoint asks
MOST_BYTES = 4_000_000  # of an answer
MINUTE = 60.0
BUSY = frozenset((408, 409, 425, 429, 500, 502, 503, 504))
STREAMED = "data:"
_asked: list[float] = []  # when, in the last minute
_lock = threading.Lock()


class ModelError(DeiaError):
    """No language model is set, or it does not answer."""


class Endpoint(Record):
    """Where a language model answers."""

    urls: tuple[str, ...]
    model: str
    key: str = ""
    per_minute: int = 0  # questions; 0 for any number

    def __repr__(self) -> str:
        return f"Endpoint({', '.join(self.urls)}, {self.model})"  # without the key


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: texts and the key are for the endpoint that the person set."""

    def redirect_request(
        self, _req: urllib.request.Request, _fp: IO[bytes], _code: int, _msg: str, _headers: HTTPMessage, _newurl: str
    ) -> None:
        return None


def endpoint_of(environ: Mapping[str, str]) -> Endpoint | None:
    """Return the endpoint that the environment names, or None; raise ModelError if it is not an address."""
    urls = tuple(url.rstrip("/") for url in environ.get(URL, "").split())
    if not urls:
        return None
    for url in urls:
        if not url.startswith(("http://", "https://")):
            raise ModelError(f"{URL} is {url!r:.100}", fix="Set an address such as http://127.0.0.1:11434/v1")
    rate = environ.get(RATE, "0")
    if not (rate.isascii() and rate.isdecimal() and len(rate) < 7):
        raise ModelError(f"{RATE} is {rate!r:.100}", fix="Set a whole number, or leave it out.")
    return Endpoint(urls=urls, model=environ.get(MODEL, ""), key=environ.get(KEY, ""), per_minute=int(rate))


def complete(endpoint: Endpoint, messages: Sequence[Mapping[str, str]], *, seconds: float = SECONDS) -> str:
    """Return what the model answers to some messages (each with `role` and `content`); raise ModelError if it does not.

    An endpoint that is busy is asked again a few times, then the next one is; all within `seconds`.
    """
    until = time.monotonic() + seconds
    problem = "no endpoint"
    _await_turn(endpoint.per_minute, until)
    for url in endpoint.urls:
        for attempt in range(TRIES):
            if until <= time.monotonic():
                raise ModelError(f"the language model did not answer within {seconds:g} seconds", where=url)
            try:
                return _answer(url, endpoint, messages, until)
            except urllib.error.HTTPError as error:
                problem, wait = f"{url} answers {error.code} {error.reason}", _wait(error, attempt)
                if error.code not in BUSY:
                    break
            except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
                problem, wait = f"{url}: {error}", WAIT * 2**attempt
            time.sleep(max(0.0, min(wait, until - time.monotonic())))
    raise ModelError(f"the language model does not answer: {problem}", fix=f"Look at {URL}, or leave it out.")


def _await_turn(per_minute: int, until: float) -> None:
    """Wait until this process may ask again; raise ModelError if that is too late."""
    while per_minute:
        with _lock:
            now = time.monotonic()
            _asked[:] = [moment for moment in _asked if now - moment < MINUTE]
            if len(_asked) < per_minute:
                _asked.append(now)
                return
            free = _asked[-per_minute] + MINUTE
        if free > until:
            raise ModelError(f"{RATE} allows {per_minute} questions in a minute", fix="Ask later, or raise it.")
        time.sleep(max(0.0, free - time.monotonic()))


def _answer(url: str, endpoint: Endpoint, messages: Sequence[Mapping[str, str]], until: float) -> str:
    body = {"model": endpoint.model, "messages": list(messages), "temperature": 0, "stream": True}
    headers = {
        "Content-Type": "application/json",
        **({"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}),
    }
    request = urllib.request.Request(  # noqa: S310 - http or https, as `endpoint_of` checks
        f"{url}/chat/completions", json.dumps(body).encode(), headers
    )
    content = b""
    with urllib.request.build_opener(_NoRedirect).open(request, timeout=until - time.monotonic()) as response:
        while part := response.read1(1 << 16):
            content += part
            if len(content) > MOST_BYTES or time.monotonic() > until:
                raise TimeoutError("the answer is too long, or comes too slowly")
    return _said(content.decode("utf-8", "replace"))


def _said(content: str) -> str:
    """Return the text of an answer, streamed or whole."""
    if not content.lstrip().startswith(STREAMED):
        return str(json.loads(content)["choices"][0]["message"]["content"])
    lines = [line.removeprefix(STREAMED).strip() for line in content.split("\n") if line.startswith(STREAMED)]
    events = [json.loads(line) for line in lines if line != "[DONE]"]
    return "".join(choice["delta"].get("content") or "" for event in events for choice in event["choices"][:1])


def _wait(error: urllib.error.HTTPError, attempt: int) -> float:
    asked = error.headers.get("Retry-After", "") if error.headers else ""
    return min(float(asked), LONGEST_WAIT) if asked.isdecimal() else WAIT * 2**attempt
