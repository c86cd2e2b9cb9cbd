"""What stance can be told from in other languages: denials, requests put as questions, what is over.

One table a language, of words and of letters, and one function that the stance asks before its English rules. It says
nothing of a sentence that is English, or of which nobody knows the language: then the English rules stand alone. Only
what denies, asks, or tells of the past is known here; everything else in a known language counts as announced.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.text import words
from deia.watch.prose.stance_names import ANNOUNCED, ASKED, NEGATED, REPORTED, REQUESTED

if TYPE_CHECKING:
    from collections.abc import Sequence

REACH = 6  # words before the act that can deny it
AFTER = 6  # and after it
CONDITIONS = frozenset("si wenn falls se caso quando cuando quand als sobald если когда".split())
# What an act is only compared with: "mais rápido do que reescrever o histórico".
MORE = frozenset("más mejor menos mais melhor plus mieux moins più meglio meno lieber besser schneller лучше".split())
THAN = frozenset(("que", "che", "als", "чем"))
FEWEST = 2  # small words that tell a language; one is enough beside a letter that English lacks
# Articles, pronouns and particles that may stand between the words of a phrase, as the English ones may.
SMALL = frozenset(
    "el la los las un una mi mis tu este esta estos estas toda todo todas todos de del le les l une du mon ma mes notre"
    " ce cette ces tout toute der die das den dem ein eine einen mein meine unsere unser diese dieses diesen alle ganze"
    " o uma da dos das meu minha nossa il lo gli della mio mia questo questa этот эту эти всю весь все мою наш нашу"
    " 这 个 那 我 们 的 整 了 该 所 有 を の は が こ そ".split()
)
ENGLISH = frozenset(
    "the a an to is are and it please my we on from of this that i you can will should let with for in not don t do as"
    " now then before after our never no without avoid cannot stop prevent be was were has have had what how why when"
    " if would could may or but so all any at by into me us your its they them he she who which where there here just"
    " only also again once until while ll re ve s m want need going gonna must shall did does done been".split()
)


class Language(Record):
    """The small words of a language that parts its words: what tells it, and what it does to an act."""

    marks: frozenset[str]  # words that tell the language
    denials: frozenset[str]  # before the act
    late: frozenset[str] = frozenset()  # denials that stand behind it
    requests: frozenset[str] = frozenset()  # first words of a question that asks for the act
    asks: frozenset[str] = frozenset()  # first words of a question about it, with or without a mark
    told: frozenset[str] = frozenset()  # what makes the act one of the past


class Letters(Record):
    """The same of a script without spaces, as runs of letters."""

    denials: tuple[str, ...]  # shortly before the act
    late: tuple[str, ...] = ()  # anywhere behind it
    requests: tuple[str, ...] = ()  # anywhere in a question
    asks: tuple[str, ...] = ()  # anywhere
    told: tuple[str, ...] = ()  # shortly before the act
    told_late: tuple[str, ...] = ()  # behind it


def _language(**lists: str) -> Language:
    return Language(**{name: frozenset(given.split()) for name, given in lists.items()})


def _letters(**lists: str) -> Letters:
    return Letters(**{name: tuple(given.split()) for name, given in lists.items()})


SPACED = {
    "es": _language(
        marks="el la los las un una del al por para que y con de mi su esta este favor ahora voy vamos puedes en lo",
        denials="no nunca jamás jamas sin evita evitar ni tampoco",
        requests="puedes podrías podrias puede podría quieres",
        asks="qué cómo por cuándo cuál dónde debo debería",
        told="he has ha hemos han fue fueron había habia habían ayer ya",
    ),
    "pt": _language(
        marks="o os as um uma do da dos das para que e com de meu minha este esta favor agora vou vamos pode em você",
        denials="não nao nunca jamais sem evite evitar nem",
        requests="pode podes poderia podia você voce consegue",
        asks="o que como quando qual onde devo por",
        told="foi foram tinha já ja ontem tenho temos havia",
    ),
    "fr": _language(
        marks="le la les l un une des du et de que qui avec pour ce cette mon ma notre vais nous allons s il te en",
        denials="ne n pas jamais sans évite éviter ni",
        late="pas jamais plus",
        requests="peux pouvez pourrais pourriez tu veux vous",
        asks="que qu quoi comment pourquoi quand est quel quelle dois",
        told="ai as a avons avez ont avait été hier déjà",
    ),
    "de": _language(
        marks="der die das den dem des ein eine einen und ich wir ist bitte mit für von auf jetzt werde wird du sie",
        denials="nicht nie niemals kein keine keinen keinesfalls ohne vermeide weder",
        late="nicht nie niemals keinesfalls",
        requests="kannst könntest können könnten würdest würden sollen sollst magst",
        asks="was wie warum wann welche welcher wo soll wieso weshalb",
        told="habe hast hat haben hatte hatten wurde wurden worden gestern bereits schon",
    ),
    "it": _language(
        marks="il lo la gli le un una del della dei e di che con per questo questa mio mia ora vado adesso puoi nel",
        denials="non mai senza evita evitare né neanche",
        requests="puoi potresti può potete",
        asks="che cosa come perché quando quale dove devo",
        told="ho hai ha abbiamo hanno è stato stata ieri già",
    ),
    "ru": _language(
        marks="",
        denials="не никогда без нельзя избегай запрещено",
        late="нельзя запрещено",
        requests="можешь можете мог могли",
        asks="что как почему зачем когда какой нужно",
        told="был была было были уже вчера",
    ),
}
UNSPACED = {
    "zh": _letters(
        denials="不 别 別 勿 禁止 没 未 避免",
        requests="可以 能不能 能否 请 帮我",
        asks="吗 如何 怎么 什么 是否 如果 会不会",
        told="已 曾 刚刚 刚才 昨天 上次",
    ),
    "ja": _letters(
        denials="決して",
        late="しない しません せず するな 禁止 しては しなく すべきではな さない",
        requests="くれますか くれる もらえ ください 下さい 頂け いただけ くれませんか",
        asks="どう なぜ いつ なに 何が 方法 すると したら もし",
        told_late="しました した された されました 済み",
    ),
    "ko": _letters(
        denials="절대 안",
        late="하지 마 금지",
        requests="주세요 줄래 줄수 해줘",
        asks="어떻게 왜 언제 무엇 만약",
        told_late="했 됐 되었",
    ),
}
CLOSE = 8  # letters before or behind the act that belong to it


def foreign_stance(before: str, act: str, after: str, *, question: bool) -> str:
    """Give the stance of an act in a sentence of another language, or "" where the English rules have the word.

    `before` is the act's clause up to it, `after` the rest of its sentence.
    """
    whole = before + act + after
    script = "" if whole.isascii() else _script(whole)
    if script in UNSPACED:
        return _unspaced(UNSPACED[script], before, act + after, question=question)
    name = script or _spoken(words(whole), least=1 if not words_are_ascii(act) else FEWEST)
    return _spaced(SPACED[name], words(before), words(act)[1:], words(after), question=question) if name else ""


def words_are_ascii(text: str) -> bool:
    """Say whether all letters of a text are those of English."""
    return all(char.isascii() or not char.isalpha() for char in text)


def _script(text: str) -> str:
    """Give the language that a script tells: that of most of its letters, Kana before Han."""
    counts = dict.fromkeys(("ja", "ko", "ru", "zh"), 0)
    for char in text:
        name = "" if char < "\u0400" else _script_of(ord(char))
        if name:
            counts[name] += 1
    if counts["ja"]:
        return "ja"
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > 1 else ""


def _script_of(code: int) -> str:
    if 0x0400 <= code <= 0x04FF:
        return "ru"
    if 0x3040 <= code <= 0x30FF:
        return "ja"
    if 0xAC00 <= code <= 0xD7AF:
        return "ko"
    return "zh" if 0x3400 <= code <= 0x9FFF else ""


def _spoken(said: Sequence[str], *, least: int) -> str:
    """Give the language whose small words stand in a sentence, where they outnumber the English ones."""
    present = set(said)
    english = len(present & ENGLISH)
    counts = {name: len(present & (one.marks | one.denials | one.requests)) for name, one in SPACED.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] >= least and counts[best] > english else ""


def _spaced(
    language: Language, before: Sequence[str], within: Sequence[str], after: Sequence[str], *, question: bool
) -> str:
    near, first = before[-REACH:], next(iter(before), "")
    if language.denials.intersection((*near, *within)) or language.late.intersection(after[:AFTER]):
        return NEGATED
    if THAN.intersection(near[-3:]) and MORE.intersection(near):
        return REPORTED
    if question:
        return REQUESTED if language.requests.intersection(before[:3]) else ASKED
    if first in language.asks - language.marks or CONDITIONS.intersection(before[:2]):
        return ASKED
    return REPORTED if language.told.intersection(near[-3:]) else ANNOUNCED


def _unspaced(language: Letters, before: str, rest: str, *, question: bool) -> str:
    """Judge by letters: what denies stands close by; the rest of the sentence begins with the act itself."""
    near = before[-CLOSE:]
    if any(one in near for one in language.denials) or any(one in rest for one in language.late):
        return NEGATED
    asked = question or any(one in before + rest for one in language.asks)
    if asked:
        return REQUESTED if any(one in before + rest for one in language.requests) else ASKED
    told = any(one in near for one in language.told) or any(one in rest for one in language.told_late)
    return REPORTED if told else ANNOUNCED
