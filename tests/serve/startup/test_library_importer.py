"""A search imports numpy from one file of bytecode, unless a file of it has changed since or another numpy is meant."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deia.folders import PACKAGE
from deia.serve.startup.importer import bytecode_path
from deia.serve.startup.library_bytecode import is_fresh, keep_library
from deia.serve.startup.library_importer import kept_library

pytestmark = pytest.mark.slow

START = f"""
import sys
sys.path.insert(0, {str(Path(PACKAGE).parent)!r})
from deia.serve.startup.importer import Importer
from deia.serve.startup.library_importer import use
before = Importer("", {{}})
sys.meta_path.insert(0, before)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder from which modules are imported, with a library of four modules."""
    place = tmp_path / "place"
    library = place / "shelves"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text('"""Shelves."""\nfrom shelves import long, deep\n', encoding="utf-8")
    (library / "long.py").write_text('"""Long."""\nimport timeit\nLENGTH = 3\n', encoding="utf-8")
    (library / "deep").mkdir()
    (library / "deep" / "__init__.py").write_text("from shelves.deep.end import END\n", encoding="utf-8")
    (library / "deep" / "end.py").write_text("END = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(place))
    return place


@pytest.fixture
def package(tmp_path: Path) -> str:
    """Return a folder that stands for deia's own, beside which the bytecode is kept."""
    folder = tmp_path / "package"
    (folder / "serve" / "startup" / "__pycache__").mkdir(parents=True)
    return folder.as_posix()


def told(package: str, place: Path, code: str, *, library: str = "shelves") -> str:
    """Run a text in a process that imports a library from its bytecode."""
    path = bytecode_path(package, library)
    given = f"{START}sys.path.insert(0, {str(place)!r})\nuse({path!r}, {library!r}, after=before)\n{code}"
    done = subprocess.run([sys.executable, "-I", "-c", given], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


LOADERS = (
    "import shelves; names = ('shelves', 'shelves.long', 'shelves.deep', 'shelves.deep.end', 'timeit')\n"
    "print(*[type(sys.modules[name].__spec__.loader).__name__ for name in names])"
)


def test_a_library_and_what_it_imports_come_from_one_file_without_docstrings(place: Path, package: str) -> None:
    assert keep_library(package, "shelves")
    assert told(package, place, LOADERS).split() == ["LibraryImporter"] * 5
    code = "import shelves; print(shelves.long.LENGTH, shelves.deep.END, shelves.__doc__, shelves.long.__file__)"
    assert told(package, place, code) == f"3 1 None {place / 'shelves' / 'long.py'}"
    assert (
        told(package, place, "import shelves; from importlib import reload; print(reload(shelves.long).LENGTH)") == "3"
    )


def test_a_module_that_changed_is_read_anew_and_then_kept_anew(place: Path, package: str) -> None:
    assert keep_library(package, "shelves")
    (place / "shelves" / "long.py").write_text("import timeit\nLENGTH = 40\n", encoding="utf-8")
    assert not is_fresh(package, "shelves")
    assert told(package, place, "import shelves; print(shelves.long.LENGTH)") == "40"
    assert told(package, place, LOADERS).split()[1] == "SourceFileLoader"
    assert keep_library(package, "shelves")
    assert told(package, place, LOADERS).split() == ["LibraryImporter"] * 5


def test_a_module_that_is_gone_is_looked_for_as_ever(place: Path, package: str) -> None:
    assert keep_library(package, "shelves")
    (place / "shelves" / "long.py").unlink()
    code = "\ntry:\n    import shelves\nexcept ImportError as error:\n    print(error.name)\n"
    assert told(package, place, code) == "shelves"


@pytest.mark.parametrize("content", [b"", b"torn", b"i\x01\x00\x00\x00", b"N"])
def test_torn_bytecode_is_passed_over_and_written_anew(place: Path, package: str, content: bytes) -> None:
    path = Path(bytecode_path(package, "shelves"))
    path.write_bytes(content)
    assert kept_library(str(path)) == {}
    assert told(package, place, LOADERS).split() == ["SourceFileLoader"] * 5
    assert keep_library(package, "shelves")
    assert told(package, place, LOADERS).split() == ["LibraryImporter"] * 5


def test_bytecode_of_a_library_that_is_not_on_the_path_is_not_used(place: Path, package: str, tmp_path: Path) -> None:
    assert keep_library(package, "shelves")
    other = tmp_path / "other"
    (other / "shelves").mkdir(parents=True)
    (other / "shelves" / "__init__.py").write_text("print('the other')\n", encoding="utf-8")
    assert told(package, other, "import shelves") == "the other"


def test_a_library_that_is_missing_or_broken_has_no_bytecode(place: Path, package: str) -> None:
    assert not keep_library(package, "no_such_library")
    (place / "shelves" / "__init__.py").write_text("raise RuntimeError\n", encoding="utf-8")
    assert not keep_library(package, "shelves")
    assert not Path(bytecode_path(package, "shelves")).exists()


def test_the_working_folder_is_not_where_modules_are_listed_from(
    place: Path, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "cloned"
    trap.mkdir()
    for name in ("shelves", "json", "timeit"):
        (trap / f"{name}.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')\n", encoding="utf-8")
    monkeypatch.chdir(trap)
    assert keep_library(package, "shelves")
    monkeypatch.setattr(sys, "path", [*sys.path, ""])
    (place / "shelves" / "long.py").write_text("import timeit\nLENGTH = 40\n", encoding="utf-8")
    assert keep_library(package, "shelves")
    assert not (tmp_path / "sprung").exists()


def test_numpy_computes_as_ever(package: str) -> None:
    numpy = pytest.importorskip("numpy")
    assert keep_library(package)
    code = (
        "import numpy as np; a = np.arange(12, dtype='f4').reshape(3, 4)\n"
        "print(type(np.__spec__.loader).__name__, np.einsum('ij,kj->ik', a, a).tolist())\n"
        "print(float(np.linalg.norm(a)), np.ones(2))"
    )
    where = Path(numpy.__file__).parents[1]
    rows = numpy.arange(12, dtype="f4").reshape(3, 4)
    wanted = f"LibraryImporter {(rows @ rows.T).tolist()}\n{float(numpy.linalg.norm(rows))} {numpy.ones(2)}"
    assert told(package, where, code, library="numpy") == wanted
