"""The schema of the warehouse as SQL: the fields of a line, the columns of `events`, and the views over them.

`docs/TELEMETRY.md` describes the same for people.
"""

from __future__ import annotations

from deia.ledger.sql_files import read_statements
from deia.tables import Tables

TABLES = Tables(__file__)
SCHEMA = 1  # of the columns; written into every Parquet file
MINUTES = 30  # within which an opened document, or the same query in other words, belongs to a query

SMALL_WORDS = TABLES.words("small words")
# Two queries are alike if they share half of the significant words of the one with fewer; words are compared by their
# first four letters. `bench/alike.py` measures this: it holds for 0.1 to 2.4 % of 4,000 pairs about different things of
# one field (security requirements, command requests, alerts of a cluster), for 83 % of the wordings of one alert, for
# every misspelt query, and for no paraphrase that was written to share no word.
LETTERS = 4
_SMALL = ", ".join(f"'{word}'" for word in sorted(SMALL_WORDS))
WORDS_OF = (
    f"list_distinct([word[1:{LETTERS}] for word in regexp_split_to_array({{0}}, '[^\\pL\\pN_]+')"
    f" if len(word) > 1 and word NOT IN ({_SMALL})])"
)
# A list comprehension, because list_intersect takes three times as long.
ALIKE = (
    "len({0}) > 0 AND len({1}) > 0"
    " AND 2 * len([word for word in {0} if list_contains({1}, word)]) >= least(len({0}), len({1}))"
)

FIELDS = TABLES.pairs("fields")  # of a line, with the types in which they are read

# An event outside these times was not written by deia's clock: its line counts as broken.
EARLIEST, LATEST = "1970-01-01", "2200-01-01"
PLAUSIBLE = f"coalesce({{0}} BETWEEN TIMESTAMP '{EARLIEST}' AND TIMESTAMP '{LATEST}', true)"
TIME_LIKE = "coalesce(regexp_matches(f.ts, '^[-+0-9]'), false)"  # a text that begins so should be a time

COLUMNS = TABLES.pairs("columns")  # of `events`
# The ids in a list whose items are ids, or objects with an id.
IDS = """CASE WHEN json_type(f.{0}, '$[0]') = 'OBJECT' THEN f.{0}->>'$[*].id' ELSE f.{0}->>'$[*]' END"""
TYPES = {
    **dict.fromkeys(COLUMNS, "VARCHAR"), "ts": "TIMESTAMP", "v": "BIGINT", "docs": "VARCHAR[]",
    "response_time_ms": "DOUBLE", "chars": "BIGINT",
}  # fmt: skip


WHO = "coalesce(conversation, agent, host, '?') AS who"
# Whose log an event is in, and of which day. Who can write into it can pose as any number of conversations, but not as
# another machine. Windows has a segment for each process, whose number is the writer.
VOICE = """CASE WHEN regexp_full_match(source, '[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]+[.]jsonl') THEN source[1:10]
    WHEN regexp_matches(source, '^[0-9]{4}-[0-9]{2}-[0-9]{2}-') THEN source
    ELSE concat(source, ' ', ts::DATE) END AS voice"""
HIT = f"list_contains(q.docs, r.doc) AND r.ts <= q.ts + INTERVAL {MINUTES} MINUTE"
VIEWS = read_statements(
    __file__, who=WHO, voice=VOICE, hit=HIT, minutes=MINUTES,
    alike=ALIKE.format(WORDS_OF.format("asked"), WORDS_OF.format("again")),
)  # fmt: skip
