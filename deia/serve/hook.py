"""The script that an agent host runs: `python -I -S hook.py HOST`. It is short since Python compiles it every time."""

import sys


def main() -> None:
    """Answer one event; whatever happens, exit with 0 and print valid JSON or nothing."""
    try:
        from deia.serve.hooks.start import start  # noqa: PLC0415 - a broken installation must not break a conversation

        start()
    except Exception:  # noqa: BLE001, S110 - deia doctor reports it
        pass


if __name__ == "__main__":
    try:
        from marshal import loads

        startup = __file__[:-7] + "startup/"
        names = vars(type(sys)("deia.serve.startup.boot"))
        groups = {}
        tag = f"{sys.implementation.cache_tag}-{sys.hexversion:x}"
        try:
            with open(f"{startup}__pycache__/boot.{tag}.group", "rb") as file:
                code, groups = loads(file.read())  # noqa: S302 - what `import` does with the files beside it
        except Exception:  # noqa: BLE001 - missing or torn
            with open(startup + "boot.py", "rb") as file:
                code = file.read()
        exec(code, names)  # noqa: S102 - as above
        names["prepare"](startup, groups)
    except Exception:  # noqa: BLE001, S110 - as in `main`
        pass
    main()
