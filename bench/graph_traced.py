"""Run one test module of the standard library and write down who calls whom; a subprocess of `graph.py`.

    python -X frozen_modules=off bench/graph_traced.py test.test_json SECONDS OUTPUT

It writes JSON: for each call of a Python function its caller with the line, the callee, and how it came about; for a
call of anything else the caller alone, so that it is known which lines ran.
"""

from __future__ import annotations

import dis
import importlib
import inspect
import itertools
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
WRITTEN, THROUGH, IMPLICIT = "written", "through C", "implicit"  # f(); sorted(key=f); a + b, with a, a.property
CALL_CODES = frozenset(number for number, name in enumerate(dis.opname) if name.startswith(("CALL", "PRECALL")))
CALLS: set[tuple[CodeType, int, CodeType | None, bool]] = set()
IN_C: set[int] = set()  # frames that have called a function that is none of Python


def note(frame: FrameType, event: str, _: object) -> None:
    """Keep a call with the instruction of the caller."""
    if event == "call":
        caller = frame.f_back
        if caller is not None:
            CALLS.add((caller.f_code, caller.f_lasti, frame.f_code, id(caller) in IN_C))
    elif event == "c_call":
        IN_C.add(id(frame))
        CALLS.add((frame.f_code, frame.f_lasti, None, True))
    elif event != "return":
        IN_C.discard(id(frame))


def described(caller: CodeType, at: int, callee: CodeType | None, through: bool) -> list[Any]:  # noqa: FBT001
    """Return a call as it is written down: caller, line, callee, and how it came about."""
    while at and not caller.co_code[at]:  # what an instruction keeps behind it
        at -= 2
    lines = [*itertools.islice(caller.co_positions(), at // 2, at // 2 + 1)]
    is_call = caller.co_code[at] in CALL_CODES
    how = THROUGH if through else WRITTEN if is_call else IMPLICIT
    return [name_of(caller), lines[0][0] if lines else 0, name_of(callee), how]


def name_of(code: CodeType | None) -> list[Any] | None:
    """Return the file and name of code, whether it is a function, and whether it is entered by advancing it."""
    if code is None:
        return None
    is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
    return [code.co_filename, code.co_qualname, is_function, bool(code.co_flags & UNOBSERVABLE)]


def main(module: str, seconds: str, output: str) -> None:
    """Run the tests for so many seconds at most, and write what was called."""
    support: Any = importlib.import_module("test.support")  # which not every installation has

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
    rows = [described(*call) for call in CALLS.copy() if 0 <= call[1] < len(call[0].co_code)]
    with open(output, "w", encoding="utf-8") as file:
        json.dump(rows, file)
    os._exit(0)


main(*sys.argv[1:])
