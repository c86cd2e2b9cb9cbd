"""A compile that a hook starts and does not wait for: `python -I background_compile.py ROOT…`; it says nothing.

It does what a search would do by itself: it reads and writes, and loads no model that a commons names. What goes wrong
stands in the ledger. Started as a file, so that neither the folder nor the environment it is started in brings modules.
"""

from __future__ import annotations

import os
import sys


def main(roots: list[str]) -> int:
    """Compile the commons at each root; give 2 where one could not be."""
    from deia import spool  # noqa: PLC0415 - where deia is, is known only once this file runs
    from deia.compile.compiler import compile_commons  # noqa: PLC0415 - as above
    from deia.errors import DeiaError, SettingsError  # noqa: PLC0415 - as above
    from deia.folders import events_folder  # noqa: PLC0415 - as above
    from deia.serve.startup.bytecode import keep_bytecode  # noqa: PLC0415 - as above
    from deia.settings import resolve  # noqa: PLC0415 - as above

    keep_bytecode()
    code = 0
    for root in roots:
        try:
            compile_commons(root, environ=os.environ)
        except DeiaError as error:
            code = 2
            try:
                telemetry = resolve(root, environ=os.environ).telemetry
            except SettingsError:
                telemetry = os.environ.get("DEIA_TELEMETRY", "full")
            told = {"host": "compile", "error": str(error)[:500], "where": root}
            spool.append(events_folder(root, os.environ), "error", told, telemetry=telemetry)
    return code


if __name__ == "__main__":
    sys.path.append(os.path.abspath(__file__).replace("\\", "/").rpartition("/deia/serve/")[0])
    sys.exit(main(sys.argv[1:]))
