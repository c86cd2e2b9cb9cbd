-- [lacking] the queries that were answered badly; one that was answered at least half of the time, or the last time, is
-- no gap any more
WITH lacking AS (
    SELECT asked, count(*) FILTER (answered <> 'yes') AS times, count(*) FILTER (answered = 'no') AS unanswered,
        strftime(max(ts), '%Y-%m-%d') AS last
    FROM asked_queries WHERE asked IS NOT NULL
    GROUP BY 1 HAVING arg_max(answered, ts) <> 'yes' AND avg((answered = 'yes')::INT) < 0.5
),
top AS (
    SELECT text, lacking.* FROM lacking JOIN query_texts USING (asked) WHERE text <> ''
    ORDER BY times DESC, text LIMIT {most}
),
met AS (
    SELECT asked, list(DISTINCT who)[1:{people}] AS people, mode(docs[1]) AS doc
    FROM asked_queries JOIN (SELECT asked FROM top) USING (asked) GROUP BY 1
)
SELECT text AS question, times, unanswered, people AS who, top.last, name AS doc
FROM top JOIN met USING (asked) LEFT JOIN document_counts USING (doc) ORDER BY times DESC, text
