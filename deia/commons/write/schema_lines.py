"""The lines by which an editor finds the JSON schema of a trigger file or of its cases.

`deia init` copies the schemas into `triggers/schema/`, so that the lines work for everybody, without a network.
"""

from __future__ import annotations

import os

SCHEMAS = tuple(f"triggers/schema/{name}.json" for name in ("cases", "index", "triggers"))


def schema_line(root: str, path: str) -> str:
    """Return the first line of a new file in `triggers/`, or an empty text if the commons has no schemas."""
    name = "cases" if ".cases." in path else "triggers"
    exists = os.path.isfile(os.path.join(root, f"triggers/schema/{name}.json"))
    return f"# yaml-language-server: $schema=schema/{name}.json\n" if exists else ""
