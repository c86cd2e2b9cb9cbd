from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.graph.python_modules import module_names


@pytest.mark.parametrize(
    ("path", "beside", "name"),
    [
        ("json/decoder.py", ["json/__init__.py"], "json.decoder"),
        ("json/__init__.py", [], "json"),
        ("project/shop/cart/item.py", ["project/shop/__init__.py", "project/shop/cart/__init__.py"], "shop.cart.item"),
        ("src/shop/cart.py", ["src/shop/__init__.py"], "shop.cart"),
        ("src/space/shop/cart.py", [], "space.shop.cart"),
        ("lib/python3.11/os.py", [], "os"),
        ("setup.py", [], "setup"),
        ("typings/shop.pyi", [], "typings.shop"),
        ("tools/make-all.py", [], ""),
        ("notes.md", [], ""),
    ],
)
def test_a_module_is_named_from_the_outermost_package_or_behind_the_root(
    path: str, beside: list[str], name: str
) -> None:
    assert module_names([path, *beside]).get(path, "") == name
    assert module_names([path], [*beside, "notes/__init__.md"]) == ({path: name} if name else {})


@given(st.text(alphabet="ab/._-", max_size=20))
def test_whatever_a_path_is_its_name_can_be_imported_or_is_none(path: str) -> None:
    name = module_names([f"{path}.py"]).get(f"{path}.py", "")
    assert not name or all(part.isidentifier() for part in name.split("."))
