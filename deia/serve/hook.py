"""What an agent host runs: `python -I -S hook.py HOST`. Compiled anew each time, so it is short; the rest is cached."""

import sys

if sys.platform == "win32":
    from nt import environ, stat  # `os` itself costs a millisecond

    KEY = str
else:
    from posix import environ, stat

    KEY = str.encode


def _set(name: str) -> str:
    value: str | bytes = environ.get(KEY(name), "")
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")


def _muted() -> bool:
    """Say whether DEIA_OFF or the file `off` in the state folder (see deia.settings.state_folder) silences deia."""
    if _set("DEIA_OFF") not in {"", "0"}:
        return True
    base = _set("XDG_STATE_HOME") or _set("LOCALAPPDATA") or (_set("HOME") or _set("USERPROFILE")) + "/.local/state"
    try:
        stat((_set("DEIA_STATE") or base + "/deia") + "/off")
    except (OSError, ValueError):
        return False
    return True


def main() -> None:
    """Answer one event; whatever happens, exit 0 with valid JSON or nothing."""
    if _muted():
        return
    try:
        from deia.serve.hook_run import run  # noqa: PLC0415 - a muted hook imports nothing

        run(sys.argv[1:])
    except Exception:  # noqa: BLE001, S110 - a broken installation must not break a conversation; deia doctor sees it
        pass


if __name__ == "__main__":
    _folder = __file__.replace("\\", "/").rpartition("/serve/")[0]
    for _name in ("deia", "deia.serve", "deia.serve.hosts", "deia.watch"):  # searching a crowded site-packages is slow
        _module = sys.modules[_name] = type(sys)(_name)
        _module.__path__ = [_folder + _name[4:].replace(".", "/")]
    sys.modules["__future__"] = _module  # every module asks it for `annotations`, which the parser already gave them
    vars(_module)["annotations"] = None
    main()
