-- [pairs] questions and documents; feedback on an answer is about the document that it names, else the one that was
-- opened, else the first one
WITH judged AS (
    SELECT q.asked, coalesce(f.doc, q.opened, q.docs[1]) AS doc, f.verdict AS name, q.who, f.voice
    FROM (SELECT *, {voice} FROM events) f JOIN resolutions q ON f.about = q.id
    WHERE f.event = 'feedback' AND f.verdict IN ('useful', 'prevented', 'noise', 'wrong')
),
later AS (
    SELECT p.asked, r.opened AS doc, 'opened-later' AS name, p.who, r.voice
    FROM ({tried_again}) p JOIN resolutions r ON r.who = p.who AND r.ts = p.again_at AND r.opened IS NOT NULL
    WHERE NOT list_contains(p.docs[1:1], r.opened) AND (p.again_at <= p.ts + INTERVAL {seconds} SECOND OR p.is_near)
),
signals AS (
    FROM judged
    UNION ALL SELECT asked, opened, 'opened', who, voice FROM resolutions WHERE opened IS NOT NULL
    UNION ALL FROM later
    UNION ALL SELECT asked, docs[1], 'ignored', who, voice FROM resolutions
        WHERE opened IS NOT NULL AND opened <> docs[1]
)
SELECT asked, doc, name, least(count(DISTINCT who), count(DISTINCT voice))::BIGINT AS people FROM signals
WHERE asked IS NOT NULL AND asked <> '' AND doc IS NOT NULL AND doc <> ''
GROUP BY 1, 2, 3 ORDER BY people DESC, 1, 2, 3 LIMIT {most_pairs}

-- [firings] each trigger with its signals; the parameters are two lists: triggers that were changed, and when
WITH settled AS (SELECT unnest(?::VARCHAR[]) AS changed, unnest(?::TIMESTAMP[]) AS changed_at),
fired AS (
    SELECT *, outcome = 'held' AND EXISTS (SELECT 1 FROM injections p WHERE p.outcome = 'passed'
        AND p.trigger = i.trigger AND p.who = i.who AND p.ts >= i.ts) AS passed,
        EXISTS (SELECT 1 FROM reads r WHERE r.who = i.who AND list_contains(i.docs, r.doc) AND r.ts >= i.ts
            AND r.ts <= i.ts + INTERVAL {minutes} MINUTE) AS was_read,
        starts_with(because, 'error') AND EXISTS (SELECT 1 FROM injections l WHERE l.trigger = i.trigger
            AND l.who = i.who AND l.ts > i.ts AND l.outcome IN ('shown', 'held')) AS came_again
    FROM injections i WHERE outcome IN ('shown', 'held', 'muted')
        AND NOT EXISTS (SELECT 1 FROM settled WHERE changed = i.trigger AND i.ts < changed_at)
),
judgement AS (
    SELECT trigger, about, voice, unnest(CASE WHEN verdict IN ('noise', 'wrong') THEN [verdict, 'called noise']
        ELSE [verdict] END) AS verdict
    FROM feedback f WHERE trigger IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM settled WHERE changed = f.trigger AND f.ts < changed_at)
),
said AS (
    SELECT trigger, max(people) FILTER (verdict = 'useful') AS useful,
        max(people) FILTER (verdict = 'prevented') AS prevented, max(people) FILTER (verdict = 'noise') AS noise,
        max(people) FILTER (verdict = 'wrong') AS wrong, max(people) FILTER (verdict = 'called noise') AS called_noise
    FROM (SELECT trigger, verdict, least(count(DISTINCT about), count(DISTINCT voice)) AS people
        FROM judgement GROUP BY 1, 2)
    GROUP BY 1
)
SELECT f.trigger, count(*) FILTER (outcome <> 'muted'), strftime(min(ts), '%Y-%m-%d'), strftime(max(ts), '%Y-%m-%d'),
    coalesce(any_value(s.called_noise), 0), coalesce(any_value(s.useful), 0), coalesce(any_value(s.prevented), 0),
    coalesce(any_value(s.noise), 0), coalesce(any_value(s.wrong), 0),
    least(count(DISTINCT who) FILTER (outcome = 'muted'), count(DISTINCT voice) FILTER (outcome = 'muted')),
    count(DISTINCT voice) FILTER (outcome = 'held' AND NOT passed),
    count(DISTINCT voice) FILTER (outcome = 'held' AND passed),
    count(DISTINCT voice) FILTER (outcome <> 'muted' AND was_read),
    count(DISTINCT voice) FILTER (coalesce(came_again, false))
FROM fired f LEFT JOIN said s ON s.trigger = f.trigger GROUP BY 1 ORDER BY 1

-- [judged] the last firings of each trigger that somebody judged; the parameters are those of `firings`
WITH settled AS (SELECT unnest(?::VARCHAR[]) AS changed, unnest(?::TIMESTAMP[]) AS changed_at)
SELECT i.trigger, any_value(i.action), any_value(i.because), NOT bool_or(f.verdict IN ('noise', 'wrong')),
    any_value(f.voice)
FROM injections i JOIN feedback f ON f.about = i.id
WHERE f.verdict IN ('useful', 'prevented', 'noise', 'wrong')
    AND NOT EXISTS (SELECT 1 FROM settled WHERE changed = i.trigger AND i.ts < changed_at)
GROUP BY i.trigger, i.id
QUALIFY row_number() OVER (PARTITION BY i.trigger ORDER BY max(i.ts) DESC, i.id) <= {most_judged}
ORDER BY i.trigger, max(i.ts) DESC, i.id

-- [by_conversation] the signals of each trigger in each conversation
SELECT i.conversation, i.trigger, count(DISTINCT f.id) FILTER (verdict = 'useful'),
    count(DISTINCT f.id) FILTER (verdict = 'prevented'), count(DISTINCT f.id) FILTER (verdict = 'noise'),
    count(DISTINCT f.id) FILTER (verdict = 'wrong'), max((i.outcome = 'muted')::INT), max((i.outcome = 'passed')::INT)
FROM injections i LEFT JOIN feedback f ON f.about = i.id
WHERE i.conversation IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2

-- [questions] each question
SELECT asked AS text, count(*) AS times, least(count(DISTINCT who), count(DISTINCT voice)) AS people,
    avg((answered = 'yes')::INT) AS answered
FROM queries WHERE asked IS NOT NULL AND asked <> '' GROUP BY 1 ORDER BY times DESC, text LIMIT {most}

-- [rephrased] what failed, and what the same person then asked with success
SELECT p.asked AS first, p.again AS "then", coalesce(mode(r.opened), mode(r.docs[1])) AS document,
    least(count(DISTINCT p.who), count(DISTINCT p.voice)) AS people
FROM ({tried_again}) p JOIN resolutions r ON r.who = p.who AND r.ts = p.again_at
WHERE (r.opened IS NOT NULL OR (r.answered = 'yes' AND p.answered <> 'yes')) AND len(r.docs) > 0
GROUP BY 1, 2 ORDER BY people DESC, 1, 2 LIMIT {most}

-- [together] two documents that the same people opened
SELECT a.doc AS first, b.doc AS "then", least(count(DISTINCT a.who), count(DISTINCT a.voice)) AS people
FROM reads a JOIN reads b
    ON a.who = b.who AND a.doc <> b.doc AND b.ts >= a.ts AND b.ts <= a.ts + INTERVAL {minutes} MINUTE
WHERE a.who <> '?' GROUP BY 1, 2 HAVING people >= {together} ORDER BY people DESC, 1, 2 LIMIT {most}

-- [shown] each document of the first three of an answer
SELECT doc AS document, count(*) AS shown, count(*) FILTER (opened = doc) AS opened,
    count(DISTINCT voice) FILTER (first AND opened IS NOT NULL AND opened <> doc) AS passed_over
FROM (SELECT unnest(docs[1:3]) AS doc, opened, voice, docs[1] = unnest(docs[1:3]) AS first FROM resolutions)
GROUP BY 1 ORDER BY 1
