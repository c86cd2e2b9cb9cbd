"""An answer, round by round: sentences first, then what a model adds within the time that is left.

The sentences are always there, so a model that is down, slow or lying costs time and nothing else: what it says must be
in the evidence, and what the sentences cover and it does not is kept.
"""

from __future__ import annotations

from concurrent.futures import Future
from hashlib import blake2b
from operator import gt
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

from deia.answers.calibration import LEAST, probability
from deia.answers.evidence import net
from deia.answers.gathering import chosen, gather, with_verdicts
from deia.answers.librarian_answer import NOT_SAID, AnswerSource, LibrarianResponse, written
from deia.answers.model_claims import Claims, batches, messages, read_reply
from deia.answers.synthesis import cited, sentence_of
from deia.language_model import ModelError, complete
from deia.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from deia.answers.evidence import Asked, Passage
    from deia.answers.gathering import Evidence, Limits
    from deia.answers.model_claims import Claim
    from deia.answers.synthesis import Cited
    from deia.language_model import Endpoint

MOST_BATCHES = 2  # calls in one round; there are two rounds
MOST_REPLIES = 256  # that are kept
MOST_OPEN = 8  # words that an answer names as open
_replies: dict[str, str] = {}


class Ongoing(Record):
    """An answer on the way: its evidence, what is cited of it, and what was done."""

    question: str
    evidence: Evidence
    sentences: tuple[Cited, ...]
    claims: tuple[Claim, ...] = ()
    dropped: tuple[str, ...] = ()
    by: str = "documents"
    audit: tuple[Mapping[str, object], ...] = ()

    @property
    def has_problem(self) -> bool:
        """Whether a model did not do its part."""
        return any("problem" in step for step in self.audit)

    def noted(self, step: str, **details: object) -> Ongoing:
        """Return it with a step more in its audit."""
        return self.but(audit=(*self.audit, {"step": step, **details}))


def begin(
    question: str,
    asked: Sequence[Asked],
    limits: Limits,
    *,
    clock: Callable[[], float],
    state: Mapping[str, object] = {},
) -> Ongoing:
    """Return the answer in sentences of the documents."""
    began = clock()
    evidence = gather(asked, limits, clock=clock)
    gathered = clock()
    sentences = tuple(cited(evidence))
    ongoing = Ongoing(question=question, evidence=evidence, sentences=sentences)
    ongoing = ongoing.noted("state", **state) if state else ongoing
    ongoing = ongoing.noted("net", catalogs=len(asked), passages=evidence.looked_at, ms=_ms(gathered - began))
    for each in evidence.sub_questions:
        ongoing = ongoing.noted("sub-question", asked=each.text)
    chosen_ = [f"{one.path}:{one.lines[0]}-{one.lines[1]}" for one in evidence.passages]
    ongoing = ongoing.noted("chosen", passages=chosen_)
    return ongoing.noted("sentences", cited=len(sentences), ms=_ms(clock() - gathered))


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


def with_claims(ongoing: Ongoing, claims: Claims, by: str) -> Ongoing:
    """Return an answer with what a model or an agent made of it."""
    kept = {(one.passage.key, one.quotation.text): one for one in (*ongoing.claims, *claims.kept)}
    return ongoing.but(
        claims=tuple(kept.values()), dropped=(*ongoing.dropped, *claims.dropped), by=by if kept else ongoing.by
    ).noted("claims", by=by, kept=len(claims.kept), dropped=[*claims.dropped], asks=[*claims.asks])


def with_more(ongoing: Ongoing, further: Sequence[Asked], most: int) -> tuple[Ongoing, list[Passage]]:
    """Return an answer with the evidence for further questions, and the passages that are new."""
    known = {passage.key for passage in ongoing.evidence.passages}
    nets = [net(asked) for asked in further]
    found = {one.key: one for each in nets for one in each.passages[:most] if one.key not in known}
    new = chosen(found.values(), ongoing.evidence.aspects, most)
    evidence = with_verdicts(ongoing.evidence, nets if new else ()).but(passages=[*ongoing.evidence.passages, *new])
    sentences = tuple(cited(evidence)) if new else ongoing.sentences
    more = ongoing.but(evidence=evidence, sentences=sentences)
    return more.noted("further", asked=len(further), passages=len(new)), new


def with_model(
    ongoing: Ongoing, endpoint: Endpoint, understand: Callable[[str], Sequence[Asked]], limits: Limits, *,
    clock: Callable[[], float],
) -> Ongoing:  # fmt: skip
    """Return an answer after a model chose and phrased, or as it is if the model does not answer in time."""
    until = clock() + limits.seconds
    passages = list(ongoing.evidence.passages)
    for _ in range(min(2, max(1, limits.depth))):
        groups = batches(passages, limits.tokens, MOST_BATCHES)
        prompts = [messages(ongoing.question, group) for group in groups]
        try:
            replies = _asked(endpoint, prompts, until - clock())
        except ModelError as error:
            return ongoing.noted("model", problem=str(error))
        ongoing = ongoing.noted("model", calls=len(prompts))
        asks: list[str] = []
        for reply, group in zip(replies, groups, strict=True):
            claims = read_reply(reply, group)
            ongoing = with_claims(ongoing, claims, f"model {endpoint.model}".strip())
            asks += claims.asks
        if not asks or clock() > until:
            break
        ongoing, passages = with_more(ongoing, [one for ask in asks for one in understand(ask)], limits.chunks)
        if not passages:
            break
    return ongoing


def _asked(endpoint: Endpoint, prompts: Sequence[Sequence[Mapping[str, str]]], seconds: float) -> list[str]:
    """Return the replies to some prompts, asked at once; equal ones were kept. Raise ModelError if one fails."""
    until = monotonic() + seconds
    by_key = {_key(endpoint, prompt): prompt for prompt in prompts}
    replies = {key: _replies[key] for key in by_key if key in _replies}
    running = {key: _in_thread(endpoint, prompt, seconds) for key, prompt in by_key.items() if key not in replies}
    try:
        replies |= {key: future.result(max(0.0, until - monotonic())) for key, future in running.items()}
    except TimeoutError as error:
        raise ModelError(f"the language model did not answer within {seconds:g} seconds") from error
    _replies.update(replies)
    for key in [*_replies][: max(0, len(_replies) - MOST_REPLIES)]:
        _replies.pop(key, None)
    return [replies[key] for key in by_key]


def _key(endpoint: Endpoint, prompt: Sequence[Mapping[str, str]]) -> str:
    return blake2b(repr((endpoint.urls, endpoint.model, prompt)).encode("utf-8", "replace")).hexdigest()


def _in_thread(endpoint: Endpoint, prompt: Sequence[Mapping[str, str]], seconds: float) -> Future[str]:
    """Return the reply that a thread waits for, which does not keep the process from ending."""
    future: Future[str] = Future()

    def ask() -> None:
        try:
            future.set_result(complete(endpoint, prompt, seconds=max(0.1, seconds)))
        except ModelError as error:
            future.set_exception(error)

    Thread(target=ask, daemon=True).start()
    return future


def response(ongoing: Ongoing, *, include_sources: bool = True, token: str = "") -> LibrarianResponse:
    """Return an answer as the librarian gives it: what a model chose, and what it lacks of the sentences."""
    evidence, whole = ongoing.evidence, ongoing.sentences
    sure = probability(evidence, whole)
    found = sure >= LEAST
    said = [(sentence_of(one.quotation, one.passage, evidence), one.says) for one in ongoing.claims]
    telling = [(one, says) for one, says in said if one.stems or one.passage.seed]
    covered = [max(column) for column in zip(*(one.coverage for one, _ in telling), strict=True)]
    lacking = [one for one in whole if not covered or any(map(gt, one.coverage, covered))]
    shown = [*telling, *((one, "") for one in lacking)] if found else []
    sources = tuple(_source(one, says) for one, says in shown)
    stems = frozenset[str]().union(*(one.stems for one, _ in shown))
    open_ = [one.word for one in evidence.aspects if one.covered(stems) == 0]
    return LibrarianResponse(
        question=ongoing.question, answer=written(sources) if found else NOT_SAID,
        sources=sources if include_sources else (), confidence=sure, found=found, open=tuple(open_[:MOST_OPEN]),
        sub_questions=tuple(each.text for each in evidence.sub_questions), dropped=ongoing.dropped, by=ongoing.by,
        token=token, audit=(*ongoing.audit, {"step": "confidence", "probability": sure, "least": LEAST}),
    )  # fmt: skip


def _source(one: Cited, says: str) -> AnswerSource:
    span = one.quotation.first, one.quotation.last
    return AnswerSource(
        path=one.passage.path, lines=span, relevance=one.relevance, quote=one.quotation.text, says=says,
        why=one.passage.why,
    )  # fmt: skip
