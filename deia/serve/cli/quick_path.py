"""The entry point of the command line: an ordinary search is answered without click, everything else by click.

Importing click takes three times as long as a whole search. For the same reason the process ends with `os._exit`.
"""

from __future__ import annotations

import gc
import os
import sys

from deia.errors import DeiaError, QueryError
from deia.serve.cli import output
from deia.serve.cli.flags import COMPLETION, read_search
from deia.serve.startup.importer import remove


def answer() -> int:
    """Run the command line and exit."""
    output.prepare()
    code = _guarded(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            code = output.BROKEN_PIPE
    os._exit(code)


def _guarded(arguments: list[str]) -> int:
    """Run a command line and return its exit code; expected errors become messages."""
    try:
        return run(arguments)
    except DeiaError as error:
        output.complain_of(error)
    except KeyboardInterrupt:
        return output.INTERRUPTED
    except BrokenPipeError:
        return output.BROKEN_PIPE
    except OSError as error:
        output.complain_of(_described(error))
    return output.BROKEN


def _described(error: OSError) -> DeiaError:
    """Return an error of the system as one that names the file and what to do next."""
    where = error.filename if isinstance(error.filename, str) else ""
    fix = (
        f"To see its permissions, type: ls -ld {where}" if where else "Try again; then check the disk and permissions."
    )
    return DeiaError((error.strerror or str(error)).lower(), where=where, fix=fix)


SELDOM = 100_000  # objects more before circles are looked for: hardly a search makes as many, and looking is 3 % of it
PLACES = {"--config": "DEIA_CONFIG", "--data": "DEIA_STATE", "--docs": "DEIA_DOCS"}
IS_THERE = {
    "--config": os.path.isfile,
    "--data": lambda path: os.path.isdir(path) or not os.path.exists(path),  # it is made where needed
    "--docs": os.path.isdir,
}
DOCUMENTS = (".txt", ".rst", ".adoc", ".org", ".html", ".htm", ".pdf", ".docx")  # which people take for notes


def take_places(arguments: list[str]) -> list[str]:
    """Return a command line without the options that name files and folders, which become variables.

    They may stand before or after the command's name. Raise QueryError if one names nothing that there is, or if
    two name what is to be searched.
    """
    if not any(argument.partition("=")[0] in PLACES for argument in arguments):
        return arguments
    rest = iter(arguments[: (*arguments, "--").index("--")])
    kept = []
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name not in PLACES:
            kept.append(argument)
            continue
        value = value if equals else next(rest, "")
        if not (value and IS_THERE[name](value)):
            raise QueryError(f"{name} {value}: there is no such {'file' if name == '--config' else 'folder'}")
        os.environ[PLACES[name]] = os.path.abspath(value).replace("\\", "/")
        if name == "--docs":
            os.environ["DEIA_COMMONS"] = os.environ["DEIA_DOCS"]
            _look_at_notes(value, arguments)
    return kept + arguments[(*arguments, "--").index("--") :]


def _look_at_notes(folder: str, arguments: list[str]) -> None:
    """Say what of a folder of notes is not read; raise QueryError if nothing is, or if `--commons` is given, too."""
    from deia.commons.notes.conventions import ENDINGS  # noqa: PLC0415 - few people search a folder like this
    from deia.commons.notes.list_notes import find_notes  # noqa: PLC0415 - likewise
    from deia.folders import is_commons  # noqa: PLC0415 - likewise

    if any(argument.partition("=")[0] == "--commons" for argument in arguments[: (*arguments, "--").index("--")]):
        raise QueryError("--docs and --commons both say what is searched", fix="Leave one of them out.")
    found = find_notes(folder, "")
    advice = f"To have other files searched, type: deia ingest {folder}"
    if not (found.notes or is_commons(folder)):
        fix = f"Notes are {', '.join(ENDINGS)}. {advice}"
        raise QueryError(f"--docs {folder}: there is nothing to read", fix=fix)
    passed = {ending: found.left_out[ending] for ending in DOCUMENTS if found.left_out[ending]}
    if passed:
        listed = ", ".join(f"{count} {ending}" for ending, count in passed.items())
        sys.stderr.write(f"deia: --docs {folder}: not read, since they are no notes: {listed}. {advice}\n")


def _spare_datetime() -> None:
    """Let the types in C stand for `datetime`, whose import, for tantivy, would take a quarter of a bare start.

    Nothing is missing from them, and from Python 3.12 on `datetime` itself is no more than these types.
    """
    if sys.version_info < (3, 12) and sys.implementation.name == "cpython":
        import _datetime  # type: ignore[import-not-found]  # noqa: PLC0415 - only here

        sys.modules.setdefault("datetime", _datetime)


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code; raise DeiaError if the command failed."""
    if "#" in arguments:  # a pasted comment, which zsh passes on when it is typed
        arguments = arguments[: arguments.index("#")]
    arguments = take_places(arguments)
    options = None if COMPLETION in os.environ else read_search(arguments)
    if options is not None:
        gc.set_threshold(SELDOM)
        _spare_datetime()
        from deia.serve.cli.quick_search import search  # noqa: PLC0415 - `deia uninstall` works without its libraries

        return search(**options)
    remove()  # the quick importer is not safe in a server, which imports in several threads
    from deia.serve.cli.commands_table import run_cli  # noqa: PLC0415 - click costs three times a whole search

    return run_cli(arguments)
