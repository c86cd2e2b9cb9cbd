-- [sums] all questions in one row
SELECT count(*), count(DISTINCT asked), count(*) FILTER (answered = 'yes'), count(*) FILTER (answered = 'badly'),
    count(*) FILTER (answered = 'no'), count(asked) FROM asked_queries

-- [most] what was asked most; the rows to show are selected first, since counting who asked costs most
WITH counted AS (SELECT asked, count(*) AS n FROM asked_queries WHERE asked IS NOT NULL GROUP BY 1),
top AS (SELECT asked, text FROM counted JOIN query_texts USING (asked) ORDER BY n DESC, text LIMIT {shown}),
opened AS (SELECT asked, count(*) AS n FROM opened_documents WHERE asked IN (SELECT asked FROM top) GROUP BY 1)
SELECT text, count(*) AS times, count(DISTINCT who), 100.0 * avg((answered = 'yes')::INT),
    100.0 * coalesce(any_value(opened.n), 0) / count(*), strftime(max(ts), '%Y-%m-%d')
FROM asked_queries JOIN top USING (asked) LEFT JOIN opened USING (asked) GROUP BY 1 ORDER BY times DESC, text

-- [lacking] what was answered badly, or not at all
WITH counted AS (
    SELECT asked, count(*) AS n FROM asked_queries WHERE asked IS NOT NULL AND answered = $1 GROUP BY 1
),
top AS (SELECT asked, text FROM counted JOIN query_texts USING (asked) ORDER BY n DESC, text LIMIT {shown}),
found AS (
    SELECT text, count(*) AS times, count(DISTINCT who) AS people, strftime(max(ts), '%Y-%m-%d') AS last,
        arg_max(docs[1], ts) AS doc
    FROM asked_queries JOIN top USING (asked) WHERE answered = $1 GROUP BY 1
)
SELECT text, times, people, found.last, name FROM found LEFT JOIN document_counts USING (doc)
ORDER BY times DESC, text

-- [rephrased] what failed, and what was asked next with success
WITH top AS (
    SELECT asked, again, count(*) AS times FROM repeated_queries
    WHERE answered <> 'yes' AND again_answered = 'yes' GROUP BY 1, 2
)
SELECT one.text AS first, other.text, times FROM top JOIN query_texts one ON one.asked = top.asked
    JOIN query_texts other ON other.asked = top.again ORDER BY times DESC, first, other.text LIMIT {shown}

-- [paths] how long answers took, by who asked and which tier was used
SELECT {answerer} || ' · ' || coalesce(tier, 'no tier') AS path, n, marks, most FROM (
    SELECT {answerer} AS agent, NULL AS host, tier, count(*) AS n, quantile_cont(ms, [0.5, 0.95, 0.99]) AS marks,
        max(ms) AS most
    FROM {timed} GROUP BY ALL
) ORDER BY n DESC, path LIMIT {shown}
