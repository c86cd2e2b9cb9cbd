"""Google's Agent Development Kit: a plugin that hears every turn, tells the model what fired, and holds a call once.

    runner = InMemoryRunner(agent, plugins=[DeiaPlugin()])

Read from google-adk 2.13.0. What the model is told goes with the person's message or the tool's result, so the session
keeps it. Refuses to end a run; a held call gives its reason as the tool's result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deia.frameworks.missing_extra import need
from deia.frameworks.session import Ear

need("google.adk", extra="google-adk")

from google.adk.plugins.base_plugin import BasePlugin  # noqa: E402 - only once it is known to be there
from google.genai import types  # noqa: E402

if TYPE_CHECKING:
    from deia.librarian import Librarian

FIELD = "deia_reference"  # of a tool's result
HELD = "held, not run"


class DeiaPlugin(BasePlugin):
    """The librarian in a runner."""

    def __init__(self, librarian: Librarian | None = None, *, folder: str | None = None) -> None:
        super().__init__(name="deia")
        self.ear = Ear(librarian, folder=folder)

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
        """Add what fired to what the person said."""
        said = "\n".join(part.text for part in user_message.parts or () if part.text)
        text = await self.ear.ahear([{"role": "user", "content": said}], invocation_context.session.id)
        if not text:
            return None
        return types.Content(role=user_message.role, parts=[*user_message.parts, types.Part(text=text)])

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
        """Hear what the model says, in whole; what fires waits for the next result or message."""
        if not llm_response.partial and llm_response.content:
            said = "\n".join(part.text for part in llm_response.content.parts or () if part.text and not part.thought)
            session = callback_context.session.id
            told = await self.ear.ahear([{"role": "assistant", "content": said}] if said else [], session)
            self.ear.keep(told, session)

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        """Hold a call once, with its reason."""
        reason = await self.ear.arefuse(tool.name, tool_args, tool_context.session.id)
        return {"status": HELD, FIELD: reason} if reason else None

    async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> Any:  # noqa: ARG002
        """Hear a result, and add to it what waits for the model."""
        if isinstance(result, dict) and result.get("status") == HELD:
            return None
        session = tool_context.session.id
        await self.ear.anote(tool.name, result, session)
        text = self.ear.take(session)
        if not text:
            return None
        return {**(result if isinstance(result, dict) else {"result": result}), FIELD: text}

    async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception) -> Any:  # noqa: ARG002
        """Hear what a tool raised; it stays an error."""
        await self.ear.anote(tool.name, str(error), tool_context.session.id, failed=True)
