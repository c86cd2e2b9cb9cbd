"""The guardrail on requests as a proxy receives them, with the framework's own way of adding advice."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("litellm", reason="the extra litellm is not installed; `python do.py frameworks` runs this")

import litellm
from litellm.exceptions import GuardrailRaisedException

from deia.frameworks.litellm import DeiaGuardrail
from deia.serve.setup.live.fake_model import FakeModel
from tests.frameworks.conftest import COMMAND, FIRED, RESULT, SAID, TOOL, shown

if TYPE_CHECKING:
    from deia.librarian import Librarian

pytestmark = pytest.mark.filterwarnings("ignore")  # the package warns about its own types
CALL = {"id": "c1", "type": "function", "function": {"name": TOOL, "arguments": f'{{"command": "{COMMAND}"}}'}}
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "You sell the shop."},
    {"role": "user", "content": SAID},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "name": TOOL, "content": RESULT},
]


def asked(guardrail: DeiaGuardrail, data: dict[str, Any]) -> dict[str, Any]:
    given = guardrail.async_pre_call_hook(None, None, data, "completion")
    answered: dict[str, Any] = asyncio.run(given)
    return answered


@pytest.mark.parametrize("session", [{}, {"metadata": {"session_id": "s"}}, {"litellm_session_id": "s"}])
def test_growing_requests_fire_the_same_and_each_firing_is_added_once(
    librarian: Librarian, session: dict[str, Any]
) -> None:
    guardrail = DeiaGuardrail(librarian)
    added = []
    for end in (2, 3, 4):
        data = asked(guardrail, {"model": "m", "messages": TALK[:end], **session})
        added.append([message["content"] for message in data["messages"][end:]])
        assert data["messages"][:end] == TALK[:end]
    assert "About sale." in added[0][0]
    assert "About wipe." in added[1][0]
    assert "About gone." in added[2][0]
    assert sorted(set(shown(librarian))) == sorted(FIRED)


def test_a_program_without_a_proxy_gets_the_advice_too(librarian: Librarian, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(litellm, "callbacks", [DeiaGuardrail(librarian)])
    messages = [{"role": "user", "content": SAID}]
    with FakeModel([]) as model:
        call = litellm.acompletion("openai/m", messages=messages, api_base=f"{model.url}/v1", api_key="dummy")
        asyncio.run(call)
    assert "About sale." in model.requests[0].spoken
    assert messages == [{"role": "user", "content": SAID}]


def test_what_a_proxy_passes_on_is_not_judged_again(librarian: Librarian) -> None:
    data = {"messages": TALK[:2], "proxy_server_request": {"url": "u"}}
    given = DeiaGuardrail(librarian).async_pre_call_deployment_hook(dict(data), "acompletion")
    assert asyncio.run(given) == data


def test_two_conversations_that_begin_alike_are_not_one(librarian: Librarian) -> None:
    guardrail = DeiaGuardrail(librarian)
    for _ in range(2):
        assert len(asked(guardrail, {"messages": TALK[:2]})["messages"]) == 3


def test_a_quiet_request_stays_as_it_is(librarian: Librarian) -> None:
    data = {"messages": [{"role": "user", "content": "hello"}]}
    assert asked(DeiaGuardrail(librarian), data) == {"messages": [{"role": "user", "content": "hello"}]}


def test_what_cannot_be_delivered_blocks_only_where_the_trigger_holds(librarian: Librarian) -> None:
    guardrail = DeiaGuardrail(librarian)
    listed = [{"role": "user", "content": SAID}]
    assert asked(guardrail, {"input": listed}) == {"input": listed}
    call = [{"role": "assistant", "content": "", "tool_calls": [CALL]}]
    with pytest.raises(GuardrailRaisedException, match="About wipe"):
        asked(guardrail, {"input": call})


@pytest.mark.parametrize("data", [{}, {"messages": None}, {"messages": "x"}, {"messages": [None, 3]}, {"metadata": 1}])
def test_no_request_raises(librarian: Librarian, data: dict[str, Any]) -> None:
    assert asked(DeiaGuardrail(librarian), dict(data)) == data
