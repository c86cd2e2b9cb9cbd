"""The script that an agent host runs, through the launcher. It is short since Python compiles it every time."""

import sys


def main() -> None:
    """Answer one event; whatever happens, exit with 0 and print valid JSON or nothing. The launcher is told by a 70."""
    try:
        from deia.serve.hooks.start import start  # noqa: PLC0415 - a broken installation must not break a conversation

        start()
    except Exception:  # noqa: BLE001 - deia doctor reports it
        if "launched" in sys._xoptions:  # noqa: SLF001 - the documented place of -X options
            sys.exit(70)


if __name__ == "__main__":
    try:
        from marshal import loads

        startup = __file__.replace("\\", "/").rpartition("/serve/")[0] + "/serve/startup/"
        names = vars(type(sys)("deia.serve.startup.boot"))
        groups = {}
        tag = f"{sys.implementation.cache_tag}-{sys.hexversion:x}"
        try:
            with open(f"{startup}__pycache__/boot.{tag}.group", "rb", 0) as file:
                code, groups = loads(file.read())  # noqa: S302 - what `import` does with the files beside it
        except Exception:  # noqa: BLE001 - missing or torn
            with open(startup + "boot.py", "rb", 0) as file:
                code = file.read()
        exec(code, names)  # noqa: S102 - as above
        names["prepare"](startup, groups)
    except Exception:  # noqa: BLE001, S110 - as in `main`
        pass
    main()
