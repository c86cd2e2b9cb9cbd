"""Redaction: likely secrets and mail addresses are taken out of a text before it is written anywhere.

Keys are recognised by the prefixes that their issuers publish, values by the names before them, arguments by the
program that takes them (`deia.command_secrets`), and other secrets by how mixed their characters are. It works on plain
words, because importing `re` would double the hook's start-up time, and prefers to hide too much.
"""

from __future__ import annotations

from deia.command_secrets import is_placeholder, secret_spans
from deia.tables import Tables

TABLES = Tables(__file__)
FILE_ENDINGS = TABLES.words("file endings")
KEY_PREFIXES = TABLES.listed("key prefixes")
SOFT_PREFIXES = TABLES.listed("soft prefixes")
SECRET_NAMES = TABLES.listed("secret names")
WHOLE_NAMES = TABLES.words("whole names")
SCHEMES = frozenset(("basic", "bearer", "digest"))  # HTTP authentication
USER_OPTIONS = frozenset(("-u", "--user", "--proxy-user"))  # of programs that take name:password
HOOK_PLACES = TABLES.listed("hook places")
HOOK_HOSTS = TABLES.listed("hook hosts")
SEPARATORS = str.maketrans({**dict.fromkeys("\"'`<>()[]{},;|\\", " "), "\uff1a": ":", "\uff1d": "="})
ENDINGS = str.maketrans(dict.fromkeys("\"'`<>()[]{},;|\\:=\uff1a", " "))
NAME_PARTS = str.maketrans("_-", "  ")
LINKS = frozenset(
    (":", "=", "=>", ":=", "==", "value=", "value:", "is", "was", "to", "by", "as", "ist")
)  # between a name and its value
ANNOUNCING = WHOLE_NAMES | SCHEMES | USER_OPTIONS
SIGNS = frozenset((":", "=", "=>", ":=", "==", "value=", "value:"))
ROOTS = frozenset(("", ".", "..", "~"))  # with which paths begin
PLACEHOLDERS = ("A-Z", "a-z", "0-9", "REDACTED", "redacted")  # a pattern's characters; what another program has hidden
MAC_FOLDER = "0000gn"  # ends the generated name of macOS's folder for temporary files
SYMBOLS = frozenset("!@#$%^&*?+")
KEY_BLOCKS = ("PRIVATE KEY", "Private-Lines:", "BEGIN PGP MESSAGE")
HEX = frozenset("0123456789abcdef")
ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-.~%$*")
PASSWORDS = TABLES.listed("passwords")
DIGEST_SIGNS = (*TABLES.phrases("digest signs"), "git ", "tree ")
PUBLIC_PREFIXES = TABLES.listed("public prefixes")
HIDDEN = "[secret]"
MOST_NAMES = 50  # in one word, as in `a:b:c=d`
MOST_TEXT = 8192  # characters that are looked at; what follows is cut off


def redact(text: str) -> str:
    """Replace likely secrets by `[secret]` and e-mail addresses by `[email]`; the rest stays as it is."""
    if len(text) < 6:
        return text
    original = text = text[:MOST_TEXT].replace(HIDDEN, "\0")
    lowered = text.lower()
    for start, end in reversed(secret_spans(text, lowered)):
        text = f"{text[:start]}\0{text[end:]}"
    naming = any([name in lowered for name in SECRET_NAMES])  # noqa: C419 - a generator takes three times as long
    words = lowered.translate(ENDINGS)
    digests = any([sign in lowered for sign in DIGEST_SIGNS])  # noqa: C419 - as above
    announcing = naming or not (
        ANNOUNCING.isdisjoint(words.split()) and WHOLE_NAMES.isdisjoint(words.translate(NAME_PARTS).split())
    )
    text = _without_blocks(_without_phrases(text) if naming else text)
    parts: list[str] = []
    announcer = ""  # the previous word, if it may announce a secret
    link, at, replacements = False, 0, {}
    plain = text.translate(SEPARATORS)
    for word in plain.split():
        if not announcer and word.isalpha() and len(word) < 16:
            announcer, link = word if announcing else "", False
            continue
        if announcer and word.lower() in LINKS:
            announcer, link = announcer + (":" if word in SIGNS else ""), True
            continue
        replacement = _hidden(word, announcer, link=link, digests=digests)
        if replacement != word:
            start = plain.index(word, at)
            parts += (text[at:start], replacement)
            at = start + len(word)
            if len(word) > 9 or _mixed(word):
                replacements[word] = replacement
        announcer, link = word if announcing else "", False
    text = "".join((*parts, text[at:])) if parts else text
    for word, replacement in replacements.items():
        text = text.replace(word, replacement)
    return text.replace("\0", HIDDEN) if text != original or "\0" in text else text


def _without_blocks(text: str) -> str:
    """Hide blocks of private keys up to their end or, if that is missing, the end of the text."""
    for kind in KEY_BLOCKS:
        while (at := text.find(kind)) >= 0:
            began = max(text.rfind("-----BEGIN", 0, at), text.rfind("---- BEGIN", 0, at))
            end = text.find("-----END", at)
            after = text.find("-----", end + 8) if end >= 0 else -1
            text = text[: began if began >= 0 else at] + "\0" + (text[after + 5 :] if after >= 0 else "")
    return text


def _without_phrases(text: str) -> str:
    """Hide quoted values of several words after a secret's name and a sign."""
    for quote in ('"', "'"):
        parts = text.split(quote)
        for at in range(1, len(parts) - 1, 2):
            before = parts[at - 1].rstrip(" \\")
            name = before.rstrip(" :=>").replace("\n", " ").replace("\t", " ").rpartition(" ")[2]
            if before[-1:] in (":", "=", ">") and before and " " in parts[at] and not parts[at].startswith("${{"):
                name = name or (parts[at - 2].strip("\\") if at > 1 else "")
                parts[at] = "\0" if is_secret_name(name.lower()) else parts[at]
        text = quote.join(parts)
    return text


def is_secret_name(name: str) -> bool:
    """Return whether a value under this name, in small letters, is a secret: `db_pass`, `api-key`, `token`."""
    last = name.replace("-", "_").rpartition("_")[2]
    return last in WHOLE_NAMES or name in WHOLE_NAMES or any(secret in name for secret in SECRET_NAMES)


def _is_harmless(name: str, value: str) -> bool:
    """Return whether the value under a secret's name is none: a count, a type, code that computes it, a test's result.

    Passwords may be plain words; a token or a session's number is not.
    """
    if name == "PASS" or is_placeholder(value) or value.startswith(PLACEHOLDERS):  # `--- PASS: TestName`
        return True
    if value[-1] == "…" and len(value) < 8:  # `sk_liv…`
        return True
    if name.lower() == "pass" and not (_mixed(value) or not SYMBOLS.isdisjoint(value)):  # "in the first pass: look"
        return True
    if any(part in name.lower() for part in PASSWORDS):
        return value.endswith(("()", "("))
    bare = value.strip(".,;:!?*&+→")
    if bare.isdecimal():
        return len(bare) < 8 or name.lower().endswith("tokens")
    if _is_path(value):
        return not looks_secret(value)
    parts = bare.replace("?.", ".").replace("!.", ".").split(".")  # `response.usage?.input`
    return all(part.replace("_", "a").replace("-", "a").isalpha() for part in parts)


def _announced(word: str, announcer: str, *, link: bool) -> bool:
    """Return whether the previous word makes this word a secret: by a sign, as an option, or by its name alone."""
    name = announcer.rstrip(":=").lower()
    if announcer[-1] in ":=" or announcer[0] == "-":
        if name in USER_OPTIONS:
            return ":" in word
        return is_secret_name(name.lstrip("-")) and not _is_harmless(announcer.rstrip(":="), word)
    if name in SCHEMES:
        return not (word[0] in "+{$<" or word.startswith(PLACEHOLDERS)) and (_mixed(word) or _has_humps(word))
    return name in SECRET_NAMES and (_looks_chosen(word) or (link and _has_humps(word)))


def _hidden(word: str, announcer: str, *, link: bool, digests: bool) -> str:
    """Return a word as it may be written, considering the word itself and the one that announces it."""
    size = len(word)
    if (
        announcer
        and size > 3
        and word[0] != "-"
        and announcer.lower() != word.lower()
        and _announced(word, announcer, link=link)
    ):
        return HIDDEN if word.lower().rstrip(":") not in SCHEMES else word
    if size < 6 or _is_public(word, digests=digests):
        return word
    if "://" in word:
        return _address(word, digests=digests)
    if "@" in word[1:-1] and is_mail(word):
        return "[email]"
    return "&".join(map(_part, word.split("&"))) if "&" in word and "=" in word else _part(word)


def _is_public(word: str, *, digests: bool) -> bool:
    """Return whether a word is a name or digest that is no secret: the id of a tool call, a commit's hash."""
    if word.startswith(PUBLIC_PREFIXES):
        return True
    return digests and all(map(_is_digest, word.rpartition("=")[2].partition(":")[0].split("..")))


def _is_digest(word: str) -> bool:
    return len(bare := word.strip(".,;[]")) in (40, 64) and HEX.issuperset(bare)


def _is_path(word: str, *, least: int = 0) -> bool:
    """Return whether a word names a file or folder: `/usr/lib/x`, `../src/x`, `a.js:12`."""
    # With `least`, so does one that contains a folder of so many small letters: `refs/heads/main`.
    *folders, name = word.split("/")
    least = 3 if folders[:1] and folders[0] in ROOTS else least
    if least and any(len(part) >= least and part.isalpha() and part.islower() for part in folders):
        return True
    return _is_file_name(name)


def _is_file_name(word: str) -> bool:
    """Return whether a word ends as the names of files do, perhaps with the number of a line: `a.go`, `a.go:428:`."""
    name = word.partition(":")[0].lower()
    endings = (name.rpartition(".")[2], name.rstrip("-0123456789").rpartition(".")[2])
    return "." in name and not FILE_ENDINGS.isdisjoint(endings)


def _part(word: str, depth: int = 0) -> str:
    """Return one part of a word as it may be written: a name with its value, or a value alone."""
    name, mark, value = _named_value(word)
    if not mark or depth == MOST_NAMES:
        return HIDDEN if looks_secret(word) else word
    if len(value) > 3 and is_secret_name(name.lower().lstrip("-?")) and not _is_harmless(name, value):
        return f"{name}{mark}{HIDDEN}"
    if "@" in value[1:-1] and is_mail(value):
        return f"{name}{mark}[email]"
    is_telegram_bot = name.strip("*_").isdecimal() and value.startswith("AA") and len(value) > 30
    if looks_secret(value) or is_telegram_bot:
        return f"{name}{mark}{HIDDEN}"
    if looks_secret(name):
        return f"{HIDDEN}{mark}{value}"
    return f"{name}{mark}{_part(value, depth + 1)}"


def _address(word: str, *, digests: bool) -> str:
    """Return a URL without its user, without keys in its path or query, and without the private part of a webhook."""
    scheme, _, rest = word.partition("://")
    user, at, after = rest.rpartition("@")
    if at and ("/" not in user or ":" in user.partition("/")[0]):
        scheme, rest = f"{scheme}://{HIDDEN}@", after
    else:
        scheme += "://"
    location, question_mark, query = rest.partition("?")
    host, slash, path = location.partition("/")
    if any(fragment in host for fragment in HOOK_HOSTS) and any(fragment in f"/{path}" for fragment in HOOK_PLACES):
        return f"{scheme}{host}/{HIDDEN}"
    names = path.split("/")
    parts = "/".join([name if digests and _is_digest(name) else _part(name) for name in names])
    if looks_secret("/".join([name for name in names if not (digests and _is_digest(name))])):
        parts = HIDDEN
    return f"{scheme}{host}{slash}{parts}{question_mark}" + "&".join([_part(part) for part in query.split("&")])


def is_mail(word: str) -> bool:
    """Return whether a word is an e-mail address: a name, @, and a host whose last part consists of letters."""
    person, _, host = word.rpartition("@")
    host = host.rstrip(".:!?*_~").partition("?")[0]
    name, _, last = host.rpartition(".")
    if person[-1:] in ("=", "/") or (last == "md" and name.isupper()):  # `file=@data.json`, `@README.md`
        return False
    return bool(name) and len(last) > 1 and last.isalpha() and "/" not in host and ":" not in host


def _named_value(word: str) -> tuple[str, str, str]:
    cuts = [at for at in (word.find("="), word.find(":")) if at > 0]
    at = min(cuts, default=-1)
    return ("", "", word) if at < 0 else (word[:at], word[at], word[at + 1 :])


def _looks_chosen(word: str) -> bool:
    """Return whether a word looks like a password rather than a word of a sentence, a path, an assignment, a time."""
    core = word.strip(".:!?*_")
    if len(core) < 6 or is_placeholder(core) or _is_path(core) or core.removesuffix("ms").isdecimal() or "=$" in core:
        return False
    return _mixed(core) or not SYMBOLS.isdisjoint(core)


def _mixed(word: str) -> bool:
    return any(char.isdigit() for char in word) and any(char.isalpha() for char in word)


def _has_humps(word: str) -> bool:
    return len(word) > 7 and any(char.isupper() for char in word[1:]) and any(char.islower() for char in word)


def looks_secret(word: str) -> bool:
    """Return whether a word has a known key format, or is as long and mixed as only generated text is."""
    word = _without_uuids(word.strip(".:*_~!?"))
    size = len(word)
    if word[:1] == "v" and word[1:2].isdigit() and word.count(".") > 1 and "-" in word:  # a version: v0.0.0-2023…-24d4…
        return False
    if size < 15 or not word.isascii() or word.startswith(PUBLIC_PREFIXES) or word.endswith(MAC_FOLDER):
        return False
    if word.isdecimal():
        return size < 17 and word[0] in "3456" and _is_card(word)
    if _is_path(plain := _without_escapes(word), least=4):
        *folders, name = plain.split("/")
        names = folders if _is_file_name(name) else [*folders, name]
        return _has_key_prefix(name) or any(map(looks_secret, names))
    if _has_key_prefix(word):
        return True
    soft = word.startswith(SOFT_PREFIXES) and max(map(len, _runs(word)), default=0) > 15
    if soft or (size > 30 and word[3:6].endswith("Q~")):  # the second: client secrets of Azure
        return True
    if size < 20 or not ALPHABET.issuperset(word):
        return False
    return _generated(word) or any(len(run) > 31 and _generated(run) for run in _runs(word))


def _has_key_prefix(word: str) -> bool:
    return len(word) > 15 and word.startswith(KEY_PREFIXES) and (_mixed(word[3:]) or _has_humps(word))


def _without_escapes(word: str) -> str:
    """Return a part of a URL with a slash for every character that is escaped by a percent sign."""
    first, *others = word.split("%")
    return "/".join((first, *[part[2:] for part in others])) if others else word


def _without_uuids(word: str) -> str:
    """Return a word without the UUIDs in it, which name conversations, tasks and files."""
    at = word.find("-", 8)
    while 8 <= at <= len(word) - 28:
        start, end = at - 8, at + 28
        uuid = word[start:end]
        if uuid[13] == uuid[18] == uuid[23] == "-" and HEX.issuperset(uuid.replace("-", "").lower()):
            word = word[:start] + word[end:]
            at = start
        at = word.find("-", at + 1)
    return word


def _runs(word: str) -> list[str]:
    """Return the runs of characters that contain both letters and digits."""
    for char in "-_.~":
        word = word.replace(char, " ")
    return [run for run in word.split() if _mixed(run)]


def _generated(word: str) -> bool:
    """Return whether letters and digits alternate so often that nobody typed the word."""
    # A typed name consists of runs (`HomePage2`), so few neighbouring characters differ in kind. In random base64 two
    # of three neighbours differ, in hexadecimal almost one of two. A UUID counts as a name, since conversations have
    # UUIDs; so do other short groups of small letters and digits, and letters that a number follows.
    groups = word.split("-")
    if (len(groups) > 3 and len(max(groups, key=len)) < 13 and word.islower()) or word.rstrip("0123456789").isalpha():
        return False
    plain = [char for char in word if char.isalnum()]
    digits = sum([char.isdigit() for char in plain])
    if len(plain) < 20 or len(plain) < 0.86 * len(word) or not digits or len(set(plain)) < 10:
        return False
    kinds = [0 if char.isdigit() else 1 if char.islower() else 2 for char in plain]
    changes = sum([kind != following for kind, following in zip(kinds, kinds[1:], strict=False)])  # noqa: RUF007 - one import less
    if len(set(kinds)) < 3:
        return digits > 2 and changes >= len(kinds) * (0.12 if len(plain) == len(word) > 31 else 0.24)
    return changes >= len(kinds) * (0.34 if digits > 2 else 0.5)


def _is_card(number: str) -> bool:
    """Return whether the digits have the checksum of a payment card (ISO/IEC 7812-1, Luhn)."""
    doubled = [int(char) * (1 + at % 2) for at, char in enumerate(reversed(number))]
    return sum([value - 9 if value > 9 else value for value in doubled]) % 10 == 0
