"""The endpoint is a real server on loopback that answers as a script says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia import language_model
from deia.language_model import Endpoint, ModelError, complete, endpoint_of
from tests.scripted_model import Scripted, Step, said

if TYPE_CHECKING:
    from collections.abc import Iterator

ASKED = [{"role": "user", "content": "hello"}]


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    monkeypatch.setattr(language_model, "WAIT", 0.01)
    script = Scripted()
    yield script
    script.server.shutdown()
    script.server.server_close()


def test_a_model_is_asked_with_the_key_and_its_answer_comes_back(scripted: Scripted) -> None:
    scripted.steps = [said("hi")]
    endpoint = endpoint_of({"DEIA_LLM_URL": f"{scripted.url}/", "DEIA_LLM_MODEL": "small", "DEIA_LLM_KEY": "k3y"})
    assert endpoint is not None
    assert complete(endpoint, ASKED) == "hi"
    ((path, headers, body),) = scripted.requests
    assert (path, headers["Authorization"], body["model"]) == ("/v1/chat/completions", "Bearer k3y", "small")
    assert "k3y" not in repr(endpoint)


def test_without_an_address_there_is_no_model_and_a_wrong_one_is_said() -> None:
    assert endpoint_of({}) is None
    with pytest.raises(ModelError, match="DEIA_LLM_URL is 'file:///etc/passwd'"):
        endpoint_of({"DEIA_LLM_URL": "file:///etc/passwd"})


def test_a_busy_endpoint_is_asked_again_and_the_next_one_takes_over(scripted: Scripted) -> None:
    scripted.steps = [(429, b"", {"Retry-After": "0"}), (503, b"", {}), said("at last")]
    assert complete(Endpoint(urls=(scripted.url,), model=""), ASKED) == "at last"
    scripted.steps = [said("the second")]
    assert complete(Endpoint(urls=("http://127.0.0.1:9/v1", scripted.url), model=""), ASKED) == "the second"


@pytest.mark.parametrize(
    "step",
    [
        (401, b"", {}),
        (200, b"no json", {}),
        (200, b"{}", {}),
        (200, b'{"choices": []}', {}),
        (302, b"", {"Location": "http://127.0.0.1:9/elsewhere"}),
    ],
)
def test_an_endpoint_that_refuses_lies_or_leads_elsewhere_is_an_error(scripted: Scripted, step: Step) -> None:
    scripted.steps = [step]
    with pytest.raises(ModelError, match="does not answer"):
        complete(Endpoint(urls=(scripted.url,), model="", key="k3y"), ASKED)
    assert all(path == "/v1/chat/completions" for path, _, _ in scripted.requests)


def test_an_endpoint_that_does_not_answer_ends_in_time(scripted: Scripted) -> None:
    scripted.steps = [(503, b"", {"Retry-After": "15"})]
    with pytest.raises(ModelError, match=r"within 0.3 seconds|does not answer"):
        complete(Endpoint(urls=(scripted.url,), model=""), ASKED, seconds=0.3)
