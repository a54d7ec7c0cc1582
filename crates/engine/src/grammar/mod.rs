//! Constrained decoding: which tokens keep the answer inside a JSON Schema.
//!
//! llguidance compiles the schema and computes the masks; this module gives it the model's own
//! vocabulary ([`vocabulary`]), caches compiled schemas, and hides its types. White space between
//! JSON tokens is fixed to none, so every structural token is forced and a small model does not
//! lose itself in blanks.
//!
//! A [`Constraint`] is the state of one answer. Forks share the lexer's lazily built automaton,
//! so they are cheap and learn from one another, but nothing else.

mod schema;
mod vocabulary;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use serde_json::Value;
use tenpass_model::ModelError;
use toktrie::{SimpleVob, TokEnv};

use crate::tokenizer::Tokenizer;
use vocabulary::Vocabulary;

/// Compiled schemas kept; a bench uses one per tool list.
const CACHED_GRAMMARS: usize = 64;

/// Answers after which a grammar's automaton starts anew, so that a server does not grow: it
/// gains a state for every new turn that some answer took.
const ANSWERS_PER_AUTOMATON: u32 = 2000;

/// Compiles schemas for one vocabulary.
pub(crate) struct GrammarFactory {
    tokenizer: Arc<Tokenizer>,
    /// Built when the first schema comes: a large vocabulary takes a second.
    parsers: OnceLock<Result<ParserFactory, ModelError>>,
    compiled: Mutex<HashMap<String, Compiled>>,
}

/// A compiled schema.
struct Compiled {
    /// Never advanced, so never faulty.
    pristine: Constraint,
    /// What answers are forked from, so that they share an automaton.
    shared: Constraint,
    answers: u32,
}

impl Compiled {
    fn fork(&mut self) -> Constraint {
        self.answers += 1;
        if self.answers > ANSWERS_PER_AUTOMATON || self.shared.faulty.load(Ordering::Relaxed) {
            self.shared = self.pristine.independent();
            self.answers = 1;
        }
        self.shared.fork()
    }
}

impl GrammarFactory {
    /// Nothing is built yet.
    pub(crate) fn new(tokenizer: Arc<Tokenizer>) -> Self {
        Self { tokenizer, parsers: OnceLock::new(), compiled: Mutex::default() }
    }

    /// The state at the start of an answer that must satisfy `schema`.
    pub(crate) fn constraint(&self, schema: &Value) -> Result<Constraint, ModelError> {
        let key = schema.to_string();
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = compiled.get_mut(&key) {
            return Ok(known.fork());
        }
        let pristine = self.compile(schema)?;
        if compiled.len() >= CACHED_GRAMMARS {
            compiled.clear();
        }
        let shared = pristine.independent();
        Ok(compiled.entry(key).or_insert(Compiled { pristine, shared, answers: 0 }).fork())
    }

    fn compile(&self, schema: &Value) -> Result<Constraint, ModelError> {
        let Value::Object(schema) = schema else {
            return Err(schema_error("a schema must be a JSON object"));
        };
        let parsers = self.parsers.get_or_init(|| parsers(&self.tokenizer)).as_ref().map_err(Clone::clone)?;
        let grammar = TopLevelGrammar::from_json_schema(schema::prepare(schema));
        let parser = parsers.create_parser(grammar).map_err(schema_error)?;
        let mut constraint = Constraint { matcher: Matcher::new(Ok(parser)), faulty: Arc::default() };
        // An unsatisfiable schema shows here rather than in the middle of a batch; the automaton
        // for the first token is built for all answers at once.
        constraint.mask()?;
        Ok(constraint)
    }
}

fn parsers(tokenizer: &Arc<Tokenizer>) -> Result<ParserFactory, ModelError> {
    let environment: TokEnv = Arc::new(Vocabulary::new(Arc::clone(tokenizer)));
    let mut parsers = ParserFactory::new_simple(&environment).map_err(schema_error)?;
    parsers.quiet();
    parsers.limits_mut().verbose_errors = false;
    Ok(parsers)
}

/// The state of one constrained answer.
pub(crate) struct Constraint {
    matcher: Matcher,
    /// Set when an operation failed, for all that share the automaton: it may be damaged.
    faulty: Arc<AtomicBool>,
}

impl Constraint {
    /// A copy that goes its own way.
    pub(crate) fn fork(&self) -> Self {
        Self { matcher: self.matcher.clone(), faulty: Arc::clone(&self.faulty) }
    }

    /// A copy that shares nothing, so that a fault in it cannot spread.
    fn independent(&self) -> Self {
        Self { matcher: self.matcher.deep_clone(), faulty: Arc::default() }
    }

    /// The tokens that may come next; only end tokens when the answer is complete.
    pub(crate) fn mask(&mut self) -> Result<SimpleVob, ModelError> {
        let mask = self.matcher.compute_mask_or_eos();
        mask.map_err(|error| self.fault(error))
    }

    /// Appends a token. A token outside the mask is an error.
    pub(crate) fn commit(&mut self, token: u32) -> Result<(), ModelError> {
        let consumed = self.matcher.consume_token(token);
        consumed.map_err(|error| self.fault(error))
    }

    /// True when nothing can follow.
    pub(crate) fn is_done(&self) -> bool {
        self.matcher.is_stopped()
    }

    /// Tokens that must come next, in the tokenizer's own cut; each is to be committed, too.
    pub(crate) fn forced(&mut self) -> Vec<u32> {
        if self.is_done() { Vec::new() } else { self.matcher.compute_ff_tokens() }
    }

    fn fault(&self, error: impl std::fmt::Display) -> ModelError {
        self.faulty.store(true, Ordering::Relaxed);
        schema_error(error)
    }
}

fn schema_error(reason: impl std::fmt::Display) -> ModelError {
    let reason = reason.to_string();
    ModelError::Schema { reason: reason.lines().next().unwrap_or_default().to_owned() }
}

#[cfg(test)]
mod tests;
