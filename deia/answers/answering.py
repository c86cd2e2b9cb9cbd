"""Answer in rounds: first with sentences of the documents, then with what a model adds in the remaining time.

The sentences are always there, so a model that is down, slow or lying costs only time: its claims must be in the
evidence, and sentences are kept for whatever the claims do not cover.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from hashlib import blake2b
from operator import gt
from threading import Thread
from time import monotonic

from deia.answers.calibration import LEAST, probability
from deia.answers.evidence import Asked, Passage, net
from deia.answers.gathering import Evidence, Limits, chosen, gather, with_verdicts
from deia.answers.librarian_answer import NOT_SAID, AnswerSource, LibrarianResponse, written
from deia.answers.model_claims import Claim, Claims, batches, messages, read_reply
from deia.answers.synthesis import Cited, cited, sentence_of
from deia.language_model import Endpoint, ModelError, complete
from deia.records import Record
from deia.search.lifetimes import outdated

MOST_BATCHES = 2  # calls in one round; there are two rounds
MOST_REPLIES = 256  # that are kept
MOST_OPEN = 8  # words that an answer names as open
_replies: dict[str, str] = {}


class Ongoing(Record):
    """An answer in progress: its evidence, the sentences cited from it, and the steps taken so far."""

    question: str
    evidence: Evidence
    sentences: tuple[Cited, ...]
    claims: tuple[Claim, ...] = ()
    dropped: tuple[str, ...] = ()
    by: str = "documents"
    audit: tuple[Mapping[str, object], ...] = ()

    @property
    def has_problem(self) -> bool:
        """Whether a model failed at a step."""
        return any("problem" in step for step in self.audit)

    def noted(self, step: str, **details: object) -> Ongoing:
        """Return the answer with one more step in its audit."""
        return self.but(audit=(*self.audit, {"step": step, **details}))


def begin(
    question: str,
    asked: Sequence[Asked],
    limits: Limits,
    *,
    clock: Callable[[], float],
    state: Mapping[str, object] = {},
) -> Ongoing:
    """Return the first form of an answer, which consists of sentences of the documents."""
    began = clock()
    evidence = gather(asked, limits, clock=clock)
    gathered = clock()
    sentences = tuple(cited(evidence))
    ongoing = Ongoing(question=question, evidence=evidence, sentences=sentences)
    ongoing = ongoing.noted("state", **state) if state else ongoing
    ongoing = ongoing.noted("net", catalogs=len(asked), passages=evidence.looked_at, ms=_ms(gathered - began))
    for sub_question in evidence.sub_questions:
        ongoing = ongoing.noted("sub-question", asked=sub_question.text)
    locations = [f"{passage.path}:{passage.lines[0]}-{passage.lines[1]}" for passage in evidence.passages]
    ongoing = ongoing.noted("chosen", passages=locations)
    return ongoing.noted("sentences", cited=len(sentences), ms=_ms(clock() - gathered))


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


def with_claims(ongoing: Ongoing, claims: Claims, by: str) -> Ongoing:
    """Return an answer with the claims of a model or an agent."""
    kept = {(claim.passage.key, claim.quotation.text): claim for claim in (*ongoing.claims, *claims.kept)}
    return ongoing.but(
        claims=tuple(kept.values()), dropped=(*ongoing.dropped, *claims.dropped), by=by if claims.kept else ongoing.by
    ).noted("claims", by=by, kept=len(claims.kept), dropped=[*claims.dropped], asks=[*claims.asks])


def with_more(ongoing: Ongoing, further: Sequence[Asked], most: int) -> tuple[Ongoing, list[Passage]]:
    """Return an answer with the evidence for further questions added, and the new passages."""
    known = {passage.key for passage in ongoing.evidence.passages}
    nets = [net(asked) for asked in further]
    candidates = {
        passage.key: passage for wide_net in nets for passage in wide_net.passages[:most] if passage.key not in known
    }
    new = chosen(candidates.values(), ongoing.evidence.aspects, most)
    evidence = with_verdicts(ongoing.evidence, nets if new else ()).but(passages=[*ongoing.evidence.passages, *new])
    sentences = tuple(cited(evidence)) if new else ongoing.sentences
    more = ongoing.but(evidence=evidence, sentences=sentences)
    return more.noted("further", asked=len(further), passages=len(new)), new


def with_model(
    ongoing: Ongoing, endpoint: Endpoint, understand: Callable[[str], Sequence[Asked]], limits: Limits, *,
    clock: Callable[[], float],
) -> Ongoing:  # fmt: skip
    """Return an answer with what a model chose and phrased, or the answer so far if the model fails or is late."""
    deadline = clock() + limits.seconds
    passages = list(ongoing.evidence.passages)
    for _ in range(min(2, max(1, limits.depth))):
        groups = batches(passages, limits.tokens, MOST_BATCHES)
        prompts = [messages(ongoing.question, group) for group in groups]
        try:
            replies = _asked(endpoint, prompts, deadline - clock())
        except ModelError as error:
            return ongoing.noted("model", problem=str(error))
        ongoing = ongoing.noted("model", calls=len(prompts))
        asks: list[str] = []
        for reply, group in zip(replies, groups, strict=True):
            claims = read_reply(reply, group)
            ongoing = with_claims(ongoing, claims, f"model {endpoint.model}".strip())
            asks += claims.asks
        if not asks or clock() > deadline:
            break
        ongoing, passages = with_more(ongoing, [asked for ask in asks for asked in understand(ask)], limits.chunks)
        if not passages:
            break
    return ongoing


def _asked(endpoint: Endpoint, prompts: Sequence[Sequence[Mapping[str, str]]], seconds: float) -> list[str]:
    """Return the replies to some prompts, sent at once unless a reply was kept. Raise ModelError if one fails."""
    deadline = monotonic() + seconds
    by_key = {_key(endpoint, prompt): prompt for prompt in prompts}
    replies = {key: _replies[key] for key in by_key if key in _replies}
    running = {key: _in_thread(endpoint, prompt, seconds) for key, prompt in by_key.items() if key not in replies}
    try:
        replies |= {key: future.result(max(0.0, deadline - monotonic())) for key, future in running.items()}
    except TimeoutError as error:
        raise ModelError(f"the language model did not answer within {seconds:g} seconds") from error
    _replies.update(replies)
    for key in [*_replies][: max(0, len(_replies) - MOST_REPLIES)]:
        _replies.pop(key, None)
    return [replies[key] for key in by_key]


def _key(endpoint: Endpoint, prompt: Sequence[Mapping[str, str]]) -> str:
    return blake2b(repr((endpoint.urls, endpoint.model, prompt)).encode("utf-8", "replace")).hexdigest()


def _in_thread(endpoint: Endpoint, prompt: Sequence[Mapping[str, str]], seconds: float) -> Future[str]:
    """Return the future reply that a thread waits for; the thread does not keep the process from ending."""
    future: Future[str] = Future()

    def ask() -> None:
        try:
            future.set_result(complete(endpoint, prompt, seconds=max(0.1, seconds)))
        except ModelError as error:
            future.set_exception(error)

    Thread(target=ask, daemon=True).start()
    return future


def response(ongoing: Ongoing, *, include_sources: bool = True, token: str = "") -> LibrarianResponse:
    """Return the librarian's response: what a model chose, and the sentences for what that leaves out."""
    evidence, sentences = ongoing.evidence, ongoing.sentences
    confidence = probability(evidence, sentences)
    is_answered = confidence >= LEAST
    claimed = [(sentence_of(claim.quotation, claim.passage, evidence), claim.says) for claim in ongoing.claims]
    relevant = [(sentence, says) for sentence, says in claimed if sentence.stems or sentence.passage.seed]
    covered = [max(column) for column in zip(*(sentence.coverage for sentence, _ in relevant), strict=True)]
    additional = [sentence for sentence in sentences if not covered or any(map(gt, sentence.coverage, covered))]
    shown = [*relevant, *((sentence, "") for sentence in additional)] if is_answered else []
    sources = tuple(_source(sentence, says) for sentence, says in shown)
    said = _said(evidence, [sentence for sentence, _ in shown])
    open_words = [aspect.word for aspect in evidence.aspects if aspect.covered(said) == 0]
    return LibrarianResponse(
        question=ongoing.question, answer=written(sources) if is_answered else NOT_SAID,
        sources=sources if include_sources else (), confidence=confidence, found=is_answered,
        open=tuple(open_words[:MOST_OPEN]),
        sub_questions=tuple(sub_question.text for sub_question in evidence.sub_questions), dropped=ongoing.dropped,
        by=ongoing.by, token=token,
        audit=(*ongoing.audit, {"step": "confidence", "probability": confidence, "least": LEAST}),
    )  # fmt: skip


def _said(evidence: Evidence, sentences: Sequence[Cited]) -> frozenset[str]:
    """Return the stems of the question in what is quoted and the passages around it, or in all that was found.

    A passage has its title and heading, which say what a sentence below them need not repeat.
    """
    passages = [sentence.passage for sentence in sentences] or evidence.passages
    quoted = (sentence.stems for sentence in sentences)
    return frozenset[str]().union(*quoted, *(passage.stems for passage in passages))


def _source(sentence: Cited, says: str) -> AnswerSource:
    span = sentence.quotation.first, sentence.quotation.last
    return AnswerSource(
        path=sentence.passage.path, lines=span, relevance=sentence.relevance, quote=sentence.quotation.text, says=says,
        why=sentence.passage.why, outdated=outdated(sentence.passage.document.entry, sentence.passage.asked.today),
    )  # fmt: skip
