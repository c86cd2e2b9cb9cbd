"""The MCP server: handlers for tools, resources, prompts, completion and subscriptions, on the official SDK.

It serves clients of the handshake protocol and of the stateless protocol. The handlers only translate requests into
calls and replies into results. In the middle of a call they may ask the person whether to go on, or which of several to
take, if the client can: one of the handshake protocol receives a request; one of the stateless protocol receives the
question as the result of its call and calls again with the answer. No answer, or a closed form, is never consent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

import deia
from deia.errors import DeiaError
from deia.serve.server.account import Account, Asked
from deia.serve.server.allowances import LimitError
from deia.serve.server.answer_tools import sampled
from deia.serve.server.desk import Desk, DeskThread, Reply
from deia.serve.server.dispatch import answer, confirmation, find_tool, prepare
from deia.serve.server.hook_events import Hooks, answer_hook
from deia.serve.server.library_tools import finish, start
from deia.serve.server.read_tools import PROMPTS, prompt_text
from deia.serve.server.recompile import Recompiler, Report
from deia.serve.server.resources import (
    MOST_FOLLOWED,
    MOST_OF_USER,
    PATTERNS,
    SCHEME,
    Context,
    Subscribers,
    complete,
    fixed_addresses,
    read_resource,
)
from deia.serve.server.tool_schemas import HOOK, INSTRUCTIONS, SLOW, Tool
from deia.serve.server.users import LOCAL

CONFIRM, CHOOSE = "confirm", "choose"
MOST_SAMPLED = 2_000  # tokens of a reply of the client's model
NAME, TITLE = "deia", "deia, the team's librarian"

Value = TypeVar("Value")


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
    form = {"type": "boolean", "title": "Go on?", "default": False}
    answer = await _ask(ctx, params, CONFIRM, question, "proceed", form)
    if isinstance(answer, types.InputRequiredResult) or answer is None:
        return answer
    if answer.action != "accept" or (answer.content or {}).get("proceed") is not True:
        raise Declined("Not done: the person did not agree. Ask them what they want instead.")
    return None


async def choose(
    ctx: Context, params: types.CallToolRequestParams, question: str, choices: Sequence[str]
) -> types.InputRequiredResult | str:
    """Let the person choose one of several; return an empty text if they chose none."""
    form: dict[str, object] = {"type": "string", "title": "Part", "enum": list(choices)}
    answer = await _ask(ctx, params, CHOOSE, question, "choice", form)
    if isinstance(answer, types.InputRequiredResult):
        return answer
    choice = (answer.content or {}).get("choice") if answer is not None and answer.action == "accept" else ""
    return choice if isinstance(choice, str) and choice in choices else ""


async def _ask(
    ctx: Context, params: types.CallToolRequestParams, key: str, question: str, field: str, form: dict[str, object]
) -> types.InputRequiredResult | types.ElicitResult | None:
    """Ask the person for one field; return None if this client cannot, or a result that asks if it is stateless."""
    if not can_ask(ctx):
        return None
    schema: dict[str, object] = {"type": "object", "properties": {field: form}, "required": [field]}
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
    request = types.ElicitRequest(params=types.ElicitRequestFormParams(message=question, requested_schema=schema))
    return types.InputRequiredResult(input_requests={key: request})


def _is_stateless(ctx: Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def can_sample(ctx: Context) -> bool:
    """Return whether the client lets its own model be asked; requests without a session cannot."""
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and capabilities.sampling is not None and not _is_stateless(ctx)


async def _sampled(ctx: Context, thread: DeskThread, reply: Reply) -> Reply:
    """Ask the client's own model about the evidence of a reply; return the new reply, or the old one if that fails."""
    token, librarian = str(reply.fields["token"]), thread.desk.librarian
    system, question = await thread.run(lambda: librarian.prompt_for(token))
    asked = ctx.session.create_message(
        [types.SamplingMessage(role="user", content=types.TextContent(text=question))],
        max_tokens=MOST_SAMPLED, system_prompt=system, related_request_id=ctx.request_id,
    )  # fmt: skip
    try:
        result = await asyncio.wait_for(asked, librarian.settings.answer_seconds)
    except (MCPError, TimeoutError):  # the client's person or its model refuses, or takes too long
        return reply
    sampled_text = result.content.text if isinstance(result.content, types.TextContent) else ""
    return await thread.run(lambda: sampled(thread.desk, token, sampled_text))


class Handlers:
    """The handlers of one server, with what they share."""

    def __init__(
        self, desk_thread: DeskThread, recompiler: Recompiler, account: Account, tools: Sequence[Tool], *,
        checker: DeskThread, hooks: Hooks | None,
    ) -> None:  # fmt: skip
        self.desk_thread, self.checker, self.recompiler, self.account = desk_thread, checker, recompiler, account
        self.tools, self.hooks = tools, hooks
        most = MOST_FOLLOWED if account.name == LOCAL else MOST_OF_USER
        self.subscribers = Subscribers(desk_thread, most=most, admit=self._admit_follower)
        recompiler.on_change.append(self.subscribers.notify)
        self._listed = [types.Tool.model_validate(tool.as_json()) for tool in tools]

    def server(self) -> Server[Any]:
        """Return the SDK's server with all handlers registered."""
        templates = [
            types.ResourceTemplate(
                name=pattern.path.partition("/")[0], uri_template=SCHEME + pattern.path,
                description=pattern.description, mime_type=pattern.content_type,
            )
            for pattern in PATTERNS
        ]  # fmt: skip
        prompts = [
            types.Prompt(name=name, description=prompt.description, arguments=list(prompt.parameters))
            for name, prompt in PROMPTS.items()
        ]
        server = Server(
            NAME,
            version=deia.__version__,
            title=TITLE,
            instructions=INSTRUCTIONS,
            on_list_tools=_always(types.ListToolsResult(tools=self._listed)),
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=_always(types.ListResourceTemplatesResult(resource_templates=templates)),
            on_read_resource=self.read,
            on_list_prompts=_always(types.ListPromptsResult(prompts=prompts)),
            on_get_prompt=self.prompt,
            on_completion=self.complete,
            on_subscribe_resource=self.subscribers.subscribe,
            on_unsubscribe_resource=self.subscribers.unsubscribe,
            on_subscriptions_listen=self.subscribers.listen,
        )
        server.middleware.clear()  # tracing, which is not used
        return server

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Answer a call; an error is a result for the model, with what to do next."""
        began, outcome = time.perf_counter(), "cancelled"
        asked = Asked(kind="tool", name=params.name, arguments=params.arguments or {}, client=_client(ctx))
        result: types.CallToolResult | types.InputRequiredResult | None = None
        try:
            self.account.admit(asked)
            if self.hooks is not None and params.name == HOOK:
                text, outcome = await answer_hook(self.hooks, params.arguments)
                return types.CallToolResult(content=[types.TextContent(text=text)])
            result = await self._call(ctx, params)
            outcome = "asked" if isinstance(result, types.InputRequiredResult) else "ok"
        except Declined as declined:
            outcome, result = "declined", _failure(str(declined))
        except LimitError as error:
            outcome, result = "limited", _failure(str(error))
        except DeiaError as error:
            outcome, result = "refused", _failure(str(error))
        finally:
            await self._write(asked, outcome, began, result)
        return result

    async def _write(self, asked: Asked, outcome: str, began: float, result: types.Result | None) -> None:
        answered = result if isinstance(result, types.CallToolResult) and not result.is_error else None
        texts = [part.text for part in answered.content if isinstance(part, types.TextContent)] if answered else []
        fields = answered.structured_content if answered else None
        await self.account.write(asked, outcome=outcome, began=began, fields=fields, text="\n".join(texts))

    async def _call(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool, report = find_tool(self.tools, params.name), _progress(ctx)
        thread = self.checker if params.name in SLOW else self.desk_thread
        desk = thread.desk
        await self.recompiler.wait_until_compiled(report)
        call = await thread.run(lambda: prepare(desk, tool, params.arguments))
        question = await thread.run(lambda: confirmation(desk, call))
        if question:
            pending = await confirm(ctx, params, question)
            if pending is not None:
                return pending
        reply = await thread.run(lambda: answer(desk, call))
        if call.arguments.get("sampling") and can_sample(ctx):
            reply = await _sampled(ctx, thread, reply)
        if reply.clusters and not call.arguments.get("cluster"):
            cluster = await choose(ctx, params, "That is about half the commons. Which part of it?", reply.clusters)
            if isinstance(cluster, types.InputRequiredResult):
                return cluster
            if cluster:
                narrowed = call.but(arguments={**call.arguments, "cluster": cluster})
                reply = await thread.run(lambda: answer(desk, narrowed))
        if reply.changed:
            await self.recompiler.bring_up_to_date(report)
        if reply.source and ctx.meta and "progress_token" in ctx.meta:
            reply = await finish(desk, reply.source, ctx.session.report_progress)
        elif reply.source:
            start(desk, reply.source)
        content = types.TextContent(text=_clean(reply.text))
        return types.CallToolResult(content=[content], structured_content=_clean(dict(reply.fields)))

    async def list_resources(
        self, _ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Return the addresses that always exist."""
        resources = [
            types.Resource(
                name=address.path, uri=SCHEME + address.path, description=address.description,
                mime_type=address.content_type,
            )
            for address in fixed_addresses(self.desk_thread.desk)
        ]  # fmt: skip
        return types.ListResourcesResult(resources=resources)

    async def read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Return what is at an address; raise MCPError if there is nothing."""
        address = str(params.uri)
        content = await self._answer(
            Asked(kind="resource", name=address, client=_client(ctx)), ctx, data={"uri": address},
            read=lambda desk: desk.retry(lambda: read_resource(desk, address)), text=lambda content: content.text,
        )  # fmt: skip
        text = _clean(content.text)
        contents = types.TextResourceContents(uri=params.uri, text=text, mime_type=content.content_type)
        return types.ReadResourceResult(contents=[contents])

    async def prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Return the text of a prompt; raise MCPError if there is no such prompt, or its arguments are wrong."""
        text = await self._answer(
            Asked(kind="prompt", name=params.name, arguments=params.arguments or {}, client=_client(ctx)), ctx,
            read=lambda desk: prompt_text(desk, params.name, params.arguments), text=str,
        )  # fmt: skip
        message = types.PromptMessage(role="user", content=types.TextContent(text=_clean(text)))
        return types.GetPromptResult(description=PROMPTS[params.name].description, messages=[message])

    async def _answer(
        self, asked: Asked, ctx: Context, *, read: Callable[[Desk], Value], text: Callable[[Value], str],
        data: object = None,
    ) -> Value:  # fmt: skip
        """Return what the desk answers, and log that it did; raise MCPError if it refuses to."""
        began, outcome, reply_text = time.perf_counter(), "refused", ""
        desk = self.desk_thread.desk
        try:
            self.account.admit(asked)
            await self.recompiler.wait_until_compiled(_progress(ctx))
            value = await self.desk_thread.run(lambda: read(desk))
            outcome, reply_text = "ok", text(value)
        except DeiaError as error:
            outcome = "limited" if isinstance(error, LimitError) else outcome
            raise MCPError(code=types.INVALID_PARAMS, message=_clean(str(error)), data=data) from error
        finally:
            await self.account.write(asked, outcome=outcome, began=began, text=reply_text)
        return value

    async def _admit_follower(self, ctx: Context, address: str) -> None:
        """Count and log that a client follows an address; raise MCPError if it has to wait."""
        asked = Asked(kind="subscription", name=address, client=_client(ctx))
        await self._answer(asked, ctx, read=lambda _desk: "", text=str)

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Return completions of what was typed as an argument."""
        name, typed = params.argument.name, params.argument.value[:200]
        asked = Asked(kind="completion", name=name, arguments={"query": typed}, client=_client(ctx))
        try:
            values = await self._answer(asked, ctx, read=lambda desk: complete(desk, name, typed), text="\n".join)
        except MCPError:
            values = []  # without completions a person can still type
        return types.CompleteResult(completion=types.Completion(values=values[:100], has_more=len(values) > 100))


def _always(result: Value) -> Callable[[Context, object], Awaitable[Value]]:
    async def handler(_ctx: Context, _params: object) -> Value:
        return result

    return handler


def _failure(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=_clean(message))], is_error=True)


def _clean(value: Value) -> Value:
    """Return a JSON value with unpaired surrogates replaced: UTF-8 cannot encode them, and file names contain some."""
    cleaned: Any = value
    if isinstance(value, str):
        cleaned = value if value.isascii() else value.encode("utf-8", "replace").decode()
    elif isinstance(value, dict):
        cleaned = {_clean(key): _clean(item) for key, item in value.items()}
    elif isinstance(value, (list, tuple)):
        cleaned = [_clean(item) for item in value]
    return cleaned  # type: ignore[no-any-return]  # it has the same type as the value


def _progress(ctx: Context) -> Report:
    async def report(seconds: float, message: str) -> None:
        await ctx.session.report_progress(seconds, message=message)

    return report


def _client(ctx: Context) -> str:
    params = ctx.session.client_params
    return params.client_info.name if params is not None else ""
