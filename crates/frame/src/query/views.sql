-- What a query sees. Joins run from the runs that are in the store to their passes, which the index keeps
-- in this order.
CREATE TEMP VIEW runs AS
SELECT f.name AS run, f.bench, f.state, f.started, f.finished, f.elapsed_s, f.cases, f.configurations,
    f.passes_per_case, f.planned,
    (SELECT count(*) FROM idx.run r JOIN idx.pass p ON p.run = r.id WHERE r.name = f.name) AS passes,
    f.seed, f.timeout_ms, f.part, f.parent, f.parts, f.grader, f.regraded, f.program, f.revision, f.dirty,
    f.os, f.cpu, f.cores, f.memory_bytes, f.suite_digest, f.cases_digest, f.tools_digest, f.prompts_digest
FROM store.run f
ORDER BY f.started, f.name;

CREATE TEMP VIEW configurations AS
SELECT f.name AS run, f.bench, c.name AS configuration, c.position, c.model, c.backend, c.model_name,
    c.model_digest, c.template_digest, c.quantization, c.runtime, c.structure, c.selection, c.memory, c.prompt,
    c.temperature, c.top_k, c.top_p, c.min_p, c.max_tokens, c.context, c.think, c.stream, c.jobs, c.given_up
FROM store.run f CROSS JOIN store.configuration c ON c.run = f.id;

CREATE TEMP VIEW cases AS
SELECT f.name AS run, f.bench, c.name AS "case", c.position, c.family, c.language, c.kind, c.request, c.tools,
    c.expects, c.provenance, c.source, c.scenario
FROM store.run f CROSS JOIN store."case" c ON c.run = f.id;

-- Names and kinds are looked up where a query asks for them: an aggregate makes even the joins that it
-- does not need.
CREATE TEMP VIEW passes AS
SELECT f.name AS run, f.bench,
    (SELECT c.name FROM store.configuration c WHERE c.run = f.id AND c.position = p.configuration) AS configuration,
    (SELECT n.name FROM idx.case_name n WHERE n.run = r.id AND n.position = p.case_position) AS "case",
    (SELECT k.family FROM store."case" k WHERE k.run = f.id AND k.position = p.case_position) AS family,
    (SELECT k.language FROM store."case" k WHERE k.run = f.id AND k.position = p.case_position) AS language,
    (SELECT k.kind FROM store."case" k WHERE k.run = f.id AND k.position = p.case_position) AS kind,
    p.pass, p.success, p.class, (SELECT d.kind FROM main.class d WHERE d.name = p.class) AS class_kind, p.recovered,
    p.attempt, p.cold, p.first_token_ms, p.first_call_ms, p.total_ms, p.prompt_tokens, p.cached_tokens,
    p.completion_tokens, p.output
FROM store.run f CROSS JOIN idx.run r ON r.name = f.name CROSS JOIN idx.pass p ON p.run = r.id;

CREATE TEMP VIEW cells AS
SELECT run, bench, configuration, "case", family, language, kind, passed, total, invalid,
    CASE WHEN total > 0 THEN 1.0 * passed / total END AS rate,
    wilson_low(passed, total) AS low, wilson_high(passed, total) AS high,
    recovered, distinct_outputs, median_total_ms
FROM (
    SELECT a.run, a.bench, c.name AS configuration, n.name AS "case", k.family, k.language, k.kind, a.passed, a.total,
        a.invalid, a.recovered, a.distinct_outputs, a.median_total_ms
    FROM (
        -- Grouped by the run's name: a condition on it reaches the index, and only that run is read.
        SELECT f.name AS run, f.id AS file, r.id AS number, f.bench AS bench, p.configuration AS configuration,
            p.case_position AS position, coalesce(sum(p.success), 0) AS passed, count(p.success) AS total,
            sum(p.success IS NULL) AS invalid, coalesce(sum(p.recovered AND p.success IS NOT NULL), 0) AS recovered,
            count(DISTINCT CASE WHEN p.success IS NOT NULL THEN p.output END) AS distinct_outputs,
            median(CASE WHEN p.success IS NOT NULL THEN p.total_ms END) AS median_total_ms
        FROM store.run f CROSS JOIN idx.run r ON r.name = f.name CROSS JOIN idx.pass p ON p.run = r.id
        GROUP BY f.name, p.configuration, p.case_position
    ) a
    LEFT JOIN store.configuration c ON c.run = a.file AND c.position = a.configuration
    LEFT JOIN idx.case_name n ON n.run = a.number AND n.position = a.position
    LEFT JOIN store."case" k ON k.run = a.file AND k.position = a.position
);

CREATE TEMP VIEW failures AS
SELECT a.run, a.bench, c.name AS configuration, n.name AS "case", k.family, a.class, d.kind AS class_kind, a.passes
FROM (
    SELECT f.name AS run, f.id AS file, r.id AS number, f.bench AS bench, p.configuration AS configuration,
        p.case_position AS position, p.class AS class, count(*) AS passes
    FROM store.run f CROSS JOIN idx.run r ON r.name = f.name CROSS JOIN idx.pass p ON p.run = r.id
    WHERE p.class IS NOT NULL
    GROUP BY f.name, p.configuration, p.case_position, p.class
) a
LEFT JOIN store.configuration c ON c.run = a.file AND c.position = a.configuration
LEFT JOIN idx.case_name n ON n.run = a.number AND n.position = a.position
LEFT JOIN store."case" k ON k.run = a.file AND k.position = a.position
LEFT JOIN main.class d ON d.name = a.class;

CREATE TEMP VIEW turns AS
SELECT t.turn, t.thread, t.at, t.request, t.model, t.profile, t.think, t.selection, t.structure, t.offered, t."end",
    t.answer, t.author, t.ms,
    (SELECT count(*) FROM agent.round r WHERE r.turn = t.turn) AS rounds,
    (SELECT count(*) FROM agent.call c WHERE c.turn = t.turn) AS calls,
    (SELECT count(*) FROM agent.call c WHERE c.turn = t.turn AND c.outcome NOT IN ('ok', 'repeated')) AS failed_calls,
    (SELECT count(*) FROM agent.confirmation c WHERE c.turn = t.turn) AS confirmations,
    (SELECT count(*) FROM agent.retry r WHERE r.turn = t.turn) AS retries,
    (SELECT sum(r.prompt_tokens) FROM agent.round r WHERE r.turn = t.turn) AS prompt_tokens,
    (SELECT sum(r.completion_tokens) FROM agent.round r WHERE r.turn = t.turn) AS completion_tokens,
    (SELECT sum(d.cost_usd) FROM agent.delegation d WHERE d.turn = t.turn) AS cost_usd,
    t.verdict
FROM agent.turn t
ORDER BY t.at;

CREATE TEMP VIEW rounds AS
SELECT r.turn, t.thread, r.at, r.number AS round, t.model, r.tools, r.messages, r.prompt_tokens, r.counted_tokens,
    r.completion_tokens, r.ms, r.first_token_ms, r.calls, r.class
FROM agent.round r LEFT JOIN agent.turn t ON t.turn = r.turn;

CREATE TEMP VIEW calls AS
SELECT c.turn, t.thread, c.at, c.number AS call, c.tool, c.tier, c.outcome, c.arguments, c.reason, c.result, c.ms,
    c.untrusted
FROM agent.call c LEFT JOIN agent.turn t ON t.turn = c.turn;

CREATE TEMP VIEW confirmations AS
SELECT c.turn, t.thread, c.at, c.number AS call, c.tool, c.tier, c.answer, c.ms
FROM agent.confirmation c LEFT JOIN agent.turn t ON t.turn = c.turn;

CREATE TEMP VIEW verdicts AS
SELECT v.turn, t.thread, v.at, v.verdict
FROM agent.verdict v LEFT JOIN agent.turn t ON t.turn = v.turn;

CREATE TEMP VIEW retries AS
SELECT r.turn, t.thread, r.at, r.reason
FROM agent.retry r LEFT JOIN agent.turn t ON t.turn = r.turn;

CREATE TEMP VIEW delegations AS
SELECT d.turn, t.thread, d.at, d.provider, d.characters, d.cost_usd, d.deduplicated, d.outcome
FROM agent.delegation d LEFT JOIN agent.turn t ON t.turn = d.turn;

CREATE TEMP VIEW events AS
SELECT e.turn, t.thread, e.at, e.event, e.detail
FROM agent.event e LEFT JOIN agent.turn t ON t.turn = e.turn;
