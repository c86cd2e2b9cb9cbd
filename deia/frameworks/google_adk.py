"""Google's Agent Development Kit: a plugin that judges every turn, tells the model what fired, and holds calls.

    runner = InMemoryRunner(agent, plugins=[DeiaPlugin()])

Written for google-adk 2.13.0. Texts for the model are added to the person's message or to a tool's result, so the ADK's
session keeps them. A held call returns its reason as the tool's result and passes when it is repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deia.frameworks.session import AgentSession, need
from deia.librarian import Librarian

need("google.adk", extra="google-adk")

from google.adk.plugins.base_plugin import BasePlugin  # noqa: E402 - after the check that it is installed
from google.genai import types  # noqa: E402

if TYPE_CHECKING:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.models.llm_response import LlmResponse
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_context import ToolContext

FIELD = "deia_reference"  # the field of a tool's result that holds deia's text
HELD = "held, not run"


class DeiaPlugin(BasePlugin):
    """The librarian in a runner."""

    def __init__(self, librarian: Librarian | None = None, *, folder: str | None = None) -> None:
        super().__init__(name="deia")
        self.agent_session = AgentSession(librarian, folder=folder)

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> types.Content | None:
        """Add the text for the model to the person's message."""
        user_text = "\n".join(part.text for part in user_message.parts or () if part.text)
        text = await self.agent_session.awatch_messages(
            [{"role": "user", "content": user_text}], invocation_context.session.id
        )
        if not text:
            return None
        return types.Content(role=user_message.role, parts=[*(user_message.parts or ()), types.Part(text=text)])

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        """Judge the model's complete message; a text for the model waits for the next result or message."""
        if not llm_response.partial and llm_response.content:
            model_text = "\n".join(
                part.text for part in llm_response.content.parts or () if part.text and not part.thought
            )
            conversation = callback_context.session.id
            messages = [{"role": "assistant", "content": model_text}] if model_text else []
            self.agent_session.queue(await self.agent_session.awatch_messages(messages, conversation), conversation)

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: object, tool_context: ToolContext
    ) -> dict[str, object] | None:
        """Hold a call once, with its reason."""
        reason = await self.agent_session.acheck_call(tool.name, tool_args, tool_context.session.id)
        return {"status": HELD, FIELD: reason} if reason else None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_context: ToolContext, result: object, **_: object
    ) -> dict[str, object] | None:
        """Judge a result, and add the texts that wait for the model."""
        if isinstance(result, dict) and result.get("status") == HELD:
            return None
        conversation = tool_context.session.id
        await self.agent_session.awatch_result(tool.name, result, conversation)
        text = self.agent_session.take_pending(conversation)
        if not text:
            return None
        return {**(result if isinstance(result, dict) else {"result": result}), FIELD: text}

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_context: ToolContext, error: Exception, **_: object
    ) -> None:
        """Judge what a tool raised; it stays an error."""
        await self.agent_session.awatch_result(tool.name, str(error), tool_context.session.id, failed=True)
