"""What the model read and the tool ran when a framework's real package talked to the fake model.

python -m tests.frameworks.verdicts EXTRA     print the verdicts on a framework as JSON; exit 1 if one is not as wanted
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deia.librarian import Librarian
from deia.serve.setup.live.fake_model import FakeModel
from deia.serve.setup.live.model_request import Step
from tests.frameworks.conftest import COMMAND, small_commons
from tests.frameworks.real_runs import run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deia.serve.setup.live.model_request import Request

FAREWELL = "All of it is done, and nothing else was touched."
SCRIPT = (Step(shell=COMMAND), Step(shell=COMMAND), Step(text=FAREWELL))
WAYS = {"whole": False, "streamed": True}
# Each run's packages. An extra has the run of its name, and those of its name with more behind it.
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "openai-agents": ("openai-agents", "openai"),
    "langchain": ("langchain", "langgraph", "langchain-openai"),
    "pydantic-ai": ("pydantic-ai-slim", "openai"),
    "litellm": ("litellm",),
    "litellm-proxy": ("litellm", "fastapi"),
    "google-adk": ("google-adk", "google-genai"),
    "claude-agent-sdk": ("claude-agent-sdk",),
}
# A program that calls LiteLLM runs its tools itself, so no call is held there.
HOLDING = PACKAGES.keys() - {"litellm", "litellm-proxy"}


def versions_of(name: str) -> dict[str, str]:
    """Return the versions of a run's packages; empty if one of them is not installed."""
    try:
        return {package: version(package) for package in PACKAGES[name]}
    except PackageNotFoundError:
        return {}


def wanted(name: str) -> dict[str, bool]:
    """Return what a run should show."""
    return {"prompt": True, "held": name in HOLDING, "repeat": name in HOLDING, "result": True, "heard": True}


def verdict_on(name: str, folder: Path) -> dict[str, dict[str, bool]]:
    """Run a framework once with whole answers and once with streamed ones; return what was seen in both."""
    return {way: _seen(name, folder / way, streams=streams) for way, streams in WAYS.items()}


def _seen(name: str, folder: Path, *, streams: bool) -> dict[str, bool]:
    librarian = Librarian(small_commons(folder))
    with FakeModel(SCRIPT) as model:
        ran, pieces = run(name, model.url, librarian, streams=streams)
    requests = [request for request in model.requests if request.tools]
    results = [result.text for result in requests[-1].results]
    held = len(results) > 1 and "About wipe." in results[0] and "the shop is gone" not in results[0]
    return {
        "prompt": _reads(requests, 0, "About sale."),
        "held": held and len(ran) == 1,
        "repeat": held and ran == [COMMAND] and "the shop is gone" in results[1],
        "result": _reads(requests, len(results), "About gone.") and not _reads(requests, 0, "About gone."),
        "heard": "".join(pieces) == FAREWELL and (len(pieces) > 1) is streams,
    }


def _reads(requests: Sequence[Request], number: int, text: str) -> bool:
    """Return whether the model reads a text by the request with so many results."""
    return any(text in request.spoken for request in requests if len(request.results) <= number)


def main(extra: str) -> int:
    """Print the verdicts on the runs of an extra."""
    verdicts: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ |= {
            "DEIA_STATE": f"{folder}/state", "DEIA_CACHE": f"{folder}/cache", "DEIA_TRUST": "*",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        }  # fmt: skip
        for name in (name for name in PACKAGES if name == extra or name.startswith(f"{extra}-")):
            verdicts[name] = {"versions": versions_of(name), **verdict_on(name, Path(folder) / name)}
    print(json.dumps(verdicts))  # noqa: T201
    return int(any(verdict[way] != wanted(name) for name, verdict in verdicts.items() for way in WAYS))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
