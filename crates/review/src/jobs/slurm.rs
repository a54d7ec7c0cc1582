//! Slurm: an array of parts and a job that joins them, submitted from the folder they lie in.
//!
//! No path stands in a `#SBATCH` line, where quoting has rules of its own: logs go to the folder of
//! submission, and everything else is a shell variable.

use super::quote::shell;
use super::shell::{join, measure};
use super::{JobFile, Jobs};

pub(super) fn files(jobs: &Jobs) -> Vec<JobFile> {
    vec![
        JobFile { name: "parts.sbatch", text: parts(jobs) },
        JobFile { name: "merge.sbatch", text: merge(jobs) },
        JobFile { name: "submit.sh", text: submit() },
    ]
}

fn variables(jobs: &Jobs) -> String {
    let word = |path: &std::path::Path| shell(&path.to_string_lossy());
    format!(
        "tenpass={program}\nruns={runs}\nstore=\"$runs/parts/{seed}\"\n",
        program = word(&jobs.program),
        runs = word(&jobs.runs),
        seed = jobs.seed,
    )
}

fn parts(jobs: &Jobs) -> String {
    format!(
        "\
#!/bin/sh
# Submit with `sh submit.sh`, or by hand, from this folder:
#   sbatch --parsable parts.sbatch                   prints the array's id
#   sbatch --dependency=afterok:ID merge.sbatch      joins the parts when all of them are done
# Written by tenpass {version}: the benches of `tenpass nightly` in {count} parts. A part that is killed or
# preempted is requeued and goes on where it was; started once more, a finished one prints its result.
# Another seed measures anew. Add what your cluster wants, such as --partition, --gres or --time.
#SBATCH --job-name=tenpass-nightly
#SBATCH --array=1-{count}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=part-%a.log

part=$SLURM_ARRAY_TASK_ID
parts={count}
seed={seed}
{variables}cd {project} || exit 2

{measure}",
        version = env!("CARGO_PKG_VERSION"),
        count = jobs.parts,
        seed = jobs.seed,
        variables = variables(jobs),
        project = shell(&jobs.project.to_string_lossy()),
        measure = measure(jobs),
    )
}

fn merge(jobs: &Jobs) -> String {
    format!(
        "\
#!/bin/sh
# Submitted by `sh submit.sh` to run when all parts are done; see parts.sbatch.
# Joins the parts, compares with the baseline where there is one, and writes STEP.html beside this file. Exit
# code 1 means that something regressed.
#SBATCH --job-name=tenpass-merge
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=merge.log

out=$SLURM_SUBMIT_DIR
{variables}cd {project} || exit 2

{join}",
        variables = variables(jobs),
        project = shell(&jobs.project.to_string_lossy()),
        join = join(jobs, true),
    )
}

fn submit() -> String {
    "\
#!/bin/sh
# Run this: sh submit.sh
# It submits the parts, and the job that joins them for the time when all are done.
cd \"$(dirname \"$0\")\" || exit 2
array=$(sbatch --parsable parts.sbatch) || exit
merge=$(sbatch --parsable --dependency=\"afterok:${array%%;*}\" --kill-on-invalid-dep=yes merge.sbatch) || exit
echo \"parts: ${array%%;*}, merge: ${merge%%;*}\"
"
    .to_owned()
}
