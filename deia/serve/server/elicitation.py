"""Asks the person a question in the middle of a call, if the client can: whether to go on, or which of several to take.

A client of the handshake protocol receives a request. A client of the stateless protocol receives the question as the
result of its call and calls again with the answer. No answer, or a closed form, never counts as consent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

Context: TypeAlias = ServerRequestContext[Any, Any]  # the SDK's parameters: a lifespan and a request, both unused

CONFIRM, CHOOSE = "confirm", "choose"


class Declined(Exception):  # noqa: N818 - a decision of the person, not an error
    """The person said no, or closed the question."""


def can_ask(ctx: Context) -> bool:
    """Return whether this client can show a form to a person."""
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    if elicitation is None:
        return False
    only_urls = elicitation.form is None and elicitation.url is not None
    return not only_urls and (_is_stateless(ctx) or ctx.session.can_send_request)


async def confirm(ctx: Context, params: types.CallToolRequestParams, question: str) -> types.InputRequiredResult | None:
    """Let the person confirm; return None if they agreed or cannot be asked."""
    schema: dict[str, object] = {
        "type": "object",
        "properties": {"proceed": {"type": "boolean", "title": "Go on?", "default": False}},
        "required": ["proceed"],
    }
    answer = await _ask(ctx, params, CONFIRM, question, schema)
    if isinstance(answer, types.InputRequiredResult) or answer is None:
        return answer
    if answer.action != "accept" or (answer.content or {}).get("proceed") is not True:
        raise Declined("Not done: the person did not agree. Ask them what they want instead.")
    return None


async def choose(
    ctx: Context, params: types.CallToolRequestParams, question: str, choices: Sequence[str]
) -> types.InputRequiredResult | str:
    """Let the person choose one of several; return an empty text if they chose none."""
    schema: dict[str, object] = {
        "type": "object",
        "properties": {"choice": {"type": "string", "title": "Part", "enum": list(choices)}},
        "required": ["choice"],
    }
    answer = await _ask(ctx, params, CHOOSE, question, schema)
    if isinstance(answer, types.InputRequiredResult):
        return answer
    choice = (answer.content or {}).get("choice") if answer is not None and answer.action == "accept" else ""
    return choice if isinstance(choice, str) and choice in choices else ""


async def _ask(
    ctx: Context, params: types.CallToolRequestParams, key: str, question: str, schema: dict[str, object]
) -> types.InputRequiredResult | types.ElicitResult | None:
    if not can_ask(ctx):
        return None
    if not _is_stateless(ctx):
        try:
            return await ctx.session.elicit_form(question, schema, related_request_id=ctx.request_id)
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND:  # it cannot ask after all; the host has its own confirmation
                return None
            return types.ElicitResult(action="cancel")  # the question was not shown, or the client is gone
    answer = (params.input_responses or {}).get(key)
    if isinstance(answer, types.ElicitResult):
        return answer
    form = types.ElicitRequestFormParams(message=question, requested_schema=schema)
    return types.InputRequiredResult(input_requests={key: types.ElicitRequest(params=form)})


def _is_stateless(ctx: Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
