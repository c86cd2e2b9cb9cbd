-- The views of the warehouse; later ones build on earlier ones.

-- [queries] a query: `who` asked (the conversation or else the agent), `asked` in lower case, `answered` yes,
-- badly (partly, with low confidence, or judged noise or wrong) or no
SELECT ts, id, conversation, agent, host, {who}, {voice}, query,
    lower(trim(query)) AS asked,
    query_type, matched, confidence, cluster, docs, response_time_ms, tier,
    CASE WHEN matched = 'false' OR (matched IS NULL AND len(docs) = 0) THEN 'no'
        WHEN id IN (SELECT about FROM events
            WHERE event = 'feedback' AND verdict IN ('noise', 'wrong') AND about IS NOT NULL) THEN 'badly'
        WHEN matched = 'partial' OR confidence = 'low' THEN 'badly' ELSE 'yes' END AS answered
FROM events WHERE event = 'query'

-- [injections] a trigger that fired: `outcome` shown, held, passed, muted, quiet or over_budget
SELECT ts, id, conversation, agent, host, {who}, {voice}, trigger, because, docs, chars, action,
    coalesce(outcome, 'shown') AS outcome, response_time_ms
FROM events WHERE event = 'injection' AND trigger IS NOT NULL

-- [feedback] a judgement: `about` is the id of the judged event, whose `trigger`, `query` and `docs` are given
SELECT f.ts, f.id, f.agent, f.voice, f.about, f.verdict, f.note, coalesce(judged.trigger, f.trigger) AS trigger,
    judged.query, coalesce(judged.docs, f.docs) AS docs, coalesce(judged.outcome, f.outcome) AS outcome
FROM (SELECT *, {voice} FROM events) f LEFT JOIN (
    SELECT id, any_value(trigger) AS trigger, any_value(query) AS query, any_value(docs) AS docs,
        any_value(outcome) AS outcome
    FROM events WHERE event IN ('query', 'injection')
        AND id IN (SELECT about FROM events WHERE event = 'feedback') GROUP BY id
) judged ON f.about = judged.id
WHERE f.event = 'feedback'

-- [reads] a document that somebody opened, `via` what
SELECT ts, id, conversation, agent, host, {who}, {voice}, doc, via FROM events
WHERE event = 'read' AND doc IS NOT NULL
UNION ALL
SELECT ts, id, conversation, agent, host, {who}, {voice}, clicked, 'click' FROM events
WHERE event = 'query' AND clicked IS NOT NULL

-- [resolutions] a query with the document that the same person opened next, within {minutes} minutes, if the answer
-- contained it: `opened`, and `seconds` until then
SELECT q.*, CASE WHEN {hit} THEN r.doc END AS opened, CASE WHEN {hit} THEN epoch(r.ts - q.ts) END AS seconds
FROM queries q ASOF LEFT JOIN reads r ON q.who = r.who AND r.ts >= q.ts

-- [successions] a query, and the next one by the same person within {minutes} minutes, alike or not: `asked` and
-- `answered`, then `again` and `again_answered`
SELECT * FROM (
    SELECT ts, who, voice, asked, answered, docs, lead(asked) OVER w AS again,
        lead(answered) OVER w AS again_answered, lead(docs) OVER w AS again_docs, lead(ts) OVER w AS again_at
    FROM queries WHERE asked IS NOT NULL AND who <> '?' WINDOW w AS (PARTITION BY who ORDER BY ts)
) WHERE again <> asked AND again_at <= ts + INTERVAL {minutes} MINUTE

-- [rephrasings] the `successions` whose queries are alike: the same asked again in other words
SELECT * FROM successions WHERE {alike}

-- [errors] an error of deia itself, with its `place`
SELECT ts, id, host, agent, error, place FROM events WHERE event = 'error'

-- [changes] a change of the index, or its maintenance, by which `actor`
SELECT ts, id, event, agent, actor, change FROM events WHERE event IN ('index', 'maintenance')
