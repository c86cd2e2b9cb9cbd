"""The starter commons, read once for all tests of a process."""

from __future__ import annotations

from deia.commons.index.load_commons import load_commons
from deia.folders import STARTER

COMMONS = load_commons(STARTER)
