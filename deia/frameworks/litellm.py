"""LiteLLM: a guardrail that adds advice to a request instead of refusing it.

    litellm.callbacks = [DeiaGuardrail()]        # for `acompletion`; or under `guardrails:` in a proxy's config.yaml

Written for litellm 1.109.1. Every request contains the whole conversation. If it names its session, turns that were
judged before are not judged again. If not, all of them are judged, and only firings since the model's last message
count. A request is blocked only if the advice cannot be delivered and the trigger holds. No call of a tool is held: the
program runs its tools itself, and the first request that shows a call also has its result.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, TypeAlias

from deia.firing import Injection
from deia.frameworks.session import HOLDING, need
from deia.librarian import Librarian
from deia.watch.turn.conversation import turns_of

need("litellm", extra="litellm")

from litellm.exceptions import GuardrailRaisedException  # noqa: E402 - after the check that it is installed
from litellm.integrations.custom_guardrail import CustomGuardrail  # noqa: E402
from litellm.types.guardrails import GuardrailEventHooks  # noqa: E402

Request: TypeAlias = dict[str, object]  # what LiteLLM is asked
NAME = "deia"
FROM_PROXY = "proxy_server_request"  # in what a proxy passes on
SESSIONS = ("litellm_session_id", "session_id")


class DeiaGuardrail(CustomGuardrail):
    """The librarian before every request to a model."""

    def __init__(
        self,
        librarian: Librarian | None = None,
        *,
        guardrail_name: str = NAME,
        folder: str | None = None,
        **options: Any,
    ) -> None:
        defaults = {"default_on": True, "event_hook": GuardrailEventHooks.pre_call}
        super().__init__(guardrail_name=guardrail_name, **{**defaults, **options})
        self.librarian = librarian or Librarian(agent="litellm")
        self._folder = folder

    async def async_pre_call_hook(
        self, user_api_key_dict: object, cache: object, data: Request, call_type: object  # noqa: ARG002
    ) -> Request:  # fmt: skip
        """Judge the new turns of a request, and add the text about what fired."""
        injection = await self._injection(data)
        if injection is None or self.inject_advisory_message(data, injection.text) or injection.action not in HOLDING:
            return data
        raise GuardrailRaisedException(
            guardrail_name=NAME, message=injection.text, should_wrap_with_default_message=False
        )

    async def async_pre_call_deployment_hook(self, kwargs: Request, call_type: object) -> Request:
        """Judge a request of a program that calls the model itself; a proxy's were judged when they came in."""
        if FROM_PROXY in kwargs or not self.should_run_guardrail(data=kwargs, event_type=GuardrailEventHooks.pre_call):
            return kwargs
        return await self.async_pre_call_hook(None, None, kwargs, call_type)

    async def _injection(self, data: Request) -> Injection | None:
        messages = _messages(data)
        session = _session(data)
        conversation = session or uuid.uuid4().hex
        librarian = self.librarian
        firings = await librarian.acheck_triggers(messages, conversation_id=conversation, folder=self._folder)
        new = firings if session else [firing for firing in firings if firing.turn > _answered(messages)]
        return await librarian.aget_context(new, conversation_id=conversation) if new else None


def _messages(data: Request) -> list[object]:
    content = data.get("messages") or data.get("input") or []
    messages = content if isinstance(content, list) else [content]
    return [
        message
        for message in messages
        if not (isinstance(message, dict) and message.get("role") in {"system", "developer"})
    ]


def _session(data: Request) -> str:
    """Return the session that a request names, or ""."""
    metadata = data.get("metadata")
    places = (data, metadata if isinstance(metadata, dict) else {})
    values = (place.get(name) for name in SESSIONS for place in places)
    return next((value for value in values if isinstance(value, str) and value), "")


def _answered(messages: Sequence[object]) -> int:
    """Return the number of turns before the model's last message: an earlier request contained them too."""
    positions = [
        at for at, message in enumerate(messages) if isinstance(message, dict) and message.get("role") == "assistant"
    ]
    return len(turns_of(messages[: positions[-1]])) if positions else 0
