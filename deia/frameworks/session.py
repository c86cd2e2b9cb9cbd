"""What the adapters for agent frameworks share: messages and tool calls go in, texts for the model come out.

The adapters translate their framework's messages and calls; this module does the rest, so that a conversation fires the
same triggers in every framework. A text that cannot be delivered at once waits until the model reads again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec

from deia.firing import Firing, Injection
from deia.librarian import Librarian
from deia.watch.turn.conversation import Conversations, Judged, turns_of

# Nobody can be asked during a framework's run, so a question becomes a hold, whose reason can be shown to the person.
HOLDING = ("hold", "ask")
SPEAKERS = ("user", "assistant")


def need(package: str, *, extra: str) -> None:
    """Raise an error if a package is not installed; `package` is its name as it is imported.

    Raises:
        ImportError: it is not installed; the message names the extra and the command.
    """
    spec = None
    with suppress(ModuleNotFoundError):  # its parent package is missing
        spec = find_spec(package)
    if spec is None:
        raise ImportError(
            f"This adapter needs the package {package!r}, which is not installed. Type: pip install 'deia[{extra}]'"
        )


class _Conversation:
    """The judged messages of a conversation, and the texts that wait for the model."""

    def __init__(self) -> None:
        self.judged = Judged()
        self.pending: list[str] = []


class AgentSession:
    """The librarian in an agent, for many conversations and from several threads or tasks.

    Args:
        librarian: whose triggers are used; by default that of the commons found from the working folder.
        folder: where the work happens, for the signs of platforms there; by default the commons' own folder.
    """

    def __init__(self, librarian: Librarian | None = None, *, folder: str | None = None) -> None:
        self.librarian = librarian or Librarian(agent="framework")
        self.firings: list[Firing] = []  # of the turns that were judged last
        self._folder = folder
        self._conversations = Conversations(_Conversation)

    def watch_messages(self, messages: Iterable[Mapping[str, object]], conversation: str) -> str:
        """Judge the messages since the last call and return the text to show to the model now, or "".

        `messages` is the conversation so far, or its end. Only the messages of people and the model are judged here:
        calls and results are judged when they happen.
        """
        turns = [turn for turn in turns_of(messages) if turn.role in SPEAKERS]
        for turn in self._conversations.get(conversation).judged.take_new(turns):
            self._queue_injection(conversation, self._injection([turn], conversation))
        return self.take_pending(conversation)

    def check_call(self, tool: str, tool_input: object, conversation: str) -> str:
        """Judge a tool call before it runs and return why it is held, or ""; a repeated call passes."""
        call = {"role": "tool_call", "tool": tool, "tool_input": tool_input if isinstance(tool_input, dict) else {}}
        injection = self._injection([call], conversation)
        if injection is not None and injection.action in HOLDING:
            return "\n\n".join(text for text in (self.take_pending(conversation), injection.text) if text)
        self._queue_injection(conversation, injection)
        return ""

    def watch_result(self, tool: str, result: object, conversation: str, *, failed: bool = False) -> None:
        """Judge the result of a tool call; a text for the model waits until it reads again."""
        turn = {"role": "tool_result", "tool": tool, "content": result, "is_error": failed}
        self._queue_injection(conversation, self._injection([turn], conversation))

    def queue(self, text: str, conversation: str) -> None:
        """Let a text wait until the model reads again."""
        if text:
            self._conversations.get(conversation).pending.append(text)

    def take_pending(self, conversation: str) -> str:
        """Return the texts that wait for the model, and forget them."""
        state = self._conversations.get(conversation)
        pending, state.pending = state.pending, []
        return "\n\n".join(pending)

    async def awatch_messages(self, messages: Iterable[Mapping[str, object]], conversation: str) -> str:
        """Await `watch_messages`."""
        return await asyncio.to_thread(self.watch_messages, list(messages), conversation)

    async def acheck_call(self, tool: str, tool_input: object, conversation: str) -> str:
        """Await `check_call`."""
        return await asyncio.to_thread(self.check_call, tool, tool_input, conversation)

    async def awatch_result(self, tool: str, result: object, conversation: str, *, failed: bool = False) -> None:
        """Await `watch_result`."""
        await asyncio.to_thread(partial(self.watch_result, tool, result, conversation, failed=failed))

    def _injection(self, turns: Sequence[object], conversation: str) -> Injection | None:
        librarian = self.librarian
        self.firings = librarian.check_triggers(turns, conversation_id=conversation, folder=self._folder)
        return librarian.get_context(self.firings, conversation_id=conversation) if self.firings else None

    def _queue_injection(self, conversation: str, injection: Injection | None) -> None:
        self.queue(injection.text if injection is not None else "", conversation)
