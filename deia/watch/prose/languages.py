"""Stances in other languages: denials, requests put as questions, questions, and what is over.

Each language is one table of words or letters, and `foreign_stance` is asked before the English rules. It has no
opinion about an English sentence or one in an unknown language: then the English rules decide alone. In a known
language only denials, questions, conditions and the past are recognised; everything else counts as announced.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.text import words
from deia.watch.prose.stance_names import ANNOUNCED, ASKED, NEGATED, REPORTED, REQUESTED

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS_BEFORE = 6  # words before the act that can deny it
WORDS_AFTER = 6  # words after it that can
NEAR_LETTERS = 8  # the same before the act, in a script without spaces
FEWEST_WORDS = 2  # small words that it takes to recognise a language; one if the act has a letter that English lacks
CONDITIONS = frozenset("si wenn falls se caso quando cuando quand als sobald если когда".split())
# A comparison: the act is not meant. "mais rápido do que reescrever o histórico".
COMPARING = frozenset(
    "más mejor menos mais melhor plus mieux moins più meglio meno lieber besser schneller лучше".split()
)
THAN = frozenset(("que", "che", "als", "чем"))
# Articles, pronouns and particles that may stand between the words of a trigger's phrase, as the English ones may.
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
    """The words by which a language that separates words is recognised, and those that set an act's stance."""

    marks: frozenset[str]  # frequent small words, by which the language is recognised
    denials: frozenset[str]  # before the act
    denials_after: frozenset[str] = frozenset()  # denials after the act
    requests: frozenset[str] = frozenset()  # first words of a question that asks for the act
    questions: frozenset[str] = frozenset()  # first words of a question about the act, with or without a question mark
    past: frozenset[str] = frozenset()  # words before the act that put it into the past


class Letters(Record):
    """The same for a script without spaces, as runs of letters."""

    denials: tuple[str, ...]  # shortly before the act
    denials_after: tuple[str, ...] = ()  # anywhere from the act on
    requests: tuple[str, ...] = ()  # anywhere in a question
    questions: tuple[str, ...] = ()  # anywhere
    past: tuple[str, ...] = ()  # shortly before the act
    past_after: tuple[str, ...] = ()  # anywhere from the act on


def _language(**lists: str) -> Language:
    return Language(**{name: frozenset(text.split()) for name, text in lists.items()})


def _letters(**lists: str) -> Letters:
    return Letters(**{name: tuple(text.split()) for name, text in lists.items()})


SPACED = {
    "es": _language(
        marks="el la los las un una del al por para que y con de mi su esta este favor ahora voy vamos puedes en lo",
        denials="no nunca jamás jamas sin evita evitar ni tampoco",
        requests="puedes podrías podrias puede podría quieres",
        questions="qué cómo por cuándo cuál dónde debo debería",
        past="he has ha hemos han fue fueron había habia habían ayer ya",
    ),
    "pt": _language(
        marks="o os as um uma do da dos das para que e com de meu minha este esta favor agora vou vamos pode em você",
        denials="não nao nunca jamais sem evite evitar nem",
        requests="pode podes poderia podia você voce consegue",
        questions="o que como quando qual onde devo por",
        past="foi foram tinha já ja ontem tenho temos havia",
    ),
    "fr": _language(
        marks="le la les l un une des du et de que qui avec pour ce cette mon ma notre vais nous allons s il te en",
        denials="ne n pas jamais sans évite éviter ni",
        denials_after="pas jamais plus",
        requests="peux pouvez pourrais pourriez tu veux vous",
        questions="que qu quoi comment pourquoi quand est quel quelle dois",
        past="ai as a avons avez ont avait été hier déjà",
    ),
    "de": _language(
        marks="der die das den dem des ein eine einen und ich wir ist bitte mit für von auf jetzt werde wird du sie",
        denials="nicht nie niemals kein keine keinen keinesfalls ohne vermeide weder",
        denials_after="nicht nie niemals keinesfalls",
        requests="kannst könntest können könnten würdest würden sollen sollst magst",
        questions="was wie warum wann welche welcher wo soll wieso weshalb",
        past="habe hast hat haben hatte hatten wurde wurden worden gestern bereits schon",
    ),
    "it": _language(
        marks="il lo la gli le un una del della dei e di che con per questo questa mio mia ora vado adesso puoi nel",
        denials="non mai senza evita evitare né neanche",
        requests="puoi potresti può potete",
        questions="che cosa come perché quando quale dove devo",
        past="ho hai ha abbiamo hanno è stato stata ieri già",
    ),
    "ru": _language(
        marks="",
        denials="не никогда без нельзя избегай запрещено",
        denials_after="нельзя запрещено",
        requests="можешь можете мог могли",
        questions="что как почему зачем когда какой нужно",
        past="был была было были уже вчера",
    ),
}
UNSPACED = {
    "zh": _letters(
        denials="不 别 別 勿 禁止 没 未 避免",
        requests="可以 能不能 能否 请 帮我",
        questions="吗 如何 怎么 什么 是否 如果 会不会",
        past="已 曾 刚刚 刚才 昨天 上次",
    ),
    "ja": _letters(
        denials="決して",
        denials_after="しない しません せず するな 禁止 しては しなく すべきではな さない",
        requests="くれますか くれる もらえ ください 下さい 頂け いただけ くれませんか",
        questions="どう なぜ いつ なに 何が 方法 すると したら もし",
        past_after="しました した された されました 済み",
    ),
    "ko": _letters(
        denials="절대 안",
        denials_after="하지 마 금지",
        requests="주세요 줄래 줄수 해줘",
        questions="어떻게 왜 언제 무엇 만약",
        past_after="했 됐 되었",
    ),
}


def foreign_stance(before: str, act: str, after: str, *, question: bool) -> str:
    """Return the stance of an act in a sentence of another language, or "" if the English rules are to decide.

    `before` is the act's clause up to the act, `after` the rest of its sentence.
    """
    whole = before + act + after
    script = "" if whole.isascii() else _script(whole)
    if script in UNSPACED:
        return _stance_by_letters(UNSPACED[script], before, act + after, question=question)
    name = script or _language_of_words(words(whole), least=1 if not has_ascii_letters(act) else FEWEST_WORDS)
    return (
        _stance_by_words(SPACED[name], words(before), words(act)[1:], words(after), question=question) if name else ""
    )


def has_ascii_letters(text: str) -> bool:
    """Return whether all letters of a text are those of English."""
    return all(char.isascii() or not char.isalpha() for char in text)


def _script(text: str) -> str:
    """Return the language whose script most letters of a text belong to, or ""; any Kana means Japanese."""
    counts = dict.fromkeys(("ja", "ko", "ru", "zh"), 0)
    for char in text:
        name = "" if char < "\u0400" else _language_of_script(ord(char))
        if name:
            counts[name] += 1
    if counts["ja"]:
        return "ja"
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > 1 else ""


def _language_of_script(code_point: int) -> str:
    """Return the language that the script of a character stands for, or ""."""
    if 0x0400 <= code_point <= 0x04FF:
        return "ru"
    if 0x3040 <= code_point <= 0x30FF:
        return "ja"
    if 0xAC00 <= code_point <= 0xD7AF:
        return "ko"
    return "zh" if 0x3400 <= code_point <= 0x9FFF else ""


def _language_of_words(words: Sequence[str], *, least: int) -> str:
    """Return the language with the most small words in a sentence, if they outnumber the English ones, else ""."""
    present = set(words)
    english = len(present & ENGLISH)
    counts = {
        name: len(present & (language.marks | language.denials | language.requests))
        for name, language in SPACED.items()
    }
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] >= least and counts[best] > english else ""


def _stance_by_words(
    language: Language, before: Sequence[str], within: Sequence[str], after: Sequence[str], *, question: bool
) -> str:
    """Return the stance of an act, by the words before, within and after it."""
    near, first = before[-WORDS_BEFORE:], next(iter(before), "")
    if language.denials.intersection((*near, *within)) or language.denials_after.intersection(after[:WORDS_AFTER]):
        return NEGATED
    if THAN.intersection(near[-3:]) and COMPARING.intersection(near):
        return REPORTED
    if question:
        return REQUESTED if language.requests.intersection(before[:3]) else ASKED
    if first in language.questions - language.marks or CONDITIONS.intersection(before[:2]):
        return ASKED
    return REPORTED if language.past.intersection(near[-3:]) else ANNOUNCED


def _stance_by_letters(language: Letters, before: str, rest: str, *, question: bool) -> str:
    """Return the stance of an act, by the letters before it and those from it on."""
    near = before[-NEAR_LETTERS:]
    if any(run in near for run in language.denials) or any(run in rest for run in language.denials_after):
        return NEGATED
    is_question = question or any(run in before + rest for run in language.questions)
    if is_question:
        return REQUESTED if any(run in before + rest for run in language.requests) else ASKED
    is_past = any(run in near for run in language.past) or any(run in rest for run in language.past_after)
    return REPORTED if is_past else ANNOUNCED
