"""Cut everything but loopback off, where the system allows it: nothing that a host sends leaves the machine."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MARK = "DEIA_HOSTS_ALONE"  # set where this process is cut off already
GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 0x1  # of an interface, on Linux
PATIENCE = 10.0


def is_alone() -> bool:
    """Whether this process reaches nothing but loopback."""
    return os.environ.get(MARK) == "1"


def cut_off(arguments: Sequence[str]) -> int | None:
    """Run this program again where there is only loopback; return its exit code, or None where that cannot be done."""
    unshare = shutil.which("unshare")
    command = [unshare or "unshare", "--map-root-user", "--net"]
    if (
        unshare is None
        or subprocess.run([*command, "true"], capture_output=True, timeout=PATIENCE, check=False).returncode
    ):
        return None
    environ = {**os.environ, MARK: "1"}
    return subprocess.run(
        [*command, sys.executable, "-m", "tests.hosts", *arguments], env=environ, check=False
    ).returncode


def start_loopback() -> None:
    """Switch loopback on, which a new network begins without."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as interface:
        asked = struct.pack("16sh14x", b"lo", 0)
        name, flags = struct.unpack("16sh14x", fcntl.ioctl(interface, GET_FLAGS, asked))
        fcntl.ioctl(interface, SET_FLAGS, struct.pack("16sh14x", name, flags | UP))
