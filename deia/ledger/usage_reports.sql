-- [documents] each document that was shown or used
SELECT name, asked, put, opened, coalesce(useful, 0), coalesce(noise, 0), strftime(greatest(last, judged), '%Y-%m-%d')
FROM document_counts LEFT JOIN (
    SELECT doc, count(*) FILTER (verdict IN ('useful', 'prevented')) AS useful,
        count(*) FILTER (verdict IN ('noise', 'wrong')) AS noise, max(ts) AS judged, count(*) AS said
    FROM judgements GROUP BY 1
) USING (doc) WHERE asked + put + opened + coalesce(said, 0) > 0 ORDER BY 1

-- [triggers] each trigger that fired
SELECT i.trigger, count(*) FILTER (outcome IN ('shown', 'held')) AS fired, count(*) FILTER (outcome = 'held'),
    count(*) FILTER (outcome = 'passed'), count(*) FILTER (outcome = 'muted'), count(*) FILTER (outcome = 'quiet'),
    count(*) FILTER (outcome = 'over_budget'),
    count(DISTINCT who), coalesce(any_value(f.useful), 0), coalesce(any_value(f.noise), 0),
    strftime(max(ts), '%Y-%m-%d')
FROM fired_triggers i LEFT JOIN (
    SELECT trigger, count(*) FILTER (verdict IN ('useful', 'prevented')) AS useful,
        count(*) FILTER (verdict IN ('noise', 'wrong')) AS noise
    FROM judgements WHERE trigger IS NOT NULL GROUP BY 1
) f ON f.trigger = i.trigger
GROUP BY 1 ORDER BY fired DESC, 1

-- [called_prevented] how often somebody said that a mistake was prevented
SELECT count(DISTINCT about) FROM judgements WHERE verdict = 'prevented'

-- [agents] each agent and host
SELECT coalesce(agent, host, 'unnamed') AS name, count(DISTINCT conversation),
    count(*) FILTER (event = 'query'),
    100.0 * avg(CASE WHEN event = 'query' THEN (matched = 'true')::INT END),
    count(*) FILTER ({lesson}), count(*) FILTER (outcome = 'held'),
    count(*) FILTER (event = 'read'), count(*) FILTER (event = 'feedback'),
    count(*) FILTER (event = 'error'), strftime(max(ts), '%Y-%m-%d') AS last
FROM events GROUP BY 1 ORDER BY count(*) DESC, 1

-- [lessons] what reached agents
SELECT count(*), count(*) FILTER (outcome = 'held'), count(DISTINCT who) FROM fired_triggers
WHERE outcome IN ('shown', 'held')

-- [summary] everything in one row
SELECT count(*), strftime(min(ts), '%Y-%m-%d'), strftime(max(ts), '%Y-%m-%d')
FROM events
