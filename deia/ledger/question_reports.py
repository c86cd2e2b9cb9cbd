"""Reports on queries: how often they were asked, how well they were answered, whether people read on, and latency."""

from __future__ import annotations

from deia.ledger.periods import over_time
from deia.ledger.report_values import Chart, Figure, Grid, Report, share
from deia.ledger.shared_rows import gather
from deia.ledger.warehouse import Connection, ask

SHOWN = 15  # rows of a table
PATH = (
    "A path is who asked and which tier the search used. `injection` is a hook in which a trigger fired; hooks in which"
    " nothing fired write nothing. The start-up of processes is not included."
)
WHO_ANSWERED = "coalesce(agent, host, '?')"
# Upper bounds of the histogram's columns, in ms; each is about twice the one before.
EDGES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


def queries(connection: Connection) -> Report:
    """Return the report on what was asked most, what found nothing or little, and what came of it."""
    gather(connection, "asked_queries", "opened_documents", "query_texts", "repeated_queries", "document_counts")
    sums = """SELECT count(*), count(DISTINCT asked), count(*) FILTER (answered = 'yes'),
        count(*) FILTER (answered = 'badly'), count(*) FILTER (answered = 'no'), count(asked) FROM asked_queries"""
    total, distinct, yes, badly, no, worded = ask(connection, sums)[0]
    opened, seconds = ask(connection, "SELECT count(*), median(seconds) FROM opened_documents")[0]
    again = ask(connection, "SELECT count(*), count(*) FILTER (again_answered = 'yes') FROM repeated_queries")[0]
    return Report(
        name="queries",
        title="Questions",
        lead=f"{total:,} questions, {_percent(yes, total)} of them answered." if total else "Nothing was asked yet.",
        figures=(
            Figure(label="asked", value=total, note=f"{distinct:,} different"),
            Figure(label="answered", value=share(yes, total), unit="%"),
            Figure(label="answered badly", value=share(badly, total), unit="%", note="partly, or hardly sure"),
            Figure(label="unanswered", value=share(no, total), unit="%"),
            Figure(label="a document was opened", value=share(opened, total), unit="%"),
            Figure(label="until it was opened, median", value=_rounded(seconds), unit="s"),
            Figure(label="asked again in other words", value=again[0], note=f"{again[1]:,} of them with success"),
        ),
        blocks=(
            over_time(
                connection, "How questions were answered", "asked_queries",
                {"answered": "answered = 'yes'", "badly": "answered = 'badly'", "unanswered": "answered = 'no'"},
            ),
            *(_tables(connection)),
        ),
        notes=() if worded == total else (f"{total - worded:,} questions were kept without their words.",),
    )  # fmt: skip


def _tables(connection: Connection) -> tuple[Grid, ...]:
    # The rows to show are selected first: counting who asked costs most, and is then done only for them.
    top = f"""WITH counted AS (SELECT asked, count(*) AS n FROM asked_queries WHERE asked IS NOT NULL {{}} GROUP BY 1),
        top AS (SELECT asked, text FROM counted JOIN query_texts USING (asked) ORDER BY n DESC, text LIMIT {SHOWN})"""
    most = f"""{top.format("")},
        opened AS (SELECT asked, count(*) AS n FROM opened_documents WHERE asked IN (SELECT asked FROM top) GROUP BY 1)
        SELECT text, count(*) AS times, count(DISTINCT who), 100.0 * avg((answered = 'yes')::INT),
            100.0 * coalesce(any_value(opened.n), 0) / count(*), strftime(max(ts), '%Y-%m-%d')
        FROM asked_queries JOIN top USING (asked) LEFT JOIN opened USING (asked) GROUP BY 1 ORDER BY times DESC, text"""
    lacking = f"""{top.format("AND answered = $1")},
        found AS (SELECT text, count(*) AS times, count(DISTINCT who) AS people, strftime(max(ts), '%Y-%m-%d') AS last,
            arg_max(docs[1], ts) AS doc
        FROM asked_queries JOIN top USING (asked) WHERE answered = $1 GROUP BY 1)
        SELECT text, times, people, found.last, name FROM found LEFT JOIN document_counts USING (doc)
        ORDER BY times DESC, text"""
    rephrased = f"""WITH top AS (SELECT asked, again, count(*) AS times FROM repeated_queries WHERE answered <> 'yes'
            AND again_answered = 'yes' GROUP BY 1, 2)
        SELECT one.text AS first, other.text, times FROM top JOIN query_texts one ON one.asked = top.asked
            JOIN query_texts other ON other.asked = top.again ORDER BY times DESC, first, other.text LIMIT {SHOWN}"""
    without = tuple((row[0], row[1], row[2], row[3]) for row in ask(connection, lacking, ["no"]))
    return (
        Grid(
            title="Asked most", columns=("question", "times", "by", "answered", "opened", "last"),
            rows=tuple((*row[:3], _rounded(row[3]), _rounded(row[4]), row[5]) for row in ask(connection, most)),
            units={"answered": "%", "opened": "%"}, empty="No question has its words in the ledger.",
        ),
        Grid(title="Unanswered", columns=("question", "times", "by", "last"), rows=without,
             empty="Every question found something."),
        Grid(title="Answered badly", columns=("question", "times", "by", "last", "nearest document"),
             rows=tuple(ask(connection, lacking, ["badly"])), empty="None."),
        Grid(title="Found in other words", columns=("first", "then", "times"), rows=tuple(ask(connection, rephrased)),
             empty="None.", note="What failed, and what the same person or agent asked next with success."),
    )  # fmt: skip


def latency(connection: Connection) -> Report:
    """Return the report on how long answers took, by path."""
    timed = "FROM (SELECT ts, agent, host, coalesce(tier, event) AS tier, response_time_ms AS ms FROM events"
    timed += " WHERE response_time_ms IS NOT NULL)"
    quantiles = "quantile_cont(ms, [0.5, 0.95, 0.99])"
    (total, marks), *_ = ask(connection, f"SELECT count(*), {quantiles} {timed}")
    rows = ask(connection, f"SELECT {WHO_ANSWERED} || ' · ' || coalesce(tier, 'no tier') AS path, n, marks, most FROM"
               f" (SELECT {WHO_ANSWERED} AS agent, NULL AS host, tier, count(*) AS n, {quantiles} AS marks,"
               " max(ms) AS most"
               f" {timed} GROUP BY ALL) ORDER BY n DESC, path LIMIT {SHOWN}")  # fmt: skip
    p50, p95, p99 = marks or (None, None, None)
    return Report(
        name="latency",
        title="Latency",
        lead=f"Half of {total:,} answers took {p50:.1f} ms or less." if total else "The ledger has no durations yet.",
        figures=tuple(
            Figure(label=name, value=_rounded(value), unit="ms")
            for name, value in (("p50", p50), ("p95", p95), ("p99", p99))
        ),
        blocks=(
            _histogram(connection, timed),
            over_time(connection, "Latency over time", timed[5:], {"p50": 0.5, "p95": 0.95}, unit="ms"),
            Grid(
                title="By path", columns=("path", "answers", "p50", "p95", "p99", "most"),
                rows=tuple((path, n, *map(_rounded, quantile), _rounded(most)) for path, n, quantile, most in rows),
                units=dict.fromkeys(("p50", "p95", "p99", "most"), "ms"),
            ),
        ),
        notes=(PATH,),
    )  # fmt: skip


def _histogram(connection: Connection, timed: str) -> Chart:
    cases = " ".join(f"WHEN ms < {edge} THEN {number}" for number, edge in enumerate(EDGES))
    counts = dict(ask(connection, f"SELECT CASE {cases} ELSE {len(EDGES)} END, count(*) {timed} GROUP BY 1"))
    labels = (*(f"< {edge:g}" for edge in EDGES), f"≥ {EDGES[-1]:g}")
    return Chart(
        title="Answers by duration, in ms", kind="columns", labels=labels,
        series={"answers": tuple(float(counts.get(number, 0)) for number in range(len(labels)))},
    )  # fmt: skip


def _percent(part: int, whole: int) -> str:
    return f"{share(part, whole):g} %" if whole else "none"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 1)
