"""Imports deia's modules in groups, each from one bytecode file, at half the cost of importing the modules one by one.

A group is a module that some function imports, with everything that it imports in turn. `deia.serve.startup.bytecode`
finds the groups in the sources and writes their files. If a group is missing, torn or older than its sources, Python's
import system imports its modules, more slowly. This runs before everything else, so it imports nothing of deia.
"""

import sys
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
    from typing import Any, TypeAlias

    Groups: TypeAlias = dict[str, Any]  # the content of bytecode files, by group, and the paths of modules in C

if sys.platform == "win32":
    from nt import stat  # `os` itself costs a millisecond
else:
    from posix import stat


EXTENSIONS = "extensions"
STARTED = "deia.serve.hooks.start"  # what the hook's script imports first


class Importer:
    """A finder and loader for the import system; it imports a whole group as soon as its head is imported."""

    def __init__(self, package: str, groups: "Groups") -> None:
        self._package = package
        self._groups = groups

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> "ModuleSpec | None":
        """Return the specification of a module that came with its group, or None for any other module."""
        if name[:5] != "deia.":
            return self._extension(name)
        try:  # noqa: SIM105 - `contextlib` costs more than all of this
            self.load(name)
        except Exception:  # noqa: BLE001, S110 - torn or missing: as the module's docstring says
            pass
        module = sys.modules.get(name)
        specify: Any = type(sys.__spec__)
        return specify(name, self, is_package=hasattr(module, "__path__")) if module else None

    def create_module(self, spec: "ModuleSpec") -> "ModuleType":
        """Return a module, which ran with its group."""
        return sys.modules[spec.name]

    def exec_module(self, _module: object) -> None:
        """Do nothing, since the module ran with its group."""

    def _extension(self, name: str) -> "ModuleSpec | None":
        """Return the specification of a module in C, so that no folder is searched for it; None for any other."""
        path = self._groups.get(EXTENSIONS, {}).get(name)
        if not path or not stat(path):
            return None
        specify = type(sys.__spec__)
        loader = sys.modules["_frozen_importlib_external"].ExtensionFileLoader
        return specify(name, loader(name, path), origin=path)

    def load(self, name: str) -> None:
        """Import a module with its group, or make a package; whatever fails is raised."""
        content = self._groups.get(name[5:])
        if content is None:
            try:
                file = open(bytecode_path(self._package, name[5:]), "rb")  # noqa: SIM115 - closed below
            except OSError:
                self._load_package(name)
                return
            with file:
                content = file.read()
        modules = loads(content)  # noqa: S302 - what `import` does with the files beside it
        for member, stamps, code in modules:
            if member not in sys.modules and not self._run(member, stamps, code):
                return

    def _load_package(self, name: str) -> None:
        """Make a package of deia, whose `__init__.py` is empty."""
        folder = self._package + name[4:].replace(".", "/")
        if name in sys.modules or stat(f"{folder}/__init__.py").st_size:
            return
        above, _, last = name.rpartition(".")
        if above not in sys.modules:
            self._load_package(above)
        package = sys.modules[name] = type(sys)(name)
        package.__path__ = [folder]
        package.__package__ = name
        setattr(sys.modules[above], last, package)

    def _run(self, name: str, stamps: "tuple[tuple[str, int, int], ...]", code: "CodeType") -> bool:
        """Run a module's bytecode; return False if its source or its tables have changed since."""
        for path, size, changed in stamps:
            status = stat(self._package + path)
            if (status.st_size, status.st_mtime_ns) != (size, changed):
                return False
        above, _, last = name.rpartition(".")
        if above not in sys.modules:
            self._load_package(above)
        module = sys.modules[name] = type(sys)(name)
        module.__file__ = self._package + stamps[0][0]
        try:
            exec(code, vars(module))  # noqa: S102 - as above
        except BaseException:
            del sys.modules[name]
            raise
        setattr(sys.modules[above], last, module)
        return True


def bytecode_path(package: str, group: str) -> str:
    """Return the file that holds a group's bytecode for this interpreter version; a group is named by its head."""
    made_for = f"{sys.implementation.cache_tag}-{sys.hexversion:x}"
    return f"{package}/serve/startup/__pycache__/{group}.{made_for}.group"


def install(package: str, groups: "Groups | None" = None) -> None:
    """Put the importer in front of all finders; only for a process that imports in one thread.

    `groups` holds the content of bytecode files that were read already, by group, and the paths of modules in C.
    """
    importer = Importer(package, groups or {})
    sys.meta_path.insert(0, importer)
    if groups:
        importer.load(STARTED)


def remove() -> None:
    """Leave all further imports to the import system."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, Importer)]
