"""Prepares the hook's process for deia's modules: `hook.py` runs it from its bytecode, or from this source.

The bytecode comes in one file with the groups of modules that every event needs (`deia.serve.startup.bytecode`).
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def prepare(startup: str, groups: "dict[str, Any]") -> None:
    """Have deia's modules imported from the package that `startup` is in; `groups` holds bytecode that was read."""
    package = startup.rpartition("/serve/")[0]
    module: Any = type(sys)("deia")
    sys.modules["deia"] = module
    module.__path__ = [package]  # searching a large site-packages is slow
    module.annotations = None
    sys.modules["__future__"] = module  # every module imports `annotations` from it, which only the parser needs
    try:
        from marshal import loads  # noqa: PLC0415 - a broken installation must not break a conversation

        ((*_, code),) = loads(groups["importer"])  # noqa: S302 - what `import` does with the files beside it
        module = sys.modules["deia.serve.startup.importer"] = type(sys)("deia.serve.startup.importer")
        exec(code, vars(module))  # noqa: S102 - as above
        module.install(package, groups)
    except Exception:  # noqa: BLE001, S110 - then modules are imported in the ordinary, slower way
        pass
