"""Calibrate the `meaning` clauses of the starter commons once, so that nobody who installs deia waits for it.

    python tools/starter_thresholds.py

Writes deia/models/starter.thresholds, one line per clause: with spaCy's tables for word forms, if they are installed,
and without. A compile reuses a clause if nothing that its thresholds depend on has changed (`print`), and calibrates
all others. Run it whenever the starter's `meaning` clauses or their cases changed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from deia import files
from deia.commons.layers.merge_layers import load_layered
from deia.compile.triggers.calibration import SHIPPED, calibrated
from deia.folders import STARTER

WITHOUT = "--without-tables"


def reached() -> list[str]:
    """Return the result of the calibration, one line of JSON per clause."""
    commons = load_layered(STARTER, starter=True, trusted=True)
    return [json.dumps(one.values()) for one in calibrated(commons.triggers, commons.cases)]


def main() -> None:
    """Calibrate with the tables and without, and write the file."""
    if WITHOUT in sys.argv:
        sys.modules["spacy_lookups_data"] = None  # type: ignore[assignment]  # an import of it fails, as where it is not installed
        print(*reached(), sep="\n")
        return
    began = time.perf_counter()
    bare = subprocess.run(  # noqa: S603 - this very file
        [sys.executable, __file__, WITHOUT], capture_output=True, text=True, check=True
    )
    lines = sorted({*reached(), *bare.stdout.splitlines()})
    files.replace(SHIPPED, ("\n".join(lines) + "\n").encode())
    print(f"{len(lines)} clauses in {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
