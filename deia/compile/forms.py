"""Word forms of a word in its base form: rules for -s, -ed and -ing, a table for the rest.

Every word gets verb and noun forms alike: a form that no one uses costs one line of the artefact and matches nothing.
"""

from __future__ import annotations

VOWELS = "aeiou"
# The irregular verbs and nouns of engineering talk: past tense, participle, plural.
IRREGULAR = {
    "be": "is are was were been being am", "begin": "began begun", "blow": "blew blown", "break": "broke broken",
    "bring": "brought", "build": "built", "buy": "bought", "catch": "caught", "choose": "chose chosen", "come": "came",
    "cut": "cut cutting", "do": "does did done doing", "draw": "drew drawn", "drive": "drove driven",
    "fall": "fell fallen", "find": "found", "forget": "forgot forgotten", "freeze": "froze frozen",
    "get": "got gotten getting", "give": "gave given", "go": "goes went gone going", "have": "has had having",
    "hide": "hid hidden hiding", "hold": "held", "keep": "kept", "know": "knew known", "lay": "laid", "leave": "left",
    "lose": "lost losing", "make": "made making", "mean": "meant", "move": "moved moving", "overwrite":
    "overwrote overwritten overwriting", "pay": "paid", "put": "putting", "read": "reading", "rebuild": "rebuilt",
    "redo": "redid redone redoes redoing", "reset": "resetting", "rewrite": "rewrote rewritten rewriting",
    "run": "ran running", "rerun": "reran rerunning", "see": "saw seen", "send": "sent", "set": "setting", "show":
    "shown", "shut": "shutting", "speak": "spoke spoken", "split": "splitting", "stand": "stood", "start":
    "started starting", "steal": "stole stolen", "stick": "stuck", "swap": "swapped swapping", "take":
    "took taken taking", "tear": "tore torn", "tell": "told", "think": "thought", "throw": "threw thrown",
    "undo": "undid undone undoes undoing", "upset": "upsetting", "wipe": "wiped wiping", "write":
    "wrote written writing", "index": "indices", "child": "children", "person": "people", "schema": "schemata",
    "key": "keys", "dns": "",
}  # fmt: skip


def forms(word: str) -> frozenset[str]:
    """Give the forms of a word, itself included; a word with digits or of fewer than three letters has only itself."""
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return frozenset((word,))
    irregular = IRREGULAR.get(word)
    regular = {word, _with_s(word), *(() if irregular == "" else (*_with_ed(word), *_with_ing(word)))}
    return frozenset(regular | set((irregular or "").split()))


def _with_s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def _doubles(word: str) -> bool:
    """Say whether the last consonant may double; stress decides that, so both spellings are given."""
    return word[-1] not in VOWELS + "wxy" and word[-2] in VOWELS and word[-3] not in VOWELS


def _with_ed(word: str) -> tuple[str, ...]:
    if word.endswith("e"):
        return (word + "d",)
    if word.endswith("y") and word[-2] not in VOWELS:
        return (word[:-1] + "ied",)
    return (word + word[-1] + "ed", word + "ed") if _doubles(word) else (word + "ed",)


def _with_ing(word: str) -> tuple[str, ...]:
    if word.endswith("e") and not word.endswith(("ee", "oe", "ye")):
        return (word[:-1] + "ing",)
    return (word + word[-1] + "ing", word + "ing") if _doubles(word) else (word + "ing",)
