"""LiteLLM: a guardrail that adds what fired to a request as advice, rather than refusing it.

    litellm.callbacks = [DeiaGuardrail()]        # or under `guardrails:` in a proxy's config.yaml

Read from litellm 1.109.1. A proxy sees a conversation whole in every request. Where one names its session, what was
judged before is not judged again; else all of it is, and what counts is what the model said last and all that follows.
Refuses to block, unless the advice cannot be delivered and the trigger holds.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from deia.frameworks.missing_extra import need
from deia.frameworks.session import HOLDING
from deia.librarian import Librarian
from deia.watch.turn.conversation import turns_of

need("litellm", extra="litellm")

from litellm.exceptions import GuardrailRaisedException  # noqa: E402 - only once it is known to be there
from litellm.integrations.custom_guardrail import CustomGuardrail  # noqa: E402
from litellm.types.guardrails import GuardrailEventHooks  # noqa: E402

if TYPE_CHECKING:
    from deia.records import Injection

NAME = "deia"
SESSIONS = ("litellm_session_id", "session_id")


class DeiaGuardrail(CustomGuardrail):
    """The librarian before every request to a model."""

    def __init__(
        self, librarian: Librarian | None = None, *, guardrail_name: str = NAME, folder: str | None = None, **given: Any
    ) -> None:
        options = {"default_on": True, "event_hook": GuardrailEventHooks.pre_call, **given}
        super().__init__(guardrail_name=guardrail_name, **options)
        self.librarian = librarian or Librarian(agent="litellm")
        self._folder = folder

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: Any, call_type: Any) -> Any:  # noqa: ARG002
        """Judge what is new in a request and add what fired to it."""
        told = await self._told(data)
        if told is None or self.inject_advisory_message(data, told.text) or told.action not in HOLDING:
            return data
        raise GuardrailRaisedException(guardrail_name=NAME, message=told.text, should_wrap_with_default_message=False)

    async def _told(self, data: Any) -> Injection | None:
        messages = _messages(data)
        session = _session(data)
        conversation = session or uuid.uuid4().hex
        librarian = self.librarian
        firings = await librarian.acheck_triggers(messages, conversation_id=conversation, folder=self._folder)
        new = firings if session else [firing for firing in firings if firing.turn > _answered(messages)]
        return await librarian.aget_context(new, conversation_id=conversation) if new else None


def _messages(data: Any) -> list[Any]:
    said = data.get("messages") or data.get("input") or []
    messages = said if isinstance(said, list) else [said]
    return [one for one in messages if not (isinstance(one, dict) and one.get("role") in {"system", "developer"})]


def _session(data: Any) -> str:
    """Give the session that a request names, or the empty text."""
    kept = data.get("metadata")
    places = (data, kept if isinstance(kept, dict) else {})
    named = (place.get(name) for name in SESSIONS for place in places)
    return next((one for one in named if isinstance(one, str) and one), "")


def _answered(messages: list[Any]) -> int:
    """Count the turns that an earlier request held already: those before what the model said last."""
    spoken = [at for at, one in enumerate(messages) if isinstance(one, dict) and one.get("role") == "assistant"]
    return len(turns_of(messages[: spoken[-1]])) if spoken else 0
