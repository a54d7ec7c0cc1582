//! What a query can read: every table with its columns. The views of `views.sql` have exactly these.

use crate::Kind;

/// A table of the queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableDoc {
    /// Its name.
    pub name: &'static str,
    /// What a row of it is.
    pub about: &'static str,
    /// Its columns, in the order of `SELECT *`.
    pub columns: &'static [ColumnDoc],
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnDoc {
    /// Its name.
    pub name: &'static str,
    /// What it holds. Truth is 1 or 0, as in SQL.
    pub kind: Kind,
    /// What it says.
    pub about: &'static str,
}

const fn text(name: &'static str, about: &'static str) -> ColumnDoc {
    ColumnDoc { name, kind: Kind::Text, about }
}

const fn int(name: &'static str, about: &'static str) -> ColumnDoc {
    ColumnDoc { name, kind: Kind::Int, about }
}

const fn float(name: &'static str, about: &'static str) -> ColumnDoc {
    ColumnDoc { name, kind: Kind::Float, about }
}

/// Every table.
pub(crate) const TABLES: &[TableDoc] = &[
    TableDoc {
        name: "runs",
        about: "Runs, oldest first",
        columns: &[
            text("run", "The run's id"),
            text("bench", "tools, rounds, …"),
            text("state", "running, complete, interrupted or failed"),
            text("started", "When it began, UTC"),
            text("finished", "When it ended, UTC; NULL while it runs or after a kill"),
            float("elapsed_s", "Seconds spent in its sessions"),
            int("cases", "Cases"),
            int("configurations", "Configurations"),
            int("passes_per_case", "Passes of each case and configuration"),
            int("planned", "Passes of the complete run"),
            int("passes", "Passes that have a result, INVALID ones included"),
            text("seed", "Seed of the run, as text: it may be any 64-bit number"),
            int("timeout_ms", "Milliseconds an answer may take"),
            text("part", "Which part of the cases, K/N; NULL for all"),
            text("parent", "The run that this one follows"),
            text("parts", "The runs it was merged from, by commas"),
            text("grader", "Version of the grader"),
            text("regraded", "When it was graded again, UTC"),
            text("program", "Version of tenpass"),
            text("revision", "Revision of the working folder"),
            int("dirty", "1 where that had changes"),
            text("os", "Operating system"),
            text("cpu", "Processor"),
            int("cores", "Cores"),
            int("memory_bytes", "Main memory"),
            text("suite_digest", "sha256 of the suite"),
            text("cases_digest", "sha256 of the cases"),
            text("tools_digest", "sha256 of their tool definitions"),
            text("prompts_digest", "sha256 of their system prompts"),
        ],
    },
    TableDoc {
        name: "configurations",
        about: "Configurations of every run",
        columns: &[
            text("run", "The run's id"),
            text("bench", "Its bench"),
            text("configuration", "The configuration's id, unique in its run"),
            int("position", "Its place in the run, from 0"),
            text("model", "The model as typed"),
            text("backend", "embedded, ollama, openai or replay"),
            text("model_name", "The model's name at the backend"),
            text("model_digest", "Digest of the weights"),
            text("template_digest", "sha256 of the chat template"),
            text("quantization", "Quantisation"),
            text("runtime", "Versions of what runs it"),
            text("structure", "native, grammar or text"),
            text("selection", "Which tools are offered: all, router or relevance"),
            text("memory", "Which memory entries a turn sees"),
            text("prompt", "Sections of the prompt"),
            float("temperature", "Sampling temperature"),
            int("top_k", "Most likely tokens kept; 0 keeps all"),
            float("top_p", "Share of probability kept"),
            float("min_p", "Least share of the most likely token"),
            int("max_tokens", "Most tokens of an answer"),
            int("context", "Context in tokens"),
            text("think", "Thinking level"),
            int("stream", "1 where answers were streamed"),
            int("jobs", "Passes at the same time"),
            text("given_up", "Why the last session gave it up"),
        ],
    },
    TableDoc {
        name: "cases",
        about: "Cases of every run, as they were",
        columns: &[
            text("run", "The run's id"),
            text("bench", "Its bench"),
            text("case", "The case's id"),
            int("position", "Its place in the run, from 0"),
            text("family", "Its family"),
            text("language", "en or fr"),
            text("kind", "target or guard"),
            text("request", "The message to answer"),
            text("tools", "Names of its tools, a JSON list"),
            text("expects", "What must happen, on one line"),
            text("provenance", "Where the failure was seen"),
            text("source", "File and line"),
            int("scenario", "1 for a scenario of several turns"),
        ],
    },
    TableDoc {
        name: "passes",
        about: "Every pass with its grade",
        columns: &[
            text("run", "The run's id"),
            text("bench", "Its bench"),
            text("configuration", "The configuration's id"),
            text("case", "The case's id"),
            text("family", "Its family"),
            text("language", "en or fr"),
            text("kind", "target or guard"),
            int("pass", "Which pass, from 1"),
            int("success", "1 right, 0 wrong, NULL for INVALID or not graded yet"),
            text("class", "The main thing wrong with it; NULL where it is right"),
            text("class_kind", "choice, transport, arguments, talk, progress or invalid"),
            int("recovered", "1 where a call had to be recovered from the text"),
            int("attempt", "Which attempt gave the result"),
            int("cold", "1 where the configuration had not answered yet"),
            float("first_token_ms", "Milliseconds to the first token"),
            float("first_call_ms", "Milliseconds to the first call"),
            float("total_ms", "Milliseconds to the end"),
            int("prompt_tokens", "Tokens of the prompt"),
            int("cached_tokens", "Those from a cache"),
            int("completion_tokens", "Tokens of the answer"),
            int("output", "Equal for equal answers of one case"),
        ],
    },
    TableDoc {
        name: "cells",
        about: "Rates: a row a run, configuration and case",
        columns: &[
            text("run", "The run's id"),
            text("bench", "Its bench"),
            text("configuration", "The configuration's id"),
            text("case", "The case's id"),
            text("family", "Its family"),
            text("language", "en or fr"),
            text("kind", "target or guard"),
            int("passed", "Right answers"),
            int("total", "Answers that were judged"),
            int("invalid", "Passes without an answer to judge"),
            float("rate", "passed / total"),
            float("low", "Lower end of Wilson's 95 % interval"),
            float("high", "Upper end of it"),
            int("recovered", "Answers with a recovered call"),
            int("distinct_outputs", "Different answers: how many observations they are at most"),
            float("median_total_ms", "Median of the milliseconds to the end"),
        ],
    },
    TableDoc {
        name: "failures",
        about: "How often each class, a row a run, configuration, case and class",
        columns: &[
            text("run", "The run's id"),
            text("bench", "Its bench"),
            text("configuration", "The configuration's id"),
            text("case", "The case's id"),
            text("family", "Its family"),
            text("class", "What is wrong"),
            text("class_kind", "choice, transport, arguments, talk, progress or invalid"),
            int("passes", "Passes with it"),
        ],
    },
    TableDoc {
        name: "turns",
        about: "Turns of the agent, oldest first",
        columns: &[
            text("turn", "The turn's id"),
            text("thread", "The conversation"),
            text("at", "When it began, UTC"),
            text("request", "What the person wrote, secrets masked"),
            text("model", "The model"),
            text("profile", "panel, bar or voice"),
            text("think", "Thinking level"),
            text("selection", "How the tools were chosen"),
            text("structure", "native, grammar or text"),
            int("offered", "Tools offered"),
            text("end", "How it ended; NULL while it runs or where it was cut off"),
            text("answer", "What was shown"),
            text("author", "Who wrote that"),
            float("ms", "Milliseconds it took"),
            int("rounds", "Requests to the model"),
            int("calls", "Calls"),
            int("failed_calls", "Calls that were not carried out, or failed"),
            int("confirmations", "Confirmations asked for"),
            int("retries", "Times the model was asked again"),
            int("prompt_tokens", "Tokens read, over all rounds"),
            int("completion_tokens", "Tokens written, over all rounds"),
            float("cost_usd", "US dollars paid to providers"),
            text("verdict", "accepted, rejected or corrected: the last one"),
        ],
    },
    TableDoc {
        name: "rounds",
        about: "Requests to the model",
        columns: &[
            text("turn", "The turn's id"),
            text("thread", "The conversation"),
            text("at", "When, UTC"),
            int("round", "Which of the turn, from 1"),
            text("model", "The model"),
            int("tools", "Tools in the request"),
            int("messages", "Messages in the request"),
            int("prompt_tokens", "Tokens read, as the backend counts"),
            int("counted_tokens", "The same by our estimate"),
            int("completion_tokens", "Tokens written"),
            float("ms", "Milliseconds it took"),
            float("first_token_ms", "Milliseconds to the first token"),
            int("calls", "Calls found in the answer"),
            text("class", "What was wrong with their form"),
        ],
    },
    TableDoc {
        name: "calls",
        about: "Calls of tools",
        columns: &[
            text("turn", "The turn's id"),
            text("thread", "The conversation"),
            text("at", "When, UTC"),
            int("call", "Which of the turn, from 1"),
            text("tool", "The tool"),
            text("tier", "auto, confirm or irreversible"),
            text("outcome", "ok, error, refused, rejected, repeated, blocked or interrupted"),
            text("arguments", "The arguments as JSON, secrets masked"),
            text("reason", "Why it was not carried out, or what its error was"),
            text("result", "What the model got, at most 800 characters"),
            float("ms", "Milliseconds it ran"),
            int("untrusted", "1 where the result came from outside"),
        ],
    },
    TableDoc {
        name: "confirmations",
        about: "Confirmations and their answers",
        columns: &[
            text("turn", "The turn's id"),
            text("thread", "The conversation"),
            text("at", "When, UTC"),
            int("call", "Which call of the turn"),
            text("tool", "The tool"),
            text("tier", "confirm or irreversible"),
            text("answer", "approved, refused, expired or stopped"),
            float("ms", "Milliseconds the person took"),
        ],
    },
    TableDoc {
        name: "verdicts",
        about: "What the person said of a turn",
        columns: &[
            text("turn", "The turn that was judged"),
            text("thread", "The conversation"),
            text("at", "When, UTC"),
            text("verdict", "accepted, rejected or corrected"),
        ],
    },
    TableDoc {
        name: "retries",
        about: "Times the loop asked again",
        columns: &[
            text("turn", "The turn's id"),
            text("thread", "The conversation"),
            text("at", "When, UTC"),
            text("reason", "empty_final, narrated_action, call_as_text, fabricated_marker or unconstrained"),
        ],
    },
    TableDoc {
        name: "delegations",
        about: "Work handed to providers",
        columns: &[
            text("turn", "The turn's id"),
            text("thread", "The conversation"),
            text("at", "When, UTC"),
            text("provider", "The provider"),
            int("characters", "Characters sent"),
            float("cost_usd", "US dollars"),
            int("deduplicated", "1 where an answer paid for before was given again"),
            text("outcome", "How it ended, as in calls"),
        ],
    },
    TableDoc {
        name: "events",
        about: "What has no table of its own: memory, compression, escalation, watchdog, cancellation, fault",
        columns: &[
            text("turn", "The turn's id"),
            text("thread", "The conversation"),
            text("at", "When, UTC"),
            text("event", "Which kind"),
            text("detail", "Its fields as JSON"),
        ],
    },
];
