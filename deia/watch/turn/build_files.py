"""The commands in a build file that is YAML: a task of a Taskfile, the tasks of a playbook, the steps of a workflow.

Read line by line, since the hook cannot afford a parser of YAML: what stands under a key for commands counts, on its
line, as a list or as a block. `deia scan` reads the same files whole, with a parser.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = frozenset("run script before_script after_script cmd cmds command commands shell raw".split())
BLOCKS = frozenset(("", "|", "|-", "|+", ">", ">-", ">+"))  # values that begin on the next line
FILE_MODULES = frozenset(("file", "win_file"))
GONE = "absent"
DELETING = frozenset("delete destroy purge truncate terminate drop rm rb wipe reset flushall --force --volumes".split())
NAMING = frozenset(("path", "dest", "name"))


def pipeline_deletions(text: str) -> Iterator[str]:
    """Yield those lines of a pipeline that delete or overwrite something; the others are its daily work."""
    for line in yaml_commands(text):
        words = line.lower().replace("=", " ").split()
        parts = (part for word in words for part in (word, word.partition("-")[0], word.rpartition("-")[2]))
        if not DELETING.isdisjoint(parts):
            yield line


def yaml_commands(text: str, hosts: str = "all") -> Iterator[str]:
    """Yield the commands in a YAML text, line by line, those for modules of Ansible that remove something included."""
    inside = -1  # the indentation of the key whose commands the lines below it are
    module, values = "", ""
    for line in text.splitlines():
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        is_item = bare.startswith("- ")
        if inside >= 0 and (indent > inside or (indent == inside and is_item)):
            name, value = _entry(bare)
            yield _unquoted(value if name in KEYS else bare.removeprefix("- "))
            continue
        inside = -1
        name, value = _entry(bare)
        if name in KEYS:
            if value in BLOCKS:
                inside = indent + 2 * is_item
            else:
                yield _unquoted(value)
        elif name and not value and not is_item:
            module, values = name, ""
        elif name in NAMING and not is_item:
            values = f"{name}={_unquoted(value)}"
        elif GONE in value and (name == "state" or "state" in value):
            yield _removal(module if name == "state" else name, values if name == "state" else value, hosts)


def task_block(text: str, name: str) -> str:
    """Return what stands below a key of a YAML text, which is a task's name; "" if there is none."""
    kept: list[str] = []
    begins = -1
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if begins < 0:
            begins = indent if indent and line.strip().rstrip(":").strip("'\"") == name and line.endswith(":") else -1
        elif line.strip() and indent <= begins:
            break
        else:
            kept.append(line)
    return "\n".join(kept)


def _entry(bare: str) -> tuple[str, str]:
    """Return the key and the value of a line, the key without what stands before its last dot; "" for no key."""
    key, colon, value = bare.removeprefix("- ").partition(":")
    is_key = colon and value[:1] in {"", " "} and " " not in key
    return (key.strip("'\"").rpartition(".")[2], value.strip()) if is_key else ("", "")


def _unquoted(value: str) -> str:
    return value[1:-1] if value[:1] in {"'", '"'} and value[-1:] == value[:1] and len(value) > 1 else value


def _removal(module: str, values: str, hosts: str) -> str:
    """Return a command for what a module of Ansible removes: `ssh HOSTS rm -rf PATH`, or the module with its values."""
    path = (values.partition("path=")[2] or values.partition("path:")[2]).split()[:1]
    if module in FILE_MODULES and path:
        return f"ssh {hosts} rm -rf {path[0].rstrip(',}')}"
    shown = "".join(char for char in values if char not in "'\"\\{}")
    return f"ansible {hosts} -m {module} -a '{shown} state=absent'"
