"""The schema of the warehouse as SQL: the fields of a line, the columns of `events`, and the views over them.

`docs/TELEMETRY.md` describes the same for people.
"""

from __future__ import annotations

from deia.ledger.sql_files import read_statements

SCHEMA = 1  # of the columns; written into every Parquet file
MINUTES = 30  # within which an opened document, or the same query in other words, belongs to a query

# Words that say nothing about the topic of a query.
SMALL_WORDS = frozenset(
    "a an the of to in on for and or is are was be been do does did how what why when where which who can could should"
    " would i we you my our your it its this that these there with from at by as not no if so me us please help need"
    " want get use using make about into than then vs between any some all one hi hello hey thanks thank ok yes".split()
)
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

# The fields that a line may have, with the types in which they are read. Older forms have names of their own.
FIELDS = {
    "ts": "VARCHAR", "v": "BIGINT", "event": "VARCHAR", "id": "VARCHAR", "conversation": "VARCHAR",
    "session": "VARCHAR", "agent": "VARCHAR", "agent_id": "VARCHAR", "host": "VARCHAR", "query": "VARCHAR",
    "query_type": "VARCHAR", "matched": "VARCHAR", "confidence": "VARCHAR", "cluster": "VARCHAR", "docs": "JSON",
    "results": "JSON", "clicked": "JSON", "response_time_ms": "DOUBLE", "tier": "VARCHAR", "trigger": "VARCHAR",
    "because": "VARCHAR", "chars": "BIGINT", "action": "VARCHAR", "outcome": "VARCHAR", "of": "VARCHAR",
    "verdict": "VARCHAR", "note": "VARCHAR", "doc": "VARCHAR", "via": "VARCHAR", "actor": "VARCHAR",
    "change": "VARCHAR", "error": "VARCHAR", "where": "VARCHAR", "injection": "JSON",
}  # fmt: skip

# An event outside these times was not written by deia's clock: its line counts as broken.
EARLIEST, LATEST = "1970-01-01", "2200-01-01"
PLAUSIBLE = f"coalesce({{0}} BETWEEN TIMESTAMP '{EARLIEST}' AND TIMESTAMP '{LATEST}', true)"
TIME_LIKE = "coalesce(regexp_matches(f.ts, '^[-+0-9]'), false)"  # a text that begins so should be a time

# The columns of `events`, as SQL over those fields; `line` is the event as it was written.
COLUMNS = {
    "ts": "coalesce(try_cast(f.ts AS TIMESTAMP), CASE WHEN try_cast(f.ts AS DOUBLE) BETWEEN 0 AND 1e11"
    " THEN make_timestamp((try_cast(f.ts AS DOUBLE) * 1e6)::BIGINT) END)",
    "v": "f.v",
    "event": "CASE WHEN f.event IN ('proactive_injection') THEN 'injection' WHEN f.event = 'index_update' THEN 'index'"
    " WHEN f.event IS NOT NULL THEN f.event WHEN f.injection IS NOT NULL THEN 'injection'"
    " WHEN f.query IS NOT NULL THEN 'query' ELSE 'unknown' END",
    "id": "f.id", "conversation": "coalesce(f.conversation, f.session)", "agent": "coalesce(f.agent, f.agent_id)",
    "host": "f.host", "query": "f.query", "query_type": "f.query_type", "matched": "lower(f.matched)",
    "confidence": "f.confidence", "cluster": "f.cluster",
    "docs": "CASE WHEN json_type(f.docs) = 'ARRAY' THEN {ids_docs}"
    " WHEN json_type(f.docs) = 'VARCHAR' THEN [f.docs->>'$'] WHEN json_type(f.results) = 'ARRAY' THEN {ids_results}"
    " WHEN f.event IS NULL AND f.doc IS NOT NULL THEN [f.doc] ELSE []::VARCHAR[] END",
    "clicked": "CASE WHEN json_type(f.clicked) = 'ARRAY' THEN f.clicked->>'$[0]'"
    " WHEN json_type(f.clicked) = 'VARCHAR' THEN f.clicked->>'$' END",
    "response_time_ms": "CASE WHEN f.response_time_ms BETWEEN 0 AND 1e9 THEN f.response_time_ms END",
    "tier": "f.tier",
    "trigger": "coalesce(f.trigger, CASE WHEN json_type(f.injection) = 'VARCHAR' THEN f.injection->>'$' END)",
    "because": "f.because", "chars": "CASE WHEN f.chars BETWEEN 0 AND 1000000000 THEN f.chars END",
    "action": "f.action",
    "outcome": "coalesce(f.outcome,"
    " CASE WHEN f.event = 'proactive_injection' OR f.injection IS NOT NULL THEN 'shown' END)",
    "about": 'f."of"', "verdict": "f.verdict", "note": "f.note", "doc": "f.doc", "via": "f.via", "actor": "f.actor",
    "change": "f.change", "error": "f.error", "place": 'f."where"', "source": "parse_filename(filename)",
    "line": "json::VARCHAR",
}  # fmt: skip
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
