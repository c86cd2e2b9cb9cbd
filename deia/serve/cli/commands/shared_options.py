"""What several commands share: where the commons is, and the flags that name it and the form of the output."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any, TypeVar

import click

from deia.errors import CommonsError
from deia.folders import find_commons, is_packaged
from deia.serve.cli import output
from deia.serve.cli.flags import COMMONS

if TYPE_CHECKING:
    Decorated = TypeVar("Decorated", bound=Callable[..., Any])


PATIENCE = 1.0  # seconds after which somebody wants to know what is going on


def _keep_commons(ctx: click.Context, _option: click.Parameter, value: str) -> None:
    """Take the flag also after the command's name, where people write it."""
    if value:
        ctx.find_root().obj = value


commons_option = click.option(
    COMMONS.name, metavar=COMMONS.metavar, default="", help=COMMONS.help, expose_value=False, callback=_keep_commons
)


def form_option(*forms: str) -> Callable[[Decorated], Decorated]:
    """Give the flag `--format`, the first form being the default."""
    return click.option(
        "--format", "form", type=click.Choice(forms), default=forms[0], show_default=True, help="How to show it."
    )


def given_commons() -> str:
    """Give the folder that `--commons` named, as an absolute path, or the empty text."""
    given: str = click.get_current_context().find_root().obj or ""
    return os.path.abspath(given).replace("\\", "/") if given else ""


def here() -> str:
    """Give the working folder, with forward slashes."""
    return os.getcwd().replace("\\", "/")


def commons_root() -> str:
    """Give the commons to work on.

    Raises:
        CommonsError: the folder that was named holds none.
    """
    return find_commons(here(), environ=os.environ, explicit=given_commons())


def writable_root() -> str:
    """Give the commons to write into.

    Raises:
        CommonsError: there is none but the packaged starter commons, or the folder that was named holds none.
    """
    root = commons_root()
    if is_packaged(root):
        raise CommonsError("the starter commons inside the package is not written to", fix="Type: deia init")
    return root


@contextmanager
def telling_if_slow(what: str, *, after: float = PATIENCE) -> Iterator[None]:
    """Say on standard error what is being done where it takes long and somebody watches."""
    if not output.is_watched():
        yield
        return
    timer = Timer(after, output.complain, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def today() -> str:
    """Give the person's date."""
    return time.strftime("%Y-%m-%d")
