"""Who may ask the server of a commons over HTTP: people with a token each, and what they may read and do.

The file lies in the person's own state folder, never in a repository. Of a token only the SHA-256 is kept: it has 256
random bits, so nothing slower is needed. A wrong token always gets the same answer, whatever is wrong with it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import string
import time
from collections.abc import Callable, Mapping

from filelock import FileLock

from deia import fast_json, files
from deia.errors import DeiaError
from deia.folders import people_folder
from deia.problems import SettingsError
from deia.records import Record
from deia.suggestions import nearest
from deia.typed_json import plain, read_record

READ, WRITE, ADMIN = SCOPES = ("read", "write", "admin")
PREFIX = "deia_"  # of a token, so that it is recognised as a secret wherever it turns up
NAME = frozenset(f"{string.ascii_lowercase}{string.digits}.-_")
MOST_NAME, MOST_USERS = 64, 10_000
LOCAL = "local"  # the person whose machine it is, who needs no token
MOST_BYTES = 8_000_000
LOOK = 0.5  # seconds after which the file is looked at again, so that a revoked token ends soon


class Allowance(Record):
    """What somebody may use up in a minute; 0 means no limit."""

    requests: int = 300
    sub_questions: int = 600
    tokens: int = 500_000  # of answers


UNLIMITED = Allowance(requests=0, sub_questions=0, tokens=0)


class User(Record):
    """Somebody who may ask; if `collections` is empty, about everything."""

    name: str
    digest: str  # of the token
    scopes: tuple[str, ...] = (READ,)
    collections: tuple[str, ...] = ()
    created: str = ""
    expires: str = ""  # a time like that of `deia.spool.timestamp`
    allowance: Allowance = Allowance()

    def may(self, scope: str) -> bool:
        """Return whether this person has a scope; each includes those before it."""
        return any(SCOPES.index(own) >= SCOPES.index(scope) for own in self.scopes if own in SCOPES)

    def has_ended(self, now: float) -> bool:
        """Return whether the time of this person's token is over."""
        return bool(self.expires) and time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) >= self.expires


class Limited(Record):
    """What one person may use up of a collection in a minute."""

    collection: str
    allowance: Allowance


class Owned(Record):
    """Who answers for a collection."""

    collection: str
    owner: str


class Team(Record):
    """Everybody who may ask the server of a commons, and the limits and owners of collections."""

    users: tuple[User, ...] = ()
    limits: tuple[Limited, ...] = ()
    owners: tuple[Owned, ...] = ()

    def user(self, name: str) -> User:
        """Return the user of a name; raise SettingsError if there is none."""
        for user in self.users:
            if user.name == name:
                return user
        known = nearest(name, [user.name for user in self.users])
        fix = f"{known} To see them, type: deia user list" if self.users else "To add one, type: deia user add NAME"
        raise SettingsError(f"there is no user {name!r}", fix=fix)


def users_file(root: str, environ: Mapping[str, str]) -> str:
    """Return the path of the file that lists the users of a commons."""
    return f"{people_folder(root, environ)}/users.json"


def read_team(path: str) -> Team:
    """Return what the file says; raise SettingsError if it cannot be read, since nobody may get in by breaking it."""
    content = files.read(path, MOST_BYTES)
    if content is None and not files.exists(path):
        return Team()
    try:
        return read_record(Team, fast_json.loads((content or b"").decode("utf-8")))
    except (TypeError, ValueError) as error:
        fix = "Put its last version back, or remove it and add the users again."
        raise SettingsError("the file of users cannot be read", where=path, fix=fix) from error


def change_team(path: str, change: Callable[[Team], Team]) -> Team:
    """Change the team and write it, while nobody else does; raise SettingsError if that is impossible."""
    if not files.make_folders(files.parent(path)):
        raise SettingsError("the file of users cannot be written", where=path, fix="Check its permissions.")
    with FileLock(f"{path}.lock"):
        team = change(read_team(path))
        if len(team.users) > MOST_USERS:
            raise SettingsError(f"there are {MOST_USERS} users, and no more fit", fix="Type: deia user revoke NAME")
        content = fast_json.dumps(plain(team)).encode()
        if len(content) > MOST_BYTES:
            problem = f"the file of users would have more than {MOST_BYTES:,} bytes"
            raise SettingsError(problem, where=path, fix="Type: deia user revoke NAME")
        if not files.keep(path, content):
            raise SettingsError("the file of users cannot be written", where=path, fix="Check its permissions.")
    return team


def checked_name(name: str) -> str:
    """Return the name of a new user; raise SettingsError if it is not valid."""
    if not name or len(name) > MOST_NAME or not NAME.issuperset(name) or name == LOCAL:
        problem = f"{name[:MOST_NAME]!r} is no name of a user"
        raise SettingsError(problem, fix=f"Use small letters, digits, dots and dashes, and not {LOCAL!r}.")
    return name


def new_token() -> str:
    """Return a token of 256 random bits, which is shown once."""
    return f"{PREFIX}{secrets.token_urlsafe(32)}"


def digest_of(token: str) -> str:
    """Return the digest of a token, which is all that is kept of it."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


class Directory:
    """The users of a commons as a server knows them: the file is read again when it changes."""

    def __init__(self, path: str, *, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        self._stamp: tuple[int, int] | None = None
        self._looked = 0.0
        self._team, self.trouble = Team(), ""
        self._had_users = False
        self._look()

    @property
    def team(self) -> Team:
        """The team as it is now."""
        if abs(self._clock() - self._looked) >= LOOK:
            self._look()
        return self._team

    @property
    def is_used(self) -> bool:
        """Whether everybody needs a token: once there were users, that stays so even if their file is gone."""
        return bool(self.team.users) or self._had_users

    def find(self, token: bytes) -> User | None:
        """Return whose token this is, or None; every user is compared, so that the time taken reveals nothing."""
        digest, owner = digest_of(token.decode("utf-8", "replace")), None
        for user in self.team.users:
            if hmac.compare_digest(user.digest, digest):
                owner = user
        return owner if owner and not owner.has_ended(self._clock()) else None

    def _look(self) -> None:
        self._looked = self._clock()
        stamp = files.stamp(self._path)
        if stamp == self._stamp and not self.trouble:
            return
        try:
            self._team, self.trouble, self._stamp = read_team(self._path), "", stamp
        except DeiaError as error:
            self._team, self.trouble = Team(), str(error)
        self._had_users = self._had_users or self._stamp is not None or bool(self.trouble)


def directory_of(root: str) -> Directory:
    """Return the users of a commons, as a server knows them."""
    return Directory(users_file(root, os.environ))
