"""What a wheel brings along of the starter, so that the first compile of an installation need not make it.

The build of the wheel runs this; nothing else does. What is read of the starter is the same everywhere. Its lowered
triggers contain the code of patterns, which only an interpreter like the one that built the wheel can use; others lower
them once.
"""

from __future__ import annotations

import os
import tempfile

from deia.commons.layers.merge_layers import load_starter
from deia.compile.ready_starter import NAME as READING
from deia.compile.ready_starter import keep_starter, starter_token
from deia.compile.sources import code_contents, read_sources
from deia.compile.triggers.build_artefact import compile_triggers
from deia.compile.triggers.units import NAME as LOWERED
from deia.compile.triggers.units import STARTER_ORIGIN, Units, shipped_token, write_units
from deia.settings import DEFAULTS


def make_ready(folder: str) -> None:
    """Write what was read of the starter, and its lowered triggers, into a folder."""
    starter, units = load_starter(), Units()
    with tempfile.TemporaryDirectory() as project:
        sources = read_sources(project, {}, starter=True, trusted=False)
    compile_triggers(
        starter.triggers, {}, settings=DEFAULTS.by_name(), identity={},
        units_of=lambda origin: units if origin == STARTER_ORIGIN else Units(),
    )  # fmt: skip
    keep_starter(os.path.join(folder, READING), starter, starter_token(sources, code_contents))
    write_units(os.path.join(folder, LOWERED), shipped_token(), units.used)
