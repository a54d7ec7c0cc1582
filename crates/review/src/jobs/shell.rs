//! The commands of a part and of the joining, as lines of a POSIX shell: the same for every scheduler.
//!
//! They use the variables `tenpass`, `store` (where the parts are), `runs`, `part` and `parts`, `seed`,
//! and for reports `out`.

use super::quote::shell;
use super::{JobStep, Jobs};

/// Measures this part of every step. A step that fails does not keep the others from being measured; the
/// script's end tells the worst.
pub(super) fn measure(jobs: &Jobs) -> String {
    let mut script = "\
status=0
measure() {
    \"$@\" && return
    code=$?
    echo \"part $part of $parts: exit code $code: $*\" >&2
    if [ \"$code\" -gt \"$status\" ]; then status=$code; fi
}

"
    .to_owned();
    for (position, step) in jobs.steps.iter().enumerate() {
        script.push_str(&format!(
            "measure \"$tenpass\" bench {bench} --model {model} --passes {passes}{filter}{profile} \\\n    \
             --partition \"$part/$parts\" --seed \"$seed\" --continue --runs-dir \"$store/{name}/$part\"\n",
            bench = shell(&step.bench),
            model = shell(&step.model),
            passes = jobs.passes,
            filter = flags(" --filter=", &jobs.filter),
            profile = profile(jobs),
            name = jobs.step_name(position),
        ));
    }
    script.push_str("\nexit \"$status\"\n");
    script
}

/// Joins the parts of every step, reports, and compares where the store has the baseline.
pub(super) fn join(jobs: &Jobs, has_baselines: bool) -> String {
    let mut script = format!(
        "\
status=0
note() {{
    if [ \"$1\" -gt \"$status\" ]; then status=$1; fi
}}

# join STEP: the parts become one run, whose name goes to $run.
join() {{
    run=
    joined=$(\"$tenpass\" runs merge --from \"$store/$1\"/* --runs-dir \"$runs\"{profile}) || {{ note $?; return 1; }}
    echo \"$joined\"
    run=${{joined%% *}}
    \"$tenpass\" runs show \"$run\" --runs-dir \"$runs\"{profile} || note $?
    \"$tenpass\" report \"$run\" --out \"$out/$1.html\" --runs-dir \"$runs\"{profile} || note $?
}}

",
        profile = profile(jobs)
    );
    for (position, step) in jobs.steps.iter().enumerate() {
        script.push_str(&joined_step(jobs, step, &jobs.step_name(position), has_baselines));
    }
    script.push_str("\nexit \"$status\"\n");
    script
}

fn joined_step(jobs: &Jobs, step: &JobStep, name: &str, has_baselines: bool) -> String {
    let title = format!("# bench {} with {}", step.bench, step.model);
    if !(has_baselines && step.has_baseline) {
        return format!("{title}\njoin {name} || :\n");
    }
    format!(
        "{title}\nif join {name}; then\n    \"$tenpass\" compare baseline \"$run\" --runs-dir \"$runs\"{} || note $?\nfi\n",
        profile(jobs)
    )
}

/// Fetches the embedded models, where there are any.
pub(super) fn pull(jobs: &Jobs) -> Option<String> {
    let models = jobs.embedded_models();
    let words = models.iter().map(|name| shell(name)).collect::<Vec<_>>().join(" ");
    (!models.is_empty()).then(|| format!("models pull {words}"))
}

fn profile(jobs: &Jobs) -> String {
    flags(" --profile ", jobs.profile.as_slice())
}

/// The flag once for each value.
fn flags(flag: &str, values: &[String]) -> String {
    values.iter().flat_map(|value| [flag.to_owned(), shell(value)]).collect()
}
