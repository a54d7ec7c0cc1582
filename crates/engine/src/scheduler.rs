//! The batch: which sequences are evaluated in a step, and what happens to them after it.
//!
//! Passes with the same prompt and the same tokens so far are one [`Group`]: one row of the batch,
//! one set of keys and values, one grammar state. After each step every pass of a group samples
//! from the same logits with its own seed; passes that chose different tokens part into groups of
//! their own. Sequences join and leave the batch between steps.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};

use rayon::prelude::*;
use tenpass_model::{FinishReason, ModelError, SamplingOptions};

use crate::cache::{KvBuffer, PrefixCache, SegmentRef, path_len};
use crate::forward::{Network, Work};
use crate::grammar::{Constraint, GrammarFactory};
use crate::output::{Output, Sender};
use crate::sampler::{Candidate, candidates_needed, most_likely, pick};
use crate::tokenizer::Tokenizer;

/// Token rows of one step: enough for the kernels to be at their best, few enough that a new
/// request or a cancellation waits a fraction of a second.
const ROWS_PER_STEP: usize = 512;
/// Shared tokens beyond the cache for which a prompt waits until another one is evaluated.
const WORTH_WAITING: usize = 24;
/// A tail this long is shared rather than copied when its group parts.
const SHARE_FROM: usize = 32;

/// One prompt with the passes that answer it.
pub(crate) struct Job {
    pub(crate) prompt: Arc<[u32]>,
    pub(crate) schema: Option<serde_json::Value>,
    /// The answer begins inside a think block that the template opened.
    pub(crate) thinking: bool,
    pub(crate) passes: Vec<Pass>,
}

/// One answer to give.
pub(crate) struct Pass {
    pub(crate) options: SamplingOptions,
    pub(crate) events: Sender,
}

/// What the engine did so far; for benchmarks and tests of the sharing.
#[derive(Debug, Default)]
pub struct EngineCounters {
    /// Token rows evaluated.
    pub rows: AtomicU64,
    /// Steps of the network.
    pub steps: AtomicU64,
    /// Tokens that answers consist of, over all passes.
    pub answer_tokens: AtomicU64,
    /// Prompt tokens asked for, over all passes.
    pub prompt_tokens: AtomicU64,
    /// Passes in the batch at this moment.
    pub active: AtomicU64,
}

/// Passes with one history.
struct Group {
    prompt: Arc<[u32]>,
    cached: usize,
    path: Vec<SegmentRef>,
    tail: KvBuffer,
    /// Tokens to evaluate before the next one can be chosen.
    pending: VecDeque<u32>,
    prompt_done: bool,
    generated: u32,
    constraint: Option<Constraint>,
    output: Output,
    passes: Vec<Pass>,
}

/// Everything the engine's thread owns.
pub(crate) struct Scheduler {
    pub(crate) network: Network,
    pub(crate) tokenizer: Arc<Tokenizer>,
    pub(crate) grammars: GrammarFactory,
    pub(crate) context: usize,
    pub(crate) most_groups: usize,
    pub(crate) cache: PrefixCache,
    pub(crate) counters: Arc<EngineCounters>,
    pub(crate) pool: rayon::ThreadPool,
}

impl Scheduler {
    /// Serves jobs until every sender is gone and every answer is given.
    pub(crate) fn run(mut self, jobs: &Receiver<Job>) {
        let mut waiting: VecDeque<Job> = VecDeque::new();
        let mut active: Vec<Group> = Vec::new();
        let mut open = true;
        while open || !waiting.is_empty() || !active.is_empty() {
            if active.is_empty() && waiting.is_empty() {
                self.counters.active.store(0, Ordering::Relaxed);
                match jobs.recv() {
                    Ok(job) => waiting.push_back(job),
                    Err(_) => break,
                }
            }
            loop {
                match jobs.try_recv() {
                    Ok(job) => waiting.push_back(job),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => {
                        open = false;
                        break;
                    }
                }
            }
            self.admit(&mut waiting, &mut active);
            active.retain_mut(|group| {
                group.passes.retain(|pass| !pass.events.is_closed());
                !group.passes.is_empty()
            });
            let passes: usize = active.iter().map(|group| group.passes.len()).sum();
            self.counters.active.store(passes as u64, Ordering::Relaxed);
            if let Err(error) = self.step(&mut active) {
                for pass in active.drain(..).flat_map(|group| group.passes) {
                    pass.events.fail(error.clone());
                }
            }
        }
    }

    /// Moves jobs into the batch, unless they can soon share a prefix that is being evaluated.
    fn admit(&mut self, waiting: &mut VecDeque<Job>, active: &mut Vec<Group>) {
        let mut later = VecDeque::new();
        while let Some(mut job) = waiting.pop_front() {
            job.passes.retain(|pass| !pass.events.is_closed());
            if job.passes.is_empty() {
                continue;
            }
            if active.len() >= self.most_groups {
                later.push_back(job);
                continue;
            }
            let path = self.cache.longest(&job.prompt);
            let cached = path_len(&path);
            let shared = active
                .iter()
                .filter(|group| !group.prompt_done)
                .map(|group| group.prompt.iter().zip(job.prompt.iter()).take_while(|(a, b)| a == b).count())
                .max()
                .unwrap_or(0);
            if shared > cached + WORTH_WAITING {
                later.push_back(job);
                continue;
            }
            match self.group(job, path, cached) {
                Ok(group) => active.push(group),
                Err((passes, error)) => passes.into_iter().for_each(|pass| pass.events.fail(error.clone())),
            }
        }
        *waiting = later;
    }

    fn group(&mut self, job: Job, path: Vec<SegmentRef>, cached: usize) -> Result<Group, (Vec<Pass>, ModelError)> {
        let mut constraint = None;
        if let Some(schema) = &job.schema {
            match self.grammars.constraint(schema) {
                Ok(compiled) => constraint = Some(compiled),
                Err(error) => return Err((job.passes, error)),
            }
        }
        let prompts = job.prompt.len() as u64 * job.passes.len() as u64;
        self.counters.prompt_tokens.fetch_add(prompts, Ordering::Relaxed);
        let stop = job.passes.first().map(|pass| pass.options.stop.clone()).unwrap_or_default();
        Ok(Group {
            pending: job.prompt[cached..].iter().copied().collect(),
            prompt: job.prompt,
            cached,
            path,
            tail: KvBuffer::new(self.network.config.layers),
            prompt_done: false,
            generated: 0,
            constraint,
            output: Output::new(Arc::clone(&self.tokenizer), stop, job.thinking),
            passes: job.passes,
        })
    }

    /// One step of the network over as many groups as fit, then the choice of tokens.
    fn step(&mut self, active: &mut Vec<Group>) -> Result<(), ModelError> {
        if active.is_empty() {
            return Ok(());
        }
        // Groups that decode go first: their rows are few and their passes wait for every step.
        active.sort_by_key(|group| !group.prompt_done);
        let mut budget = ROWS_PER_STEP;
        let mut chunks: Vec<Vec<u32>> = Vec::new();
        for group in active.iter() {
            let take = group.pending.len().min(budget);
            if take == 0 {
                break;
            }
            budget -= take;
            chunks.push(group.pending.iter().take(take).copied().collect());
        }
        let stepped = chunks.len();
        let senders: Vec<Sender> =
            active[..stepped].iter().flat_map(|group| group.passes.iter().map(|pass| pass.events.clone())).collect();
        let abandoned = || senders.iter().all(Sender::is_closed);
        let mut works: Vec<Work<'_>> = active[..stepped]
            .iter_mut()
            .zip(&chunks)
            .map(|(group, tokens)| Work {
                logits: tokens.len() == group.pending.len(),
                path: &group.path,
                tail: &mut group.tail,
                tokens,
            })
            .collect();
        let network = &self.network;
        let Some(logits) = self.pool.install(|| network.step(&mut works, &abandoned))? else { return Ok(()) };
        drop(works);
        self.counters.steps.fetch_add(1, Ordering::Relaxed);
        self.counters.rows.fetch_add((ROWS_PER_STEP - budget) as u64, Ordering::Relaxed);

        // What did not fit this time goes first in the next step's turn.
        let mut rest = active.split_off(stepped);
        let mut logits = logits.into_iter();
        let mut ready = Vec::new();
        for (mut group, chunk) in active.drain(..).zip(&chunks) {
            group.pending.drain(..chunk.len());
            if group.pending.is_empty() {
                if let Some(logits) = logits.next() {
                    ready.push((group, logits));
                }
            } else {
                rest.push(group);
            }
        }
        for (group, _) in &mut ready {
            if !group.prompt_done {
                group.prompt_done = true;
                group.freeze();
                self.cache.insert(&group.prompt, &group.path);
                group.output.prompt_done();
            }
        }
        let chosen: Vec<(Group, Vec<Candidate>)> = self.pool.install(|| {
            ready
                .into_par_iter()
                .map(|(mut group, logits)| {
                    let candidates = group.candidates(&logits);
                    (group, candidates)
                })
                .collect()
        });
        *active = rest;
        for (group, candidates) in chosen {
            self.advance(group, &candidates, active);
        }
        Ok(())
    }

    /// Lets every pass choose, parts the group where choices differ, and ends passes that are done.
    fn advance(&self, mut group: Group, candidates: &[Candidate], active: &mut Vec<Group>) {
        if group.generated == 0 {
            // What the grammar forces at the start needs no choice.
            let forced = group.constraint.as_mut().map(Constraint::forced).unwrap_or_default();
            if !forced.is_empty() {
                if self.accept(&mut group, forced.into()) {
                    active.push(group);
                }
                return;
            }
        }
        let mut parts: Vec<(u32, Vec<Pass>)> = Vec::new();
        for pass in std::mem::take(&mut group.passes) {
            let Some(token) = pick(candidates, &pass.options, u64::from(group.generated)) else {
                pass.events.fail(ModelError::Schema {
                    reason: "no token of the vocabulary can continue the answer".to_owned(),
                });
                continue;
            };
            match parts.iter_mut().find(|(other, _)| *other == token) {
                Some((_, passes)) => passes.push(pass),
                None => parts.push((token, vec![pass])),
            }
        }
        if parts.len() > 1 && group.tail.len() >= SHARE_FROM {
            group.freeze();
        }
        let last = parts.len();
        let mut original = Some(group);
        for (index, (token, passes)) in parts.into_iter().enumerate() {
            let mut part = if index + 1 == last {
                match original.take() {
                    Some(group) => group,
                    None => return,
                }
            } else {
                match &original {
                    Some(group) => group.fork(),
                    None => return,
                }
            };
            part.passes = passes;
            if self.accept(&mut part, VecDeque::from([token])) {
                active.push(part);
            }
        }
    }

    /// Appends chosen tokens and those the grammar forces after them. False when no pass is left.
    fn accept(&self, group: &mut Group, mut queue: VecDeque<u32>) -> bool {
        while let Some(token) = queue.pop_front() {
            if self.tokenizer.is_end(token) {
                group.finish(FinishReason::Stop, &self.counters);
                return false;
            }
            group.generated += 1;
            group.pending.push_back(token);
            let stopped = group.output.push(token, &group.passes);
            let mut complete = false;
            if let Some(constraint) = &mut group.constraint {
                if let Err(error) = constraint.commit(token) {
                    for pass in group.passes.drain(..) {
                        pass.events.fail(error.clone());
                    }
                    return false;
                }
                complete = constraint.is_done();
                if !complete && queue.is_empty() {
                    queue.extend(constraint.forced());
                }
            }
            if stopped || complete {
                group.finish(FinishReason::Stop, &self.counters);
                return false;
            }
            group.finish_at_limit(self.context, &self.counters);
            if group.passes.is_empty() {
                return false;
            }
        }
        true
    }
}

impl Group {
    /// Turns the tail into a shared segment.
    fn freeze(&mut self) {
        let layers = self.tail.keys.len();
        let tail = std::mem::replace(&mut self.tail, KvBuffer::new(layers));
        if tail.len() > 0 {
            self.path.push(SegmentRef { len: tail.len(), buffer: Arc::new(tail) });
        }
    }

    /// A copy of the history without passes.
    fn fork(&self) -> Self {
        Self {
            prompt: Arc::clone(&self.prompt),
            cached: self.cached,
            path: self.path.clone(),
            tail: self.tail.clone(),
            pending: self.pending.clone(),
            prompt_done: self.prompt_done,
            generated: self.generated,
            constraint: self.constraint.as_ref().map(Constraint::fork),
            output: self.output.clone(),
            passes: Vec::new(),
        }
    }

    /// The most likely allowed tokens.
    fn candidates(&mut self, logits: &[f32]) -> Vec<Candidate> {
        let count = self.passes.iter().map(|pass| candidates_needed(&pass.options)).max().unwrap_or(1);
        match &mut self.constraint {
            None => most_likely(logits, None, count),
            Some(constraint) => match constraint.mask() {
                Ok(mask) => most_likely(logits, Some(&|token| mask.is_allowed(token)), count),
                Err(_) => Vec::new(),
            },
        }
    }

    fn finish(&mut self, reason: FinishReason, counters: &EngineCounters) {
        counters.answer_tokens.fetch_add(u64::from(self.generated) * self.passes.len() as u64, Ordering::Relaxed);
        self.output.finish(reason, self.prompt.len(), self.cached, self.generated, &std::mem::take(&mut self.passes));
    }

    /// Ends the passes that reached their token limit, or all of them at the end of the context.
    fn finish_at_limit(&mut self, context: usize, counters: &EngineCounters) {
        let full = self.prompt.len() + self.generated as usize >= context;
        let (over, going): (Vec<Pass>, Vec<Pass>) = std::mem::take(&mut self.passes)
            .into_iter()
            .partition(|pass| full || self.generated >= pass.options.max_tokens);
        self.passes = going;
        if !over.is_empty() {
            counters.answer_tokens.fetch_add(u64::from(self.generated) * over.len() as u64, Ordering::Relaxed);
            self.output.clone().finish(FinishReason::Length, self.prompt.len(), self.cached, self.generated, &over);
        }
    }
}
