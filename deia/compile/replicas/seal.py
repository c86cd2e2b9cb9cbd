"""Who published: signatures by Ed25519, with a key that only the publisher has.

A shared key would do against strangers, but then every replica could publish, and so could whoever breaks into one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from deia import files
from deia.compile.replicas.version import ReplicaError
from deia.folders import state_folder

KEY = "publish-key"  # in the person's state folder
SIZE = 32


def signed(message: bytes, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the signature of a message by the person's own key, which is made if there is none, and the public key."""
    key = _private_key(environ)
    return key.sign(message).hex(), key.public_key().public_bytes_raw().hex()


def is_signed(message: bytes, signature: str, key: str) -> bool:
    """Return whether a message was signed by the owner of a public key; raise ReplicaError if that is no key."""
    ed25519 = _ed25519()
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra

    try:
        public = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
    except ValueError as error:
        raise ReplicaError("this is no key of a publisher", fix="deia publish says it where the library is.") from error
    try:
        public.verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _private_key(environ: Mapping[str, str]) -> Any:
    place = f"{state_folder(environ)}/{KEY}"
    seed = files.read(place)
    if seed is None:
        seed = os.urandom(SIZE).hex().encode()
        files.make_folders(state_folder(environ))
        with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(seed)
    try:
        return _ed25519().Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed.decode("ascii")))
    except ValueError as error:
        fix = "Remove it to get a new one, and tell it to your replicas."
        raise ReplicaError("the key of the publisher is damaged", where=place, fix=fix) from error


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ReplicaError("cryptography is not installed", fix="pip install 'deia[replica]'") from error
    return ed25519
