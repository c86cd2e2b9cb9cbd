"""The stems of terms, cached for a whole compile."""

from __future__ import annotations

from deia.match.keyword import analyser

MOST = 200_000
_ANALYSER = analyser()


class _Stems(dict[str, str]):
    """The stem of each term: the index would stem every word of every passage."""

    def __missing__(self, term: str) -> str:
        if len(self) >= MOST:
            self.clear()
        self[term] = stem = " ".join(_ANALYSER.analyze(term))
        return stem


STEMS = _Stems()
