"""Reports on queries: how often they were asked, how well they were answered, whether people read on, and latency."""

from __future__ import annotations

from deia.ledger.report_values import Chart, Figure, Grid, Report, share
from deia.ledger.shared_rows import gather, over_time
from deia.ledger.sql_files import read_statements
from deia.ledger.warehouse import Connection, ask

SHOWN = 15  # rows of a table
PATH = (
    "A path is who asked and which tier the search used. `injection` is a hook in which a trigger fired; hooks in which"
    " nothing fired write nothing. The start-up of processes and compiling are not included."
)
TIMED = "(SELECT ts, agent, host, coalesce(tier, event) AS tier, response_time_ms AS ms FROM events"
TIMED += " WHERE response_time_ms IS NOT NULL)"
STATEMENTS = read_statements(__file__, shown=SHOWN, timed=TIMED, answerer="coalesce(agent, host, '?')")
# Upper bounds of the histogram's columns, in ms; each is about twice the one before.
EDGES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


def queries(connection: Connection) -> Report:
    """Return the report on what was asked most, what found nothing or little, and what came of it."""
    gather(connection, "asked_queries", "opened_documents", "query_texts", "repeated_queries", "document_counts")
    total, distinct, yes, badly, no, worded = ask(connection, STATEMENTS["sums"].sql)[0]
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
    most, lacking, rephrased = (STATEMENTS[name].sql for name in ("most", "lacking", "rephrased"))
    without = tuple((row[0], row[1], row[2], row[3]) for row in ask(connection, lacking, ["no"]))
    return (
        Grid(
            title="Asked most", columns=("question", "times", "by", "answered", "opened", "last"),
            rows=tuple((*row[:3], _rounded(row[3]), _rounded(row[4]), row[5]) for row in ask(connection, most)),
            units={"answered": "%", "opened": "%"}, empty="The log has the words of no question.",
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
    (total, marks), *_ = ask(connection, f"SELECT count(*), quantile_cont(ms, [0.5, 0.95, 0.99]) FROM {TIMED}")
    rows = ask(connection, STATEMENTS["paths"].sql)
    p50, p95, p99 = marks or (None, None, None)
    return Report(
        name="latency",
        title="Latency",
        lead=f"Half of {total:,} answers took {p50:.1f} ms or less." if total else "The log has no durations yet.",
        figures=tuple(
            Figure(label=name, value=_rounded(value), unit="ms")
            for name, value in (("p50", p50), ("p95", p95), ("p99", p99))
        ),
        blocks=(
            _histogram(connection),
            over_time(connection, "Latency over time", TIMED, {"p50": 0.5, "p95": 0.95}, unit="ms"),
            Grid(
                title="By path", columns=("path", "answers", "p50", "p95", "p99", "most"),
                rows=tuple((path, n, *map(_rounded, quantile), _rounded(most)) for path, n, quantile, most in rows),
                units=dict.fromkeys(("p50", "p95", "p99", "most"), "ms"),
            ),
        ),
        notes=(PATH,),
    )  # fmt: skip


def _histogram(connection: Connection) -> Chart:
    cases = " ".join(f"WHEN ms < {edge} THEN {number}" for number, edge in enumerate(EDGES))
    counts = dict(ask(connection, f"SELECT CASE {cases} ELSE {len(EDGES)} END, count(*) FROM {TIMED} GROUP BY 1"))
    labels = (*(f"< {edge:g}" for edge in EDGES), f"≥ {EDGES[-1]:g}")
    return Chart(
        title="Answers by duration, in ms", kind="columns", labels=labels,
        series={"answers": tuple(float(counts.get(number, 0)) for number in range(len(labels)))},
    )  # fmt: skip


def _percent(part: int, whole: int) -> str:
    return f"{share(part, whole):g} %" if whole else "none"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 1)
