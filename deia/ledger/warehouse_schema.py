"""The schema of the warehouse as SQL: the fields of a line, the columns of `events`, and the views over them.

`docs/TELEMETRY.md` describes the same for people.
"""

from __future__ import annotations

from deia.records import Record

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
    "ts": """coalesce(try_cast(f.ts AS TIMESTAMP), CASE
        WHEN try_cast(f.ts AS DOUBLE) BETWEEN 0 AND 1e11
            THEN make_timestamp((try_cast(f.ts AS DOUBLE) * 1e6)::BIGINT) END)""",
    "v": "f.v",
    "event": """CASE
        WHEN f.event IN ('proactive_injection') THEN 'injection'
        WHEN f.event = 'index_update' THEN 'index'
        WHEN f.event IS NOT NULL THEN f.event
        WHEN f.injection IS NOT NULL THEN 'injection'
        WHEN f.query IS NOT NULL THEN 'query'
        ELSE 'unknown' END""",
    "id": "f.id",
    "conversation": "coalesce(f.conversation, f.session)",
    "agent": "coalesce(f.agent, f.agent_id)",
    "host": "f.host",
    "query": "f.query",
    "query_type": "f.query_type",
    "matched": "lower(f.matched)",
    "confidence": "f.confidence",
    "cluster": "f.cluster",
    "docs": """CASE
        WHEN json_type(f.docs) = 'ARRAY' THEN {ids_docs}
        WHEN json_type(f.docs) = 'VARCHAR' THEN [f.docs->>'$']
        WHEN json_type(f.results) = 'ARRAY' THEN {ids_results}
        WHEN f.event IS NULL AND f.doc IS NOT NULL THEN [f.doc]
        ELSE []::VARCHAR[] END""",
    "clicked": """CASE
        WHEN json_type(f.clicked) = 'ARRAY' THEN f.clicked->>'$[0]'
        WHEN json_type(f.clicked) = 'VARCHAR' THEN f.clicked->>'$' END""",
    "response_time_ms": "CASE WHEN f.response_time_ms BETWEEN 0 AND 1e9 THEN f.response_time_ms END",
    "tier": "f.tier",
    "trigger": """coalesce(f.trigger, CASE
        WHEN json_type(f.injection) = 'VARCHAR' THEN f.injection->>'$' END)""",
    "because": "f.because",
    "chars": "CASE WHEN f.chars BETWEEN 0 AND 1000000000 THEN f.chars END",
    "action": "f.action",
    "outcome": """coalesce(f.outcome, CASE
        WHEN f.event = 'proactive_injection' OR f.injection IS NOT NULL THEN 'shown' END)""",
    "about": 'f."of"',
    "verdict": "f.verdict",
    "note": "f.note",
    "doc": "f.doc",
    "via": "f.via",
    "actor": "f.actor",
    "change": "f.change",
    "error": "f.error",
    "place": 'f."where"',
    "source": "parse_filename(filename)",
    "line": "json::VARCHAR",
}
# The ids in a list whose items are ids, or objects with an id.
IDS = """CASE WHEN json_type(f.{0}, '$[0]') = 'OBJECT' THEN f.{0}->>'$[*].id' ELSE f.{0}->>'$[*]' END"""
TYPES = {
    **dict.fromkeys(COLUMNS, "VARCHAR"), "ts": "TIMESTAMP", "v": "BIGINT", "docs": "VARCHAR[]",
    "response_time_ms": "DOUBLE", "chars": "BIGINT",
}  # fmt: skip


class View(Record):
    """A view: its SQL, and a description of its rows."""

    purpose: str
    sql: str


WHO = "coalesce(conversation, agent, host, '?') AS who"
# Whose log an event is in, and of which day. Who can write into it can pose as any number of conversations, but not as
# another machine. Windows has a segment for each process, whose number is the writer.
VOICE = """CASE WHEN regexp_full_match(source, '[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]+[.]jsonl') THEN source[1:10]
    WHEN regexp_matches(source, '^[0-9]{4}-[0-9]{2}-[0-9]{2}-') THEN source
    ELSE concat(source, ' ', ts::DATE) END AS voice"""
HIT = f"list_contains(q.docs, r.doc) AND r.ts <= q.ts + INTERVAL {MINUTES} MINUTE"
# Later views build on earlier ones.
VIEWS = {
    "queries": View(
        purpose="a query: `who` asked (the conversation or else the agent), `asked` in lower case, `answered` yes,"
        " badly (partly, with low confidence, or judged noise or wrong) or no",
        sql=f"""
        SELECT ts, id, conversation, agent, host, {WHO}, {VOICE}, query,
            lower(trim(query)) AS asked,
            query_type, matched, confidence, cluster, docs, response_time_ms, tier,
            CASE WHEN matched = 'false' OR (matched IS NULL AND len(docs) = 0) THEN 'no'
                WHEN id IN (SELECT about FROM events
                    WHERE event = 'feedback' AND verdict IN ('noise', 'wrong') AND about IS NOT NULL) THEN 'badly'
                WHEN matched = 'partial' OR confidence = 'low' THEN 'badly' ELSE 'yes' END AS answered
        FROM events WHERE event = 'query'
        """,
    ),
    "injections": View(
        purpose="a trigger that fired: `outcome` shown, held, passed, muted, quiet or over_budget",
        sql=f"""
        SELECT ts, id, conversation, agent, host, {WHO}, {VOICE}, trigger, because, docs, chars, action,
            coalesce(outcome, 'shown') AS outcome, response_time_ms
        FROM events WHERE event = 'injection' AND trigger IS NOT NULL
        """,
    ),
    "feedback": View(
        purpose="a judgement: `about` is the id of the judged event, whose `trigger`, `query` and `docs` are given",
        sql=f"""
        SELECT f.ts, f.id, f.agent, f.voice, f.about, f.verdict, f.note, coalesce(judged.trigger, f.trigger) AS trigger,
            judged.query, coalesce(judged.docs, f.docs) AS docs, coalesce(judged.outcome, f.outcome) AS outcome
        FROM (SELECT *, {VOICE} FROM events) f LEFT JOIN (
            SELECT id, any_value(trigger) AS trigger, any_value(query) AS query, any_value(docs) AS docs,
                any_value(outcome) AS outcome
            FROM events WHERE event IN ('query', 'injection')
                AND id IN (SELECT about FROM events WHERE event = 'feedback') GROUP BY id
        ) judged ON f.about = judged.id
        WHERE f.event = 'feedback'
        """,
    ),
    "reads": View(
        purpose="a document that somebody opened, `via` what",
        sql=f"""
        SELECT ts, id, conversation, agent, host, {WHO}, {VOICE}, doc, via FROM events
        WHERE event = 'read' AND doc IS NOT NULL
        UNION ALL
        SELECT ts, id, conversation, agent, host, {WHO}, {VOICE}, clicked, 'click' FROM events
        WHERE event = 'query' AND clicked IS NOT NULL
        """,
    ),
    "resolutions": View(
        purpose=f"a query with the document that the same person opened next, within {MINUTES} minutes, if the answer"
        " contained it: `opened`, and `seconds` until then",
        sql=f"""
        SELECT q.*, CASE WHEN {HIT} THEN r.doc END AS opened, CASE WHEN {HIT} THEN epoch(r.ts - q.ts) END AS seconds
        FROM queries q ASOF LEFT JOIN reads r ON q.who = r.who AND r.ts >= q.ts
        """,
    ),
    "successions": View(
        purpose=f"a query, and the next one by the same person within {MINUTES} minutes, alike or not: `asked` and"
        " `answered`, then `again` and `again_answered`",
        sql=f"""
        SELECT * FROM (
            SELECT ts, who, voice, asked, answered, docs, lead(asked) OVER w AS again,
                lead(answered) OVER w AS again_answered, lead(docs) OVER w AS again_docs, lead(ts) OVER w AS again_at
            FROM queries WHERE asked IS NOT NULL AND who <> '?' WINDOW w AS (PARTITION BY who ORDER BY ts)
        ) WHERE again <> asked AND again_at <= ts + INTERVAL {MINUTES} MINUTE
        """,
    ),
    "rephrasings": View(
        purpose="the `successions` whose queries are alike: the same asked again in other words",
        sql=f"""
        SELECT * FROM successions WHERE {ALIKE.format(WORDS_OF.format("asked"), WORDS_OF.format("again"))}
        """,
    ),
    "errors": View(
        purpose="an error of deia itself, with its `place`",
        sql="SELECT ts, id, host, agent, error, place FROM events WHERE event = 'error'",
    ),
    "changes": View(
        purpose="a change of the index, or its maintenance, by which `actor`",
        sql="SELECT ts, id, event, agent, actor, change FROM events WHERE event IN ('index', 'maintenance')",
    ),
}
