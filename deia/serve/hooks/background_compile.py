"""A compile that a hook starts and does not wait for: `python -I background_compile.py MARKER ROOT…`.

It prints nothing, encodes as much as takes some seconds, and loads no model that a commons names. Errors go to the
ledger. At the end it writes to the marker, by which hooks know that it was not killed. It is run as a file, so that
neither the working folder nor the environment can add modules.
"""

from __future__ import annotations

import os
import sys
import time

FORGOTTEN_AFTER = 86_400.0  # seconds


def main(marker: str, roots: list[str]) -> int:
    """Compile the commons at each root; return 2 if one of them cannot be compiled, else 0."""
    from deia import files, spool  # noqa: PLC0415 - only the code below tells Python where deia is
    from deia.compile.abandoned import remove_abandoned  # noqa: PLC0415 - as above
    from deia.compile.compiler import compile_commons  # noqa: PLC0415 - as above
    from deia.errors import DeiaError  # noqa: PLC0415 - as above
    from deia.folders import events_folder  # noqa: PLC0415 - as above
    from deia.problems import SettingsError  # noqa: PLC0415 - as above
    from deia.serve.startup.bytecode import keep_bytecode  # noqa: PLC0415 - as above
    from deia.settings import resolve  # noqa: PLC0415 - as above

    keep_bytecode()
    code = 0
    for root in roots:
        try:
            compile_commons(root, environ=os.environ, aside=True)
        except DeiaError as error:
            code = 2
            try:
                telemetry = resolve(root, environ=os.environ).telemetry
            except SettingsError:
                telemetry = os.environ.get("DEIA_TELEMETRY", "full")
            fields = {"host": "compile", "error": str(error)[:500], "where": root}
            spool.append(events_folder(root, os.environ), "error", fields, telemetry=telemetry)
    files.append(marker, b"done\n")
    remove_markers(files.parent(marker), now=time.time())
    remove_abandoned(os.environ, now=time.time())
    return code


def remove_markers(folder: str, *, now: float) -> None:
    """Remove the markers of compiles that nobody asks about any more."""
    from deia import files  # noqa: PLC0415 - as in `main`

    for path in [f"{folder}/{name}" for name in files.names(folder)]:
        stamp = files.stamp(path)
        if stamp is not None and now - stamp[1] / 1e9 > FORGOTTEN_AFTER:
            files.remove(path)


if __name__ == "__main__":
    sys.path.append(os.path.abspath(__file__).replace("\\", "/").rpartition("/deia/serve/")[0])
    sys.exit(main(sys.argv[1], sys.argv[2:]))
