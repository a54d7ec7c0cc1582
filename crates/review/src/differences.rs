//! What is not the same on both sides of a comparison, and whether it may be.
//!
//! Exactly one thing may differ, the variable under test; what else does must be allowed by name. What
//! changes the measuring instead of the measured (which cases, how they are graded) is never the
//! variable under test.

use std::fmt::Display;

use tenpass_bench::store::{ConfigurationRecord, Manifest, Run};
use tenpass_report::Difference;

use crate::ReviewError;
use crate::differences_cases::Asked;

/// What can differ, by the names that `--allow` takes.
pub const DIMENSIONS: [&str; 17] = [
    "model",
    "structure",
    "tools",
    "memory",
    "prompt",
    "tool-definitions",
    "sampling",
    "think",
    "context",
    "stream",
    "timeout",
    "program",
    "runtime",
    "passes",
    "cases",
    "expectations",
    "grader",
];

/// Of these none can be the variable under test.
const MEASURING: [&str; 3] = ["cases", "expectations", "grader"];
/// Says how much was measured and not what: harmless, and always allowed.
const PASSES: &str = "passes";
/// Allows everything.
const ALL: &str = "all";

/// One side, as far as the differences are concerned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured<'a> {
    pub(crate) manifest: &'a Manifest,
    pub(crate) record: &'a ConfigurationRecord,
}

/// The record of a configuration that the run is known to have.
pub(crate) fn record_of<'a>(run: &'a Run, configuration: &str) -> Result<&'a ConfigurationRecord, ReviewError> {
    let records = &run.manifest().configurations;
    records.iter().find(|record| record.id == configuration).ok_or_else(|| ReviewError::NoConfiguration {
        run: run.id().to_owned(),
        wanted: configuration.to_owned(),
        names: records.iter().map(|record| record.id.clone()).collect(),
    })
}

/// What differs, sorted by what it means for the comparison.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    /// The variable under test; several where all were allowed.
    pub(crate) under_test: Vec<Difference>,
    /// Allowed besides, or following from what is under test.
    pub(crate) besides: Vec<Difference>,
}

/// Refuses names that are none.
pub(crate) fn check_names(allow: &[String]) -> Result<(), ReviewError> {
    match allow.iter().find(|name| *name != ALL && !DIMENSIONS.contains(&name.as_str())) {
        Some(name) => Err(ReviewError::UnknownDifference {
            name: name.clone(),
            near: crate::compare_roles::nearest(name, DIMENSIONS.iter().copied()),
        }),
        None => Ok(()),
    }
}

/// Sorts what differs. Refused is more than one difference that is not allowed, and any in the measuring.
pub(crate) fn sort(
    before: Measured<'_>,
    after: Measured<'_>,
    asked: Asked,
    allow: &[String],
) -> Result<Sorted, ReviewError> {
    check_names(allow)?;
    let all = allow.iter().any(|name| name == ALL);
    let allowed = |found: &Found| all || allow.contains(&found.difference.name);
    let found = differences(before, after, asked);
    let measuring = |found: &Found| MEASURING.contains(&found.difference.name.as_str());
    let under_test = |found: &Found| !found.implied && !measuring(found) && found.difference.name != PASSES;

    // How much was measured moves nothing, and the intervals know it: never refused.
    let open: Vec<&Found> =
        found.iter().filter(|found| !found.implied && !allowed(found) && found.difference.name != PASSES).collect();
    let candidates: Vec<&&Found> = open.iter().filter(|found| under_test(found)).collect();
    let refused =
        open.iter().any(|found| measuring(found)) || candidates.len() > 1 || (candidates.len() == 1 && open.len() > 1);
    if refused {
        // The most substantive stays under test; the names to allow are the others.
        let kept = candidates.first().map(|found| found.difference.name.as_str());
        let others = open.iter().map(|found| found.difference.name.clone()).filter(|name| Some(name.as_str()) != kept);
        return Err(ReviewError::SeveralDifferences {
            before: name_of(before),
            after: name_of(after),
            allow: others.collect(),
            differences: open.iter().map(|found| found.difference.clone()).collect(),
        });
    }
    let mut sorted = Sorted::default();
    // With one that is not allowed, that is the variable; without, all that could be one are.
    let chosen = candidates.first().map(|found| found.difference.name.clone());
    for one in found {
        let is_variable = match &chosen {
            Some(name) => one.difference.name == *name,
            None => under_test(&one),
        };
        if is_variable { sorted.under_test.push(one.difference) } else { sorted.besides.push(one.difference) }
    }
    Ok(sorted)
}

fn name_of(side: Measured<'_>) -> String {
    if side.manifest.configurations.len() == 1 {
        return side.manifest.id.clone();
    }
    format!("{}/{}", side.manifest.id, side.record.id)
}

/// One difference, and whether another one entails it.
struct Found {
    difference: Difference,
    implied: bool,
}

/// Gathers differences.
#[derive(Default)]
struct Finder(Vec<Found>);

impl Finder {
    /// Notes a difference where the two values are shown differently.
    fn see(&mut self, name: &str, before: impl Display, after: impl Display) -> bool {
        self.note(name, before.to_string(), after.to_string(), false)
    }

    fn note(&mut self, name: &str, before: String, after: String, implied: bool) -> bool {
        let differs = before != after;
        if differs {
            self.0.push(Found { difference: Difference { name: name.to_owned(), before, after }, implied });
        }
        differs
    }
}

/// Everything that differs, in the order of [`DIMENSIONS`].
fn differences(before: Measured<'_>, after: Measured<'_>, asked: Asked) -> Vec<Found> {
    let (a, b) = (before.record, after.record);
    let mut found = Finder::default();
    let other_model = model(&mut found, a, b);
    // A structure that nobody typed follows from what the model can do.
    let defaulted = |record: &ConfigurationRecord| !record.arguments.passed.contains_key("structure");
    let follows = other_model && defaulted(a) && defaulted(b);
    found.note("structure", a.structure.to_string(), b.structure.to_string(), follows);
    found.see("tools", a.selection, b.selection);
    found.see("memory", a.memory, b.memory);
    prompt(&mut found, before, after, &asked);
    found.0.extend(asked.tools.map(|(before, after)| one("tool-definitions", before, after)));
    sampling(&mut found, a, b);
    let think = |record: &ConfigurationRecord| record.think.map_or("off".to_owned(), |level| level.as_str().to_owned());
    found.see("think", think(a), think(b));
    context(&mut found, a, b, other_model);
    let stream = |record: &ConfigurationRecord| if record.stream { "streamed" } else { "whole" };
    found.see("stream", stream(a), stream(b));
    let timeout = |side: Measured<'_>| format!("{} s", side.manifest.timeout_ms as f64 / 1000.0);
    found.see("timeout", timeout(before), timeout(after));
    let other_program = found.see("program", programs(before.manifest), programs(after.manifest));
    runtime(&mut found, a, b, other_program);
    found.see(PASSES, before.manifest.passes, after.manifest.passes);
    found.0.extend(asked.cases.map(|(before, after)| one("cases", before, after)));
    expectations(&mut found, before, after, asked.expectations);
    found.see("grader", &before.manifest.grader, &after.manifest.grader);
    found.0
}

fn one(name: &str, before: String, after: String) -> Found {
    Found { difference: Difference { name: name.to_owned(), before, after }, implied: false }
}

/// The model by what it is, not by how it was typed.
fn model(found: &mut Finder, a: &ConfigurationRecord, b: &ConfigurationRecord) -> bool {
    let name = |record: &ConfigurationRecord| format!("{}:{}", record.model.backend, record.model.name);
    if found.see("model", name(a), name(b)) {
        return true;
    }
    let parts = [
        ("weights", &a.model.digest, &b.model.digest),
        ("quantization", &a.model.quantization, &b.model.quantization),
        ("template", &a.model.template_digest, &b.model.template_digest),
    ];
    // What one side does not tell is no difference.
    let differing = parts.into_iter().find_map(|(what, a, b)| {
        let (a, b) = (a.as_deref()?, b.as_deref()?);
        (a != b).then_some((what, a, b))
    });
    differing.is_some_and(|(what, x, y)| {
        let shown = |record: &ConfigurationRecord, value: &str| format!("{}, {what} {}", name(record), short(value));
        found.see("model", shown(a, x), shown(b, y))
    })
}

/// The beginning of a digest.
fn short(digest: &str) -> &str {
    let bare = digest.strip_prefix("sha256:").unwrap_or(digest);
    bare.get(..12).unwrap_or(bare)
}

/// The prompt: its sections, and the system messages as the cases have them.
fn prompt(found: &mut Finder, before: Measured<'_>, after: Measured<'_>, asked: &Asked) {
    if found.see("prompt", before.record.sections, after.record.sections) {
        return;
    }
    if let Some((before, after)) = asked.prompt.clone() {
        found.0.push(one("prompt", before, after));
        return;
    }
    // The loop writes the prompts of scenarios: only their digest is kept, that of all configurations.
    let digests = |side: Measured<'_>| side.record.digests.clone().unwrap_or_else(|| side.manifest.digests.clone());
    let alone = |side: Measured<'_>| side.record.digests.is_some() || side.manifest.configurations.len() == 1;
    let comparable = asked.scenarios && alone(before) && alone(after) && before.manifest.id != after.manifest.id;
    let (a, b) = (digests(before), digests(after));
    if comparable && a.cases == b.cases && a.tools == b.tools {
        let shown = |digest: &str| format!("written by the loop, digest {}", short(digest));
        found.see("prompt", shown(&a.prompts), shown(&b.prompts));
    }
}

/// Every sampling option that differs, in one difference.
fn sampling(found: &mut Finder, a: &ConfigurationRecord, b: &ConfigurationRecord) {
    let options = |record: &ConfigurationRecord| {
        let options = &record.options;
        [
            ("temperature", options.temperature.to_string()),
            ("top_k", options.top_k.to_string()),
            ("top_p", options.top_p.to_string()),
            ("min_p", options.min_p.to_string()),
            ("max_tokens", options.max_tokens.to_string()),
            ("stop", format!("{:?}", options.stop)),
        ]
    };
    let unknown = |name: &str| [a, b].iter().any(|record| record.unknown.iter().any(|known| known == name));
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for ((name, x), (_, y)) in options(a).into_iter().zip(options(b)) {
        if x != y && !unknown(name) {
            before.push(format!("{name} {x}"));
            after.push(format!("{name} {y}"));
        }
    }
    found.see("sampling", before.join(", "), after.join(", "));
}

/// The context that was in force: asked for, or the model's own.
fn context(found: &mut Finder, a: &ConfigurationRecord, b: &ConfigurationRecord, other_model: bool) {
    let (Some(before), Some(after)) = (a.options.context.or(a.model.context), b.options.context.or(b.model.context))
    else {
        return;
    };
    let follows = other_model && a.options.context.is_none() && b.options.context.is_none();
    found.note("context", format!("{before} tokens"), format!("{after} tokens"), follows);
}

/// What ran the model, where both sides tell.
fn runtime(found: &mut Finder, a: &ConfigurationRecord, b: &ConfigurationRecord, other_program: bool) {
    let (Some(before), Some(after)) = (&a.model.runtime, &b.model.runtime) else { return };
    // The engine is part of the program.
    let own = |record: &ConfigurationRecord| matches!(record.model.backend.as_str(), "embedded" | "replay");
    let follows = a.model.backend != b.model.backend || (other_program && own(a) && own(b));
    found.note("runtime", before.clone(), after.clone(), follows);
}

/// The versions of the program that worked on a run.
fn programs(manifest: &Manifest) -> String {
    let mut versions: Vec<&str> = manifest.sessions.iter().map(|session| session.program.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    versions.join(", ")
}

/// What was expected: as the cases have it, or as a re-grade had it.
fn expectations(found: &mut Finder, before: Measured<'_>, after: Measured<'_>, cases: Option<(String, String)>) {
    if let Some((before, after)) = cases {
        found.0.push(one("expectations", before, after));
        return;
    }
    if before.manifest.id == after.manifest.id {
        return;
    }
    // A re-grade may have used cases that the run does not hold.
    let others = |side: Measured<'_>| {
        let regraded = side.manifest.regraded.as_ref()?;
        (regraded.cases != side.manifest.digests.cases).then(|| regraded.cases.clone())
    };
    let shown = |digest: Option<String>| match digest {
        Some(digest) => format!("graded by other cases than its own, digest {}", short(&digest)),
        None => "graded by its own cases".to_owned(),
    };
    found.see("expectations", shown(others(before)), shown(others(after)));
}
