"""Compiled triggers and marks: the records that the compiler writes and the watcher reads.

A clause keeps its serialised fields and offers them by name, because most clauses of a trigger are never looked at.
Its large parts, the patterns of changed text, the words of phrases and the acts of a `meaning` clause, are stored as
text and parsed on first use.
"""

from __future__ import annotations

from deia.fast_json import loads
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence
    from typing import Any, TypeAlias

    from deia.records import Action, Mode, Urgency

    Alternative: TypeAlias = Sequence[Sequence[str]]  # words in order, each with its forms
    Slot: TypeAlias = tuple[int, Sequence[str], Sequence[Alternative], int]  # gap, single words, longer, optional
    Templates: TypeAlias = Sequence[Sequence[str]]  # words of commands or statements
    # Shape (base form or -ing), classes of the verb, further words ("away" of "blow away").
    VerbForm: TypeAlias = tuple[str, Sequence[str], Sequence[str]]
    Words = Mapping[str, str]
    Fields: TypeAlias = dict[str, Any]  # as serialised; which of them there are depends on what it is
else:
    Slot = VerbForm = Words = object  # the compiler imports the first two at run time

MEANING = "meaning"
ACTS = frozenset(("act", MEANING))  # kinds of clauses that name acts
FOLDED = frozenset((MEANING, "phrase", "error"))  # kinds of clauses whose value is stored as text
OUTPUT = "output"
INCOMING = "incoming"  # orders in what a tool shows
THEN = "then"  # what must follow the pattern of an INCOMING clause
SHOWN = (OUTPUT, INCOMING)  # kinds of clauses with a pattern over what a tool shows, by whose name they keep it
DELETION = "deletion"  # through any client; its value is `plain` or WIDE
WIDE = "wide"
PACKAGE = "package"  # one that a command installs; its value is `mistyped`
CHANGE_PATTERNS = ("adds", "drops", "lacks")  # of a `write` clause, on the text that is written
PATTERNS = (*CHANGE_PATTERNS, *SHOWN, THEN)
BEGINNING = 2  # characters by which a table of words finds the text that a word is in
FORMS, OF_FORM, CLASSES = "|", ":", ","  # separators in a text of forms of verbs
LIGHT = "light"  # the class of verbs that only a noun gives a meaning: "do a hard reset"


class CompiledPattern:
    """A regular expression: its source, and the code that `_sre.compile` takes."""

    __slots__ = ("code", "flags", "groups", "source")

    def __init__(self, *, source: str, flags: int, code: list[int], groups: int) -> None:
        self.source, self.flags, self.code, self.groups = source, flags, code, groups

    @classmethod
    def read(cls, fields: Fields) -> CompiledPattern:
        """Return the pattern with these serialised fields; those of a `pattern` clause are the same."""
        made = fields["v"]
        return cls(source=fields["s"], flags=made["f"], code=made["c"], groups=made["g"])

    @property
    def fields(self) -> Fields:
        """The serialised form."""
        return {"s": self.source, "v": {"f": self.flags, "c": self.code, "g": self.groups}}


def verb_text(verb_forms: Iterable[VerbForm]) -> str:
    """Return forms of verbs that begin with one word as text, which is parsed only when the word occurs."""
    return FORMS.join(OF_FORM.join((shape, " ".join(rest), CLASSES.join(names))) for shape, names, rest in verb_forms)


class WordTable(Words):
    """A text for each of many words; those of words that begin alike are one text, of which few are ever looked at."""

    __slots__ = ("parts",)

    def __init__(self, parts: Mapping[str, str]) -> None:
        self.parts = parts  # by the beginning of a word: ";word=text;word=text;"

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> WordTable:
        """Return the table of these words; they have none of the two marks in them, and their texts have no ";"."""
        parts: dict[str, str] = {}
        for word, text in texts.items():
            parts[word[:BEGINNING]] = f"{parts.get(word[:BEGINNING], ';')}{word}={text};"
        return cls(parts)

    def get(self, word: str, default: Any = None) -> Any:
        """Return the text of a word."""
        part = self.parts.get(word[:BEGINNING], "")
        at = part.find(f";{word}=")
        start = at + len(word) + 2
        return default if at < 0 else part[start : part.index(";", start)]

    def __contains__(self, word: object) -> bool:
        return f";{word}=" in self.parts.get(str(word)[:BEGINNING], "")

    def __getitem__(self, word: str) -> str:
        if word not in self:
            raise KeyError(word)
        text: str = self.get(word)
        return text

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts())

    def __len__(self) -> int:
        return len(self.texts())

    def keys(self) -> KeysView[str]:
        """Return all words."""
        return self.texts().keys()

    def items(self) -> ItemsView[str, str]:
        """Return all words, each with its text."""
        return self.texts().items()

    def texts(self) -> dict[str, str]:
        """Return all words with their texts."""
        return dict(line.split("=", 1) for part in self.parts.values() for line in part.split(";") if line)


class ActWords(Record):
    """The verbs and nouns that `act` clauses know, with their classes; see `deia.compile.triggers.act_words`."""

    verbs: Mapping[str, str] = {}  # by the first word of a form: its forms as text, those of more words first
    nouns: Mapping[str, str] = {}  # classes, separated by spaces, by a noun of one or two words
    deeds: Mapping[str, str] = {}  # the same for nouns that mean acts: "hard reset"
    vessels: Sequence[str] = ()  # nouns that take the class of the word before them

    def forms_of(self, word: str) -> list[VerbForm]:
        """Return the forms of verbs that begin with a word, those of more words first."""
        parts = [form.split(OF_FORM) for form in self.verbs[word].split(FORMS)]
        return [(shape, classes.split(CLASSES), rest.split()) for shape, rest, classes in parts]

    def deeds_of(self, words: Sequence[str]) -> frozenset[str]:
        """Return the classes of the act that an object means: "a hard reset"."""
        pair = self.deeds.get(" ".join(words[-2:]), "")
        return frozenset((pair or self.deeds.get("".join(words[-1:]), "")).split())


class CompiledAct(Record):
    """The conditions of an `act` clause. An item of words is a list of the forms of each of its words."""

    do: Sequence[str]  # classes of verbs
    what: Sequence[str] = ()  # classes of objects; none: any object, or no object at all
    unlike: Sequence[Sequence[Sequence[str]]] = ()  # items of which none may belong to the object or its place
    where: Sequence[Sequence[Sequence[str]]] = ()  # items of which one must belong to the object or its place
    how: Sequence[Sequence[Sequence[str]]] = ()  # items of which one must be in the act's clause
    near: Sequence[Sequence[Sequence[str]]] = ()  # items of which one must be said of the act before the next comma
    whole: bool = False  # whether the object must be quantified: all, every, entire


def _field(name: str, *default: object) -> Any:
    """Return the property that reads a serialised field of a clause."""
    if default:
        return property(lambda clause: clause.fields.get(name, *default))
    return property(lambda clause: clause.fields[name])


class CompiledClause:
    """A clause of a compiled trigger; which of the properties it has depends on its kind."""

    __slots__ = ("fields",)

    kind: str = _field("k")  # phrase, command, write and so on
    source: str = _field("s")  # the clause as somebody wrote it
    pronoun_slots: Sequence[Slot] = _field("it", ())  # of a phrase with a pronoun in place of its `<it>`
    stands_for: str = _field("said", "")  # under which the conversation's memory keeps what the pronoun must stand for
    denies: bool = _field("denies", False)  # whether a phrase of a mark is itself a denial, such as `don't deploy`
    alternatives: Sequence[Alternative] = _field("v")  # of a `words` clause
    templates: Templates = _field("v")  # of a `command` or `sql` clause
    globs: Sequence[str] = _field("v")  # the paths of a `write` clause
    # What a `write` clause asks of the file or removal: `exists`, `unread`, `like`, `deletes`, `subject_gone`,
    # and by how many files it is to be imported, `imported_by`.
    asked: Mapping[str, int] = _field("asked", {})
    tool: Mapping[str, Any] = _field("v")  # the globs for the `name` of a tool and for the fields of its `input`
    vocabulary: int = _field("words", 0)  # the number of the words that an `act` clause knows, in the artefact

    def __init__(self, fields: Fields) -> None:
        self.fields = fields  # the serialised form; its large parts may be text or already parsed

    @classmethod
    def of(
        cls, kind: str, source: str, value: object, *, asked: Mapping[str, int] | None = None, **more: object
    ) -> CompiledClause:
        """Return a clause as the compiler makes it; `more` are patterns by names, `it` and `said`, or `words`."""
        return cls({"k": kind, "s": source, "v": value, **more, **({"asked": asked} if asked else {})})

    def _value(self) -> Any:
        """Return the value of a clause of the kinds `FOLDED`, parsed."""
        value = self.fields["v"]
        if isinstance(value, str):
            value = self.fields["v"] = loads(value)
        return value

    @property
    def slots(self) -> Sequence[Slot]:
        """The slots of a `phrase` or an `error`."""
        slots: Sequence[Slot] = self._value()
        return slots

    @property
    def acts(self) -> Sequence[tuple[str, CompiledAct]]:
        """The conditions of an `act` clause, or of each exemplar of a `meaning` clause, with their source."""
        return [(source, CompiledAct(**act)) for source, act in self._value()]

    @property
    def pattern(self) -> CompiledPattern:
        """The regular expression of a `pattern` clause."""
        return CompiledPattern.read(self.fields)

    def written(self, name: str) -> CompiledPattern | None:
        """Return the pattern that a `write`, `output` or `incoming` clause has under a name of `PATTERNS`, or None."""
        pattern = self.fields.get(name)
        if pattern is not None and not isinstance(pattern, CompiledPattern):
            pattern = CompiledPattern.read(loads(pattern) if isinstance(pattern, str) else pattern)
            self.fields[name] = pattern
        return pattern


class Unless(Record):
    """What keeps a match from counting if it stands beside it: an option of the command, or words."""

    source: str
    flag: str = ""
    words: Sequence[Sequence[str]] = ()  # in order, each with its forms

    @property
    def fields(self) -> Fields:
        """The serialised form."""
        return {"s": self.source, "flag": self.flag} if self.flag else {"s": self.source, "words": self.words}


class CompiledTrigger(Record):
    """A trigger of the artefact. The serialised keys are the names of the fields."""

    id: str
    title: str
    urgency: Urgency
    action: Action
    timing: str
    message: str
    action_required: str
    instead: Sequence[str]
    origin: str  # whose trigger it is: project, starter, or pack NAME
    documents: Sequence[tuple[int, Mode, str]]  # number, how much of it is shown, why
    who: int  # bits of the roles in whose turns it counts
    context: Sequence[str]
    stance: Sequence[str]
    excuses: Sequence[Fields]  # the serialised forms of `unless`
    repeat: float  # seconds of silence after it fired; negative: for the whole conversation
    all: Sequence[CompiledClause]
    any: Sequence[CompiledClause]
    earlier: int | None = None  # how many turns its mark counts (0: all), if it waits for one
    waits_for: str = ""  # the mark that it waits for, if that is not its own
    otherwise: Action | None = None  # the most that it may do before its mark is set; None: nothing

    @property
    def unless(self) -> Iterator[Unless]:
        """What keeps a match from counting; few triggers match, so it is read only then."""
        for excuse in self.excuses:
            yield Unless(source=excuse["s"], flag=excuse.get("flag", ""), words=excuse.get("words", ()))

    @property
    def clauses(self) -> Sequence[CompiledClause]:
        """All clauses, in the order in which the gate numbers them."""
        return (*self.all, *self.any)


class CompiledMark(Record):
    """What a trigger waits for: something said earlier that sets the mark, or takes it back."""

    mark: str
    any: Sequence[CompiledClause]
    until: Sequence[CompiledClause]

    @property
    def clauses(self) -> Sequence[CompiledClause]:
        """All clauses, in the order in which the gate numbers them."""
        return (*self.any, *self.until)


def parse_trigger(text: str) -> CompiledTrigger | CompiledMark:
    """Return the trigger or mark of an item of the artefact.

    The first line is the record; where a clause holds a number instead of a large part, the part is on that line.
    """
    first, *lines = text.split("\n")
    fields = loads(first)
    if "mark" in fields:
        return CompiledMark(**{**fields, **_clauses(fields, ("any", "until"), lines)})
    return CompiledTrigger(**{**fields, **_clauses(fields, ("all", "any"), lines)})


def _clauses(fields: Fields, names: Iterable[str], lines: Sequence[str]) -> dict[str, list[CompiledClause]]:
    for clause in [clause for name in names for clause in fields[name]] if lines else ():
        for name in ("v",) if clause["k"] in FOLDED else PATTERNS:
            if isinstance(clause.get(name), int):
                clause[name] = lines[clause[name] - 1]
    return {name: [CompiledClause(clause) for clause in fields[name]] for name in names}
