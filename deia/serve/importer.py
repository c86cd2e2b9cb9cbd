"""Imports modules a group at a time, from one file of bytecode each: half of what importing them costs.

`deia.serve.bytecode` writes the files. What is missing, torn, or older than its source is left to the import
system, which does the same at its own price. Runs before anything else of the hook does, so it imports nothing of deia.
"""

import sys
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

if sys.platform == "win32":
    from nt import stat  # `os` itself costs a millisecond
else:
    from posix import stat

# What is needed without others, or by only some calls.
ALONE = (
    "spool match.static watch.meaning watch.nearness watch.written watch.changed watch.signs serve.hook_start"
    " serve.hosts.saying serve.hosts.claude_code serve.hosts.codex serve.hosts.copilot serve.hosts.vscode"
    " serve.hosts.gemini serve.hosts.cursor serve.hosts.generic serve.hosts.opencode serve.hosts.cline"
    " serve.hosts.windsurf serve.hosts.amp serve.hosts.droid serve.hosts.kiro"
)
# Modules that are needed together, each after what it imports; a test holds them against what is really imported.
GROUPS = {
    **{name: name for name in ALONE.split()},
    "base": "records errors files freshness folders fast_json",
    "quiet": "text watch.artefact watch.gate watch.memory serve.hosts.occasion serve.hook_run",
    "patterned": "watch.regexes watch.patterned",
    "phrased": "watch.stances watch.languages watch.regions watch.phrases watch.speech watch.phrased",
    "judging": "watch.command watch.git_lines watch.globs watch.places watch.commands watch.worded"
    " watch.confirm watch.marks watch.judge watch.inline watch.running watch.reading"
    " watch.mildness watch.watcher serve.hook_once serve.hook_judged",
    "stance": "watch.plans watch.stance_form watch.stance_model watch.stance",
    "shell": "watch.words watch.bash watch.expansion watch.programs watch.inert watch.prefixes watch.feeders"
    " watch.windows watch.wrappers watch.shell",
    "sql": "watch.sql watch.databases",
    "snippets": "watch.leads watch.snippets",
    "answers": "watch.answers watch.escalation",
    "speaking": "watch.inject serve.hook_answer",
    "silences": "watch.allow watch.mutes watch.exceptions serve.hook_silences",
    "search": "serve.output search.columns search.wording search.quoting serve.flags knowledge settings match.terms"
    " match.keyword search.excerpt search.terminal search.yaml_text search.render serve.looks librarian"
    " serve.searching match.semantic search.answer search.telling search.commands search.kinds"
    " search.rank match.fuzzy search.concepts search.question search.trained search.retrieve search.names"
    " search.nearby search.affinity search.usual search.literals search.verdict search.reply search.dates"
    " search.standing search.syntax search.understood search.views search.ask match.lists match.vectors"
    " search.catalog serve.command_line",
}  # fmt: skip


class Importer:
    """A finder of the import system: whoever asks for a module of a group gets the group."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._groups = {f"deia.{name}": group for group, names in GROUPS.items() for name in names.split()}
        self._loaded: set[str] = set()

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> "Any":
        """Give the specification of a module that came with its group, or None where the import system must look."""
        group = self._groups.get(name)
        if group is None or group in self._loaded:
            return None
        self._loaded.add(group)
        try:  # noqa: SIM105 - `contextlib` costs more than all of this
            self._load(bytecode_path(self._package, group))
        except Exception:  # noqa: BLE001, S110 - torn or missing: as the module's docstring says
            pass
        module = sys.modules.get(name)
        specify: Any = type(sys.__spec__)
        return specify(name, _Loaded(module)) if module else None

    def _load(self, path: str) -> None:
        with open(path, "rb") as file:
            modules = loads(file.read())  # noqa: S302 - what `import` does with the files beside it
        for name, size, changed, code in modules:
            if name in sys.modules:
                continue
            above, _, last = name.rpartition(".")
            if above not in sys.modules:
                __import__(above)
            source = f"{self._package}{name[4:].replace('.', '/')}.py"
            found = stat(source)
            if (found.st_size, found.st_mtime_ns) != (size, changed):
                return
            module = sys.modules[name] = type(sys)(name)
            module.__file__ = source
            try:
                exec(code, vars(module))  # noqa: S102 - as above
            except BaseException:
                del sys.modules[name]
                raise
            setattr(sys.modules[above], last, module)


class _Loaded:
    """Gives the import system a module that is there already."""

    def __init__(self, module: "ModuleType") -> None:
        self._module = module

    def create_module(self, _spec: object) -> "ModuleType":
        """Give the module."""
        return self._module

    def exec_module(self, _module: object) -> None:
        """Do nothing: it ran with its group."""


def bytecode_path(package: str, group: str) -> str:
    """Give the file that holds a group's bytecode for this very interpreter."""
    made_for = f"{sys.implementation.cache_tag}-{sys.hexversion:x}"
    return f"{package}/serve/__pycache__/{group}.{made_for}.group"


def install(package: str) -> None:
    """Have the import system ask here first, in a process that imports in one thread only."""
    sys.meta_path.insert(0, Importer(package))


def remove() -> None:
    """Leave all that is still to be imported to the import system."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, Importer)]
