"""Run one test module of the standard library and write down who calls whom; a subprocess of `graph.py`.

    python -X frozen_modules=off bench/graph_traced.py test.test_json SECONDS OUTPUT

It writes JSON: for each call of a Python function the file, qualified name and line of the caller, and the file and
qualified name of the callee; for each call of anything else the caller alone, so that it is known which lines ran.
"""

from __future__ import annotations

import inspect
import json
import os
import signal
import sys
import threading
import unittest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType, FrameType

UNOBSERVABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
CALLS: set[tuple[CodeType, int, CodeType | None]] = set()


def note(frame: FrameType, event: str, _: object) -> None:
    """Keep a call; a generator is entered by whoever advances it, so the line alone is kept of that."""
    if event == "call":
        caller = frame.f_back
        if caller is not None:
            CALLS.add((caller.f_code, caller.f_lineno or 0, frame.f_code))
    elif event == "c_call":
        CALLS.add((frame.f_code, frame.f_lineno or 0, None))


def name_of(code: CodeType | None) -> list[Any] | None:
    """Return where a function is, and its name with those of the functions and classes around it."""
    if code is None:
        return None
    is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
    return [code.co_filename, code.co_qualname, is_function, bool(code.co_flags & UNOBSERVABLE)]


def main(module: str, seconds: str, output: str) -> None:
    """Run the tests for so many seconds at most, and write what was called."""
    from test import support  # noqa: PLC0415 - the standard library's own, which not every installation has

    support.use_resources = []
    tests = unittest.defaultTestLoader.loadTestsFromName(module)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(int(seconds))
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        unittest.TextTestRunner(stream=open(os.devnull, "w", encoding="utf-8")).run(tests)  # noqa: SIM115
    except BaseException as error:  # noqa: BLE001 - whatever a test does, what was called until then counts
        print(module, type(error).__name__, file=sys.stderr)
    signal.alarm(0)
    sys.setprofile(None)
    threading.setprofile(None)
    rows = [(name_of(caller), line, name_of(callee)) for caller, line, callee in CALLS.copy()]
    with open(output, "w", encoding="utf-8") as file:
        json.dump(rows, file)
    os._exit(0)


main(*sys.argv[1:])
