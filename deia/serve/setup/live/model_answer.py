"""Writes a model's answer in the protocol of its request, whole and as the events of a stream."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from deia.records import Record
from deia.serve.setup.live.model_request import ANTHROPIC, CHAT, GEMINI, RESPONSES, Request
from deia.serve.setup.live.model_script import Act

PIECE = 24  # characters in an event of a stream
TOKENS = 10  # of an answer


class Answer(Record):
    """An answer: whole, and as events, each with its name and its data."""

    whole: Mapping[str, Any]
    events: tuple[tuple[str, Mapping[str, Any]], ...]
    end: str = ""  # what ends the stream


def answer_to(request: Request, act: Act) -> Answer:
    """Return an act as the answer to a request."""
    return WRITERS[request.protocol](request, act, uuid.uuid4().hex[:20])


def _pieces(text: str) -> Iterator[str]:
    for at in range(0, len(text), PIECE):
        yield text[at : at + PIECE]


# --- Anthropic's Messages ---


def _anthropic(request: Request, act: Act, mark: str) -> Answer:
    usage = {
        "input_tokens": act.tokens,
        "output_tokens": TOKENS,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    block: dict[str, Any]
    empty: dict[str, Any]
    if act.tool is None:
        stop, block, empty = "end_turn", {"type": "text", "text": act.text}, {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(act.text)]
    else:
        stop, block = "tool_use", {"type": "tool_use", "id": f"toolu_{mark}", "name": act.tool.name, "input": act.input}
        empty = {**block, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(json.dumps(act.input))]
    whole = {
        "id": f"msg_{mark}", "type": "message", "role": "assistant", "model": request.model, "content": [block],
        "stop_reason": stop, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    events: list[tuple[str, dict[str, Any]]] = [
        ("message_start", {"message": {**whole, "content": [], "stop_reason": None}}),
        ("content_block_start", {"index": 0, "content_block": empty}),
        *(("content_block_delta", {"index": 0, "delta": delta}) for delta in deltas),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}),
        ("message_stop", {}),
    ]
    return Answer(whole=whole, events=tuple((name, {"type": name, **data}) for name, data in events))


# --- OpenAI's Responses ---


def _responses(request: Request, act: Act, mark: str) -> Answer:
    item = _item(act, mark)
    whole = {
        "id": f"resp_{mark}", "object": "response", "created_at": int(time.time()), "status": "completed",
        "model": request.model, "output": [item], "error": None, "incomplete_details": None, "instructions": None,
        "metadata": {}, "parallel_tool_calls": False, "temperature": 1, "top_p": 1, "tool_choice": "auto", "tools": [],
        "usage": {
            "input_tokens": act.tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": TOKENS,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": act.tokens + TOKENS,
        },
    }  # fmt: skip
    events = [
        ("response.created", {"response": {**whole, "output": [], "status": "in_progress", "usage": None}}),
        *_item_events(act, item),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": whole}),
    ]
    numbered = ((name, {"type": name, "sequence_number": at, **data}) for at, (name, data) in enumerate(events))
    return Answer(whole=whole, events=tuple(numbered))


def _item(act: Act, mark: str) -> dict[str, Any]:
    """Return the item of an output: a message, or a call in the form that the tool's kind asks for."""
    if act.tool is None:
        content = [{"type": "output_text", "text": act.text, "annotations": []}]
        return {
            "type": "message", "id": f"msg_{mark}", "role": "assistant", "status": "completed", "content": content,
        }  # fmt: skip
    call = {"id": f"fc_{mark}", "call_id": f"call_{mark}", "status": "completed"}
    if act.tool.kind == "local_shell":
        words = ["bash", "-lc", str(act.input.get("command", ""))]
        return {"type": "local_shell_call", **call, "action": {"type": "exec", "command": words, "env": {}}}
    if act.tool.kind == "custom":
        text = next(iter(act.input.values()), "")
        return {"type": "custom_tool_call", **call, "name": act.tool.name, "input": text}
    if act.tool.name == "tool_search":
        return {"type": "tool_search_call", **call, "execution": "client", "arguments": act.input}
    group = {"namespace": act.tool.namespace} if act.tool.namespace else {}
    return {
        "type": "function_call", **call, "name": act.tool.name, "arguments": json.dumps(act.input), **group,
    }  # fmt: skip


def _item_events(act: Act, item: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the events that bring a message or a function's call piece by piece."""
    place = {"item_id": item["id"], "output_index": 0}
    if item["type"] == "message":
        part = {**place, "content_index": 0}
        opened = {**item, "content": [], "status": "in_progress"}
        yield "response.output_item.added", {"output_index": 0, "item": opened}
        yield "response.content_part.added", {**part, "part": {**item["content"][0], "text": ""}}
        for piece in _pieces(act.text):
            yield "response.output_text.delta", {**part, "delta": piece, "logprobs": []}
        yield "response.output_text.done", {**part, "text": act.text, "logprobs": []}
        yield "response.content_part.done", {**part, "part": item["content"][0]}
    elif item["type"] == "function_call":
        opened = {**item, "arguments": "", "status": "in_progress"}
        yield "response.output_item.added", {"output_index": 0, "item": opened}
        for piece in _pieces(item["arguments"]):
            yield "response.function_call_arguments.delta", {**place, "delta": piece}
        yield "response.function_call_arguments.done", {**place, "name": item["name"], "arguments": item["arguments"]}


# --- OpenAI's Chat Completions ---


def _chat(request: Request, act: Act, mark: str) -> Answer:
    usage = {"prompt_tokens": act.tokens, "completion_tokens": TOKENS, "total_tokens": act.tokens + TOKENS}
    head = {"id": f"chatcmpl-{mark}", "created": int(time.time()), "model": request.model}
    message: dict[str, Any]
    deltas: list[dict[str, Any]]
    if act.tool is None:
        stop, message = "stop", {"role": "assistant", "content": act.text}
        deltas = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in _pieces(act.text))]
    else:
        function = {"name": act.tool.name, "arguments": json.dumps(act.input)}
        call = {"id": f"call_{mark}", "type": "function", "function": function}
        stop, message = "tool_calls", {"role": "assistant", "content": None, "tool_calls": [call]}
        opened = {**call, "index": 0, "function": {**function, "arguments": ""}}
        pieces = [{"index": 0, "function": {"arguments": piece}} for piece in _pieces(function["arguments"])]
        deltas = [{**message, "tool_calls": [opened]}, *({"tool_calls": [piece]} for piece in pieces)]
    choice = {"index": 0, "message": message, "finish_reason": stop, "logprobs": None}
    chunk = {**head, "object": "chat.completion.chunk"}
    chunks = [
        *({**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas),
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}], "usage": usage},
    ]
    whole = {**head, "object": "chat.completion", "usage": usage, "choices": [choice]}
    return Answer(whole=whole, events=tuple(("", chunk) for chunk in chunks), end="data: [DONE]\n\n")


# --- Gemini's ---


def _gemini(_request: Request, act: Act, mark: str) -> Answer:
    total = act.tokens + TOKENS
    usage = {"promptTokenCount": act.tokens, "candidatesTokenCount": TOKENS, "totalTokenCount": total}

    def chunk(part: Mapping[str, Any], **ends: str) -> dict[str, Any]:
        """Return one chunk, which is a whole answer with a part of the content."""
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0, **ends}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake", "responseId": mark}

    if act.tool is not None:
        whole = chunk({"functionCall": {"name": act.tool.name, "args": act.input}}, finishReason="STOP")
        return Answer(whole=whole, events=(("", whole),))
    *first, last = _pieces(act.text or " ")
    chunks = [*(chunk({"text": piece}) for piece in first), chunk({"text": last}, finishReason="STOP")]
    return Answer(whole=chunk({"text": act.text}, finishReason="STOP"), events=tuple(("", each) for each in chunks))


WRITERS: Mapping[str, Callable[[Request, Act, str], Answer]] = {
    ANTHROPIC: _anthropic, RESPONSES: _responses, CHAT: _chat, GEMINI: _gemini,
}  # fmt: skip
