//! GitHub Actions: a matrix of parts, their stores as artifacts, and a job that joins them.

use super::quote::{block, workflow, yaml};
use super::shell::{join, measure, pull};
use super::{JobFile, Jobs};

pub(super) fn files(jobs: &Jobs) -> Vec<JobFile> {
    vec![JobFile { name: "tenpass-nightly.yml", text: text(jobs) }]
}

/// What both jobs do first.
const SET_UP: &str = "      - uses: actions/checkout@v4
      - name: install tenpass
        run: command -v tenpass || cargo install --locked --path cli
";

fn text(jobs: &Jobs) -> String {
    let numbers = (1..=jobs.parts).map(|part| part.to_string()).collect::<Vec<_>>().join(", ");
    let measure = format!("tenpass=tenpass\nstore=parts\n{}", measure(jobs));
    let join =
        format!("tenpass=tenpass\nstore=parts\nruns=runs\nout=reports\nmkdir -p \"$out\"\n{}", join(jobs, false));
    let pull = pull(jobs).map_or_else(String::new, |pull| {
        let line = yaml(&workflow(&format!("tenpass {pull}")));
        format!("      - name: fetch the models\n        run: {line}\n")
    });
    format!(
        "\
# Put this file into .github/workflows of your repository, commit it, and start it there under Actions, or wait for
# the night.
# Written by tenpass {version}: the benches of `tenpass nightly` in {count} parts. Change the line that installs
# tenpass where your repository is not tenpass's own. Another seed measures anew. A part that failed can be run
# again alone; the last job then joins all of them.
name: tenpass nightly
on:
  workflow_dispatch:
  schedule:
    - cron: \"17 2 * * *\"
permissions:
  contents: read
concurrency:
  group: tenpass-nightly
env:
  SEED: \"{seed}\"
  PARTS: \"{count}\"
jobs:
  parts:
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix:
        part: [{numbers}]
    steps:
{SET_UP}{pull}      - name: measure
        env:
          PART: ${{{{ matrix.part }}}}
        run: |
          part=$PART parts=$PARTS seed=$SEED
{measure}
      - name: keep what was measured
        if: always()
        uses: actions/upload-artifact@v4
        with:
          name: part-${{{{ matrix.part }}}}
          path: parts
          overwrite: true
          if-no-files-found: error
  merge:
    needs: parts
    runs-on: ubuntu-latest
    steps:
{SET_UP}      - uses: actions/download-artifact@v4
        with:
          pattern: part-*
          path: parts
          merge-multiple: true
      - name: join
        run: |
{join}
      - name: keep the runs and the reports
        if: always()
        uses: actions/upload-artifact@v4
        with:
          name: nightly
          path: |
            runs
            reports
          overwrite: true
",
        version = env!("CARGO_PKG_VERSION"),
        count = jobs.parts,
        seed = jobs.seed,
        measure = block(&workflow(&measure), 10),
        join = block(&workflow(&join), 10),
    )
}
