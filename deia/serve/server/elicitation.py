"""Asking the person in the middle of a call, where the client can: whether to go on, or which of several is meant.

Clients of the handshake protocol are sent a question; those of the stateless one get it as their result and call again
with the answer. Refuses to take silence or a closed form for a yes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    Context = ServerRequestContext[Any, Any]

CONFIRM, CHOOSE = "confirm", "choose"


class Declined(Exception):  # noqa: N818 - a person's word, not a failure
    """The person said no, or closed the question."""


def can_ask(ctx: Context) -> bool:
    """Say whether this client puts forms before a person."""
    able = ctx.session.client_capabilities
    elicitation = able.elicitation if able is not None else None
    if elicitation is None:
        return False
    only_addresses = elicitation.form is None and elicitation.url is not None
    return not only_addresses and (_is_stateless(ctx) or ctx.session.can_send_request)


async def confirm(ctx: Context, params: types.CallToolRequestParams, question: str) -> types.InputRequiredResult | None:
    """Have the person confirm; None where that is settled, or cannot be asked.

    Raises:
        Declined: the person does not want it.
    """
    schema = {
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
    """Have the person choose one; the empty text where nobody chose."""
    schema = {
        "type": "object",
        "properties": {"choice": {"type": "string", "title": "Part", "enum": list(choices)}},
        "required": ["choice"],
    }
    answer = await _ask(ctx, params, CHOOSE, question, schema)
    if isinstance(answer, types.InputRequiredResult):
        return answer
    chosen = (answer.content or {}).get("choice") if answer is not None and answer.action == "accept" else ""
    return chosen if isinstance(chosen, str) and chosen in choices else ""


async def _ask(
    ctx: Context, params: types.CallToolRequestParams, key: str, question: str, schema: dict[str, Any]
) -> types.InputRequiredResult | types.ElicitResult | None:
    if not can_ask(ctx):
        return None
    if not _is_stateless(ctx):
        try:
            return await ctx.session.elicit_form(question, schema, related_request_id=ctx.request_id)
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND:  # it cannot after all; the host has its own word on tools
                return None
            return types.ElicitResult(action="cancel")  # the question was not put, or nobody is there any more
    given = (params.input_responses or {}).get(key)
    if isinstance(given, types.ElicitResult):
        return given
    form = types.ElicitRequestFormParams(message=question, requested_schema=schema)
    return types.InputRequiredResult(input_requests={key: types.ElicitRequest(params=form)})


def _is_stateless(ctx: Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
