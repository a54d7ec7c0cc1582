//! What the manifests say that a reader of a comparison must know.

use tenpass_bench::store::{Against, ConfigurationRecord, Host, Manifest, RunState};

use crate::differences::Measured;

/// The notes, the most serious first.
pub(crate) fn told(before: Measured<'_>, after: Measured<'_>, together: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let sides: &[(&str, Measured<'_>)] =
        if together { &[("the run", after)] } else { &[("before", before), ("after", after)] };
    for (name, side) in sides {
        notes.extend(state(name, side.manifest));
    }
    for (name, side) in [("before", before), ("after", after)] {
        notes.extend(given_up(name, side));
        notes.extend(unknown(name, side));
    }
    if together {
        // What a run that measured its baseline afresh knows about the two.
        notes.extend(after.manifest.against.iter().flat_map(Against::sentences));
        notes.extend(stopped_early(after.manifest));
        if share_cache(before.record, after.record) {
            notes.extend(shared_cache(&[before.record.clone(), after.record.clone()]));
        }
    } else {
        for (name, side) in [("before", before), ("after", after)] {
            notes.extend(stopped_early(side.manifest).map(|sentence| format!("{name}: {sentence}")));
        }
        notes.extend(hosts(before.manifest, after.manifest));
        notes.extend(revisions(before.manifest, after.manifest));
    }
    notes.extend(jobs(before, after));
    notes
}

/// Whether times may be compared: one machine, as many passes in flight, and no cache that one side filled for
/// the other.
pub(crate) fn latencies_comparable(before: Measured<'_>, after: Measured<'_>) -> bool {
    let same_machine = before.manifest.id == after.manifest.id || hosts(before.manifest, after.manifest).is_none();
    let shares = before.manifest.id == after.manifest.id && share_cache(before.record, after.record);
    same_machine && before.record.jobs == after.record.jobs && !shares
}

/// Two configurations of one embedded model in one run: the prompts that the first leaves in the engine's cache
/// save the second the time to read them.
pub(crate) fn share_cache(a: &ConfigurationRecord, b: &ConfigurationRecord) -> bool {
    let embedded = |record: &ConfigurationRecord| record.model.backend == "embedded";
    embedded(a) && embedded(b) && a.model.name == b.model.name && a.model.digest == b.model.digest && a.id != b.id
}

/// What is said of it; `None` where no two share one.
pub(crate) fn shared_cache(records: &[ConfigurationRecord]) -> Option<String> {
    let shares = records.iter().enumerate().any(|(place, a)| records[..place].iter().any(|b| share_cache(a, b)));
    shares.then(|| {
        "configurations of one embedded model share its prompt cache: what one leaves in it saves the next the time to \
         read the prompt, so that their times cannot be compared"
            .to_owned()
    })
}

fn state(name: &str, manifest: &Manifest) -> Option<String> {
    let word = match manifest.state() {
        RunState::Complete => return None,
        RunState::Running => "is still running, or was killed",
        RunState::Interrupted => "was interrupted",
        RunState::Failed => "could not be completed",
    };
    Some(format!("{name} {word}: what there is was compared"))
}

/// What a run that stopped gates and comparisons early says about its rates.
fn stopped_early(manifest: &Manifest) -> impl Iterator<Item = String> {
    manifest.early_stop.iter().flat_map(|early| early.sentences(manifest.passes))
}

/// The level that is left for the test at the end of a run which looked at this comparison on the way;
/// `None` where the looks decided it, or where there were none.
pub(crate) fn level_at_the_end(run: &Manifest, candidate: &str) -> Option<f64> {
    let early = run.early_stop.as_ref()?;
    let decided = early.decided.iter().any(|decided| decided.configuration == candidate);
    early.end.filter(|_| !decided)
}

fn given_up(name: &str, side: Measured<'_>) -> Option<String> {
    let stopped =
        side.manifest.sessions.last()?.stopped.iter().find(|stopped| stopped.configuration == side.record.id)?;
    Some(format!("{name}: {} was given up: {}", side.record.id, stopped.error))
}

fn unknown(name: &str, side: Measured<'_>) -> Option<String> {
    let unknown = &side.record.unknown;
    (!unknown.is_empty()).then(|| format!("{name} was imported, and its source does not tell: {}", unknown.join(", ")))
}

fn hosts(before: &Manifest, after: &Manifest) -> Option<String> {
    let machines = |manifest: &Manifest| {
        let mut found: Vec<String> = manifest.sessions.iter().map(|session| machine(&session.host)).collect();
        found.sort_unstable();
        found.dedup();
        found.join(" and ")
    };
    let (before, after) = (machines(before), machines(after));
    (before != after).then(|| {
        format!("measured on different machines, so that times cannot be compared: {before} before, {after} after")
    })
}

fn machine(host: &Host) -> String {
    let cpu = host.cpu.as_deref().unwrap_or(&host.architecture);
    format!("{cpu}, {} cores, {}", host.cores, host.os)
}

fn revisions(before: &Manifest, after: &Manifest) -> Option<String> {
    let revision = |manifest: &Manifest| {
        let git = manifest.sessions.last()?.git.clone()?;
        let short = git.revision.get(..10).unwrap_or(&git.revision).to_owned();
        Some(if git.dirty { format!("{short} with changes") } else { short })
    };
    let (before, after) = (revision(before)?, revision(after)?);
    if before == after && !before.ends_with("changes") {
        return None;
    }
    Some(format!("the working folder was at revision {before} before and {after} after"))
}

fn jobs(before: Measured<'_>, after: Measured<'_>) -> Option<String> {
    let (a, b) = (before.record.jobs, after.record.jobs);
    (a != b).then(|| format!("{a} passes were in flight before and {b} after, so that times cannot be compared"))
}
