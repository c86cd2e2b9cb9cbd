"""The file that an agent host runs: `python -I -S hook.py HOST`. Kept tiny, because it is compiled anew every time.

It looks for the mute switch before anything is imported, names the packages without searching for them, and leaves the
rest to `deia.serve.hook_run`, whose bytecode is cached.
"""

import sys

# Where a person's state folder may be, the first that is set; `deia.settings.state_folder` says the same.
PLACES = (
    ("DEIA_STATE", ""),
    ("XDG_STATE_HOME", "/deia"),
    ("LOCALAPPDATA", "/deia"),
    ("HOME", "/.local/state/deia"),
    ("USERPROFILE", "/.local/state/deia"),
)


def _muted() -> bool:
    if sys.platform == "win32":
        import nt as system  # noqa: PLC0415 - before anything else, and only there
    else:
        import posix as system  # noqa: PLC0415 - before anything else
    environ = {_text(name): _text(value) for name, value in system.environ.items()}
    if environ.get("DEIA_OFF", "0") not in ("", "0"):
        return True
    folder = next((environ[name] + below for name, below in PLACES if environ.get(name)), "")
    try:
        system.stat(folder + "/off")
    except (OSError, ValueError):
        return False
    return True


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")


def main() -> None:
    """Answer one event; whatever happens, exit 0 with valid JSON or nothing."""
    if not _muted():
        from deia.serve.hook_run import run  # noqa: PLC0415 - a muted hook imports nothing

        run(sys.argv[1:])


if __name__ == "__main__":
    _package = __file__.replace("\\", "/").rpartition("/serve/")[0]
    for _name in ("", ".serve", ".serve.hosts", ".watch"):
        _module = type(sys)("deia" + _name)
        _module.__path__ = [_package + _name.replace(".", "/")]
        sys.modules["deia" + _name] = _module
    main()
