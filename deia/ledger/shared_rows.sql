-- [asked_queries] the view `queries`, with a row per query
SELECT ts, {id}, hash(who) AS who, CASE WHEN asked IS NOT NULL THEN hash(asked) END AS asked,
    answered::ENUM ('yes', 'badly', 'no') AS answered, [hash(doc) for doc in docs] AS docs
FROM queries

-- [opened_documents] the rows of the view `resolutions` in which a document was opened
SELECT asked, epoch(r.ts - q.ts) AS seconds
FROM asked_queries q ASOF JOIN (SELECT ts, hash(who) AS who, hash(doc) AS doc FROM reads) r
    ON q.who = r.who AND r.ts >= q.ts
WHERE r.ts <= q.ts + INTERVAL {minutes} MINUTE AND list_contains(q.docs, r.doc)

-- [query_texts] every different query, with its text and its significant words
SELECT hash(text) AS asked, text, [hash(word) for word in {words_of_text}] AS words
FROM (SELECT DISTINCT asked AS text FROM queries WHERE asked IS NOT NULL)

-- [repeated_queries] the view `rephrasings`
SELECT s.* EXCLUDE (again_at, ts) FROM (
    SELECT ts, asked, answered, lead(asked) OVER w AS again, lead(answered) OVER w AS again_answered,
        lead(ts) OVER w AS again_at
    FROM asked_queries WHERE asked IS NOT NULL AND who <> hash('?') WINDOW w AS (PARTITION BY who ORDER BY ts)
) s JOIN query_texts one ON one.asked = s.asked JOIN query_texts other ON other.asked = s.again
WHERE s.again <> s.asked AND again_at <= s.ts + INTERVAL {minutes} MINUTE
    AND {alike}

-- [document_counts] every document by its name and its number, with how often it was in an answer, injected and opened
SELECT name, hash(name) AS doc, sum(asked)::BIGINT AS asked, sum(put)::BIGINT AS put,
    sum(opened)::BIGINT AS opened, max(last) AS last
FROM (
    SELECT name, count(*) AS asked, 0 AS put, 0 AS opened, max(ts) AS last FROM (
        SELECT unnest(docs[1:{shown}]) AS name, ts FROM events WHERE event = 'query') GROUP BY 1
    UNION ALL SELECT name, 0, count(*) FILTER (told), 0, max(ts) FILTER (told) FROM (
        SELECT unnest(docs) AS name, ts, outcome IN ('shown', 'held') AS told FROM injections) GROUP BY 1
    UNION ALL SELECT doc, 0, 0, count(*), max(ts) FROM reads GROUP BY 1
    UNION ALL SELECT DISTINCT docs[1], 0, 0, 0, NULL::TIMESTAMP FROM events WHERE event = 'feedback'
) WHERE name IS NOT NULL AND name <> '' GROUP BY 1

-- [fired_triggers] the view `injections`
SELECT ts, {id}, hash(who) AS who, trigger, outcome, hash(docs[1]) AS doc FROM injections

-- [judgements] the view `feedback`, with the first document of what was judged
WITH said AS (
    SELECT ts, hash(about) AS about, verdict, trigger, outcome, hash(docs[1]) AS doc FROM events
    WHERE event = 'feedback' AND about IS NOT NULL
),
judged AS (
    SELECT id, any_value(trigger) AS trigger, any_value(outcome) AS outcome, any_value(doc) AS doc
    FROM (SELECT id, trigger, outcome, doc FROM fired_triggers
        UNION ALL SELECT id, NULL, NULL, docs[1] FROM asked_queries)
    WHERE id IN (SELECT about FROM said) GROUP BY 1
)
SELECT ts, about, verdict, coalesce(j.trigger, f.trigger) AS trigger, coalesce(j.outcome, f.outcome) AS outcome,
    CASE WHEN j.id IS NULL THEN f.doc ELSE j.doc END AS doc
FROM said f LEFT JOIN judged j ON j.id = about
UNION ALL SELECT ts, NULL, verdict, trigger, outcome, hash(docs[1]) FROM events
WHERE event = 'feedback' AND about IS NULL

-- [unrepeated_holds] one number: the calls that were held, and nothing of their trigger passed later in the conversation
SELECT count(*) AS unrepeated FROM fired_triggers i LEFT JOIN (
    SELECT trigger, who, max(ts) AS last FROM fired_triggers WHERE outcome = 'passed' GROUP BY ALL
) p ON p.trigger = i.trigger AND p.who = i.who
WHERE outcome = 'held' AND NOT coalesce(last >= i.ts, false)
