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
    package = __file__.replace("\\", "/").rpartition("/serve/")[0]
    module = sys.modules["deia"] = type(sys)("deia")
    module.__path__ = [package]  # searching a large site-packages is slow
    sys.modules["__future__"] = module  # every module imports `annotations` from it, which only the parser needs
    vars(module)["annotations"] = None
    try:
        from marshal import loads

        made_for = f"{sys.implementation.cache_tag}-{sys.hexversion:x}"
        with open(f"{package}/serve/startup/__pycache__/importer.{made_for}.group", "rb") as file:
            ((*_, code),) = loads(file.read())  # noqa: S302 - what `import` does with the files beside it
        module = sys.modules["deia.serve.startup.importer"] = type(sys)("deia.serve.startup.importer")
        exec(loads(code), vars(module))  # noqa: S102, S302 - as above
        module.install(package)
    except Exception:  # noqa: BLE001, S110 - then modules are imported in the ordinary, slower way
        pass
    main()
