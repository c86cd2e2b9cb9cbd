"""The merges of entities that a person accepted, in one of their own files, to which applying and undoing append."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deia import fast_json, files, spool
from deia.errors import QueryError
from deia.folders import is_trusted, library_folder
from deia.graph.merging import Merge, followed
from deia.typed_json import read_record

NAME = "merges.jsonl"
MOST_BYTES = 16_000_000


def applied_merges(root: str, environ: Mapping[str, str]) -> list[Merge]:
    """Return the merges that were not undone, the oldest first; broken lines are skipped."""
    applied: dict[str, Merge] = {}
    data = files.read(_path(root, environ), MOST_BYTES) if is_trusted(root, environ) else b""
    for line in (data or b"").decode("utf-8", "replace").split("\n"):
        try:
            written = fast_json.loads(line)
            if isinstance(written, dict) and "undo" in written:
                applied.pop(str(written["undo"]), None)
            elif isinstance(written, dict):
                merge = read_record(Merge, written)
                applied[merge.id] = merge
        except (ValueError, TypeError):
            continue
    return list(applied.values())


def merged_keys(merges: Sequence[Merge]) -> dict[str, list[str]]:
    """Return the keys of merged entities, each with its own name, and the type and name of what it is merged into."""
    into = dict(merge.keys for merge in merges)
    named = {merge.keys[1]: [merge.into_type, merge.into] for merge in merges}
    return {merge.keys[0]: [merge.name, *named[followed(into, merge.keys[0])]] for merge in merges}


def apply_merges(root: str, environ: Mapping[str, str], merges: Sequence[Merge], *, now: float) -> None:
    """Record the merges that a person accepted; raise QueryError if one cannot be written or leads in a circle."""
    for merge in merges:
        applied = applied_merges(root, environ)
        if followed(dict(earlier.keys for earlier in applied), merge.keys[1]) == merge.keys[0]:
            raise QueryError(f"{merge.into} is merged into {merge.name} already", fix="Take that back first.")
        _append(root, environ, {"at": spool.timestamp(now), **merge.values()})


def undo_merge(root: str, environ: Mapping[str, str], ident: str, *, now: float) -> Merge:
    """Undo a merge, by default the last one; raise QueryError if there is none with that id."""
    applied = [merge for merge in applied_merges(root, environ) if ident in ("", merge.id)]
    if not applied:
        raise QueryError(f"no merge {ident!r} stands" if ident else "no merge stands", fix="Type: deia graph merge")
    _append(root, environ, {"at": spool.timestamp(now), "undo": applied[-1].id})
    return applied[-1]


def _append(root: str, environ: Mapping[str, str], line: Mapping[str, object]) -> None:
    path = _path(root, environ)
    if not files.make_folders(library_folder(root, environ)) or not files.append(
        path, f"\n{fast_json.dumps(line)}\n".encode()
    ):
        raise QueryError("what you accepted cannot be written down", where=path, fix="Check its permissions.")


def _path(root: str, environ: Mapping[str, str]) -> str:
    return f"{library_folder(root, environ)}/{NAME}"
