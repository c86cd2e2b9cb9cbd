"""An ear between an agent framework and the librarian: what was said and done goes in, what to tell comes out.

The adapters translate their framework's messages and calls, and this does the rest, so that one conversation fires the
same through each. What cannot be said at once waits for the next moment at which the model reads. Refuses to know any
framework.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from deia.librarian import MOST_CONVERSATIONS, Librarian
from deia.watch.turn.conversation import Judged, turns_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deia.records import Firing, Injection

# Nobody can be asked in the middle of a framework's run, so a question is a hold: its reason can be put to the person.
HOLDING = ("hold", "ask")
SPEAKERS = ("user", "assistant")


class Ear:
    """The librarian's ear in an agent: one for many conversations, from several threads or tasks.

    Args:
        librarian: whose triggers are heard; by default that of the commons found from the working folder.
        folder: where the work happens, for the signs of platforms there.
    """

    def __init__(self, librarian: Librarian | None = None, *, folder: str | None = None) -> None:
        self.librarian = librarian or Librarian(agent="framework")
        self.firings: list[Firing] = []  # of the last turns that were heard
        self._folder = folder
        self._spoken: dict[str, Judged] = {}
        self._waiting: dict[str, list[str]] = {}

    def hear(self, messages: Iterable[Mapping[str, Any]], conversation: str) -> str:
        """Hear what was said since last time; give what to tell the model now, or the empty text.

        `messages` is the conversation so far, or its end; only what people and the model say in it counts here, since
        calls and their results are heard when they happen.
        """
        said = [turn for turn in turns_of(messages) if turn.role in SPEAKERS]
        for turn in self._judged(conversation).take_new(said):
            self._queue(conversation, self._firing([turn], conversation))
        return self.take(conversation)

    def refuse(self, tool: str, given: Any, conversation: str) -> str:
        """Hear a tool call before it runs; give why it is held, or the empty text. The same call passes next time."""
        call = {"role": "tool_call", "tool": tool, "tool_input": given if isinstance(given, dict) else {}}
        told = self._firing([call], conversation)
        if told is not None and told.action in HOLDING:
            return "\n\n".join(text for text in (self.take(conversation), told.text) if text)
        self._queue(conversation, told)
        return ""

    def note(self, tool: str, result: Any, conversation: str, *, failed: bool = False) -> None:
        """Hear what a tool call came to; what there is to say waits for the model."""
        turn = {"role": "tool_result", "tool": tool, "content": result, "is_error": failed}
        self._queue(conversation, self._firing([turn], conversation))

    def keep(self, text: str, conversation: str) -> None:
        """Let a text wait for the model."""
        if text:
            self._waiting.setdefault(conversation, []).append(text)

    def take(self, conversation: str) -> str:
        """Give what waits for the model, and forget it."""
        return "\n\n".join(self._waiting.pop(conversation, ()))

    async def ahear(self, messages: Iterable[Mapping[str, Any]], conversation: str) -> str:
        """Await `hear`."""
        return await asyncio.to_thread(self.hear, list(messages), conversation)

    async def arefuse(self, tool: str, given: Any, conversation: str) -> str:
        """Await `refuse`."""
        return await asyncio.to_thread(self.refuse, tool, given, conversation)

    async def anote(self, tool: str, result: Any, conversation: str, *, failed: bool = False) -> None:
        """Await `note`."""
        await asyncio.to_thread(partial(self.note, tool, result, conversation, failed=failed))

    def _firing(self, turns: list[Any], conversation: str) -> Injection | None:
        librarian = self.librarian
        self.firings = librarian.check_triggers(turns, conversation_id=conversation, folder=self._folder)
        return librarian.get_context(self.firings, conversation_id=conversation) if self.firings else None

    def _queue(self, conversation: str, told: Injection | None) -> None:
        self.keep(told.text if told is not None else "", conversation)

    def _judged(self, conversation: str) -> Judged:
        judged = self._spoken.pop(conversation, None) or Judged()
        self._spoken[conversation] = judged  # the last used stands last
        while len(self._spoken) > MOST_CONVERSATIONS:
            forgotten = next(iter(self._spoken))
            del self._spoken[forgotten]
            self._waiting.pop(forgotten, None)
        return judged
