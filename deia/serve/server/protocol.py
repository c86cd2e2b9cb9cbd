"""The desk as an MCP server: handlers for tools, resources, prompts, completion and subscriptions on the official SDK.

Serves clients of the handshake and of the stateless protocol alike. Refuses to decide anything about the commons: it
turns requests into calls and replies into results.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

import deia
from deia.errors import DeiaError
from deia.serve.server.call_log import Audit
from deia.serve.server.desk import Reply
from deia.serve.server.desk_thread import Clerk
from deia.serve.server.dispatch import call, find_tool, prepared, to_confirm, to_narrow
from deia.serve.server.elicitation import Declined, choose, confirm
from deia.serve.server.hook_events import Hooks
from deia.serve.server.hook_tool import heard
from deia.serve.server.prompts import PROMPTS, say
from deia.serve.server.recompile import Keeper
from deia.serve.server.resources import PATTERNS, SCHEME, complete, fixed, read_resource
from deia.serve.server.subscriptions import Subscribers
from deia.serve.server.tool_schemas import CHECKS, HOOK, INSTRUCTIONS

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from deia.serve.server.recompile import Tell

    Context = ServerRequestContext[Any, Any]

NAME, TITLE = "deia", "deia, the team's librarian"


class Librarianship:
    """The handlers of one server, with what they share."""

    def __init__(
        self, clerk: Clerk, keeper: Keeper, audit: Audit, offered: Sequence[Mapping[str, Any]], *, judge: Clerk,
        hooks: Hooks | None,
    ) -> None:  # fmt: skip
        self.clerk, self.judge, self.keeper, self.audit = clerk, judge, keeper, audit
        self.offered, self.hooks = offered, hooks
        self.subscribers = Subscribers(clerk)
        keeper.changed.append(self.subscribers.tell)
        self._tools = [types.Tool.model_validate(tool) for tool in offered]

    def server(self) -> Server[Any]:
        """Give the SDK's server with everything registered."""
        server: Server[Any] = Server(
            NAME,
            version=deia.__version__,
            title=TITLE,
            instructions=INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.prompt,
            on_completion=self.complete,
            on_subscribe_resource=self.subscribers.subscribe,
            on_unsubscribe_resource=self.subscribers.unsubscribe,
            on_subscriptions_listen=self.subscribers.listen,
        )
        server.middleware.clear()  # tracing, which nobody here reads
        return server

    # --- tools ---

    async def list_tools(self, _ctx: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Give the tools that are offered."""
        return types.ListToolsResult(tools=self._tools)

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Answer a call; what is wrong is told to the model, with what to do next."""
        began, outcome = time.perf_counter(), "cancelled"
        try:
            if self.hooks is not None and params.name == HOOK:
                text, outcome = await heard(self.hooks, params.arguments)
                return types.CallToolResult(content=[types.TextContent(text=text)])
            result = await self._called(ctx, params)
            outcome = "asked" if isinstance(result, types.InputRequiredResult) else "ok"
        except Declined as declined:
            outcome, result = "declined", _failure(str(declined))
        except DeiaError as error:
            outcome, result = "refused", _failure(str(error))
        finally:
            given = params.arguments or {}
            self.audit.note("tool", params.name, outcome=outcome, began=began, given=given, client=_client(ctx))
        return result

    async def _called(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool, tell = find_tool(self.offered, params.name), _teller(ctx)
        clerk = self.judge if params.name == CHECKS else self.clerk
        desk = clerk.desk
        await self.keeper.ready(tell)
        name, arguments = await clerk.do(lambda: prepared(desk, tool, params.arguments))
        question = await clerk.do(lambda: to_confirm(desk, name, arguments))
        if question:
            pending = await confirm(ctx, params, question)
            if pending is not None:
                return pending
        reply = await clerk.do(lambda: call(desk, name, arguments))
        clusters = to_narrow(reply, name, arguments)
        if clusters:
            chosen = await choose(ctx, params, "That is about half the commons. Which part of it?", clusters)
            if isinstance(chosen, types.InputRequiredResult):
                return chosen
            if chosen:
                reply = await clerk.do(lambda: call(desk, name, {**arguments, "cluster": chosen}))
        if reply.changed:
            await self.keeper.bring_up_to_date(tell)
        return _success(reply)

    # --- resources ---

    async def list_resources(
        self, _ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Give the addresses that are always there."""
        found = [
            types.Resource(name=path, uri=SCHEME + path, description=about, mime_type=kind)
            for path, about, kind in fixed(self.clerk.desk)
        ]
        return types.ListResourcesResult(resources=found)

    async def list_templates(
        self, _ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Give the patterns of addresses."""
        found = [
            types.ResourceTemplate(
                name=path.partition("/")[0], uri_template=SCHEME + path, description=about, mime_type=kind
            )
            for path, about, kind in PATTERNS
        ]
        return types.ListResourceTemplatesResult(resource_templates=found)

    async def read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Give what is at an address.

        Raises:
            MCPError: nothing is.
        """
        address = str(params.uri)
        began, outcome = time.perf_counter(), "refused"
        try:
            await self.keeper.ready(_teller(ctx))
            desk = self.clerk.desk
            found = await self.clerk.do(lambda: desk.steady(lambda: read_resource(desk, address)))
            outcome = "ok"
        except DeiaError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=_clean(str(error)), data={"uri": address}) from error
        finally:
            self.audit.note("resource", address, outcome=outcome, began=began, client=_client(ctx))
        contents = types.TextResourceContents(uri=params.uri, text=_clean(found.text), mime_type=found.kind)
        return types.ReadResourceResult(contents=[contents])

    # --- prompts and completion ---

    async def list_prompts(
        self, _ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """Give the prompts."""
        found = [
            types.Prompt(
                name=name,
                description=one.about,
                arguments=[
                    types.PromptArgument(name=key, description=about, required=needed)
                    for key, about, needed in one.takes
                ],
            )
            for name, one in PROMPTS.items()
        ]
        return types.ListPromptsResult(prompts=found)

    async def prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Give a prompt filled in.

        Raises:
            MCPError: there is none of this name, or what it needs is missing.
        """
        began, outcome = time.perf_counter(), "refused"
        try:
            await self.keeper.ready(_teller(ctx))
            desk = self.clerk.desk
            text = await self.clerk.do(lambda: say(desk, params.name, params.arguments))
            outcome = "ok"
        except DeiaError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=_clean(str(error))) from error
        finally:
            given = params.arguments or {}
            self.audit.note("prompt", params.name, outcome=outcome, began=began, given=given, client=_client(ctx))
        message = types.PromptMessage(role="user", content=types.TextContent(text=_clean(text)))
        return types.GetPromptResult(description=PROMPTS[params.name].about, messages=[message])

    async def complete(self, _ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Offer what could be meant by what was typed of an argument."""
        name, typed = params.argument.name, params.argument.value[:200]
        try:
            await self.keeper.ready()
            desk = self.clerk.desk
            found = await self.clerk.do(lambda: complete(desk, name, typed))
        except DeiaError:
            found = []  # a completion that fails offers nothing
        return types.CompleteResult(completion=types.Completion(values=found[:100], has_more=len(found) > 100))


def _success(reply: Reply) -> types.CallToolResult:
    content = types.TextContent(text=_clean(reply.text))
    return types.CallToolResult(content=[content], structured_content=_clean(dict(reply.fields)))


def _failure(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=_clean(message))], is_error=True)


def _clean(value: Any) -> Any:
    """Give a value without half characters, which no JSON can carry (a file name may hold them)."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, (list, tuple)) else value


def _teller(ctx: Context) -> Tell:
    async def tell(seconds: float, message: str) -> None:
        """Say how far long work is, where the client asked to hear it."""
        await ctx.session.report_progress(seconds, message=message)

    return tell


def _client(ctx: Context) -> str:
    given = ctx.session.client_params
    return given.client_info.name if given is not None else ""
