//! Kubernetes: an Indexed Job whose pods are the parts, on one volume, and a Job that joins them.

use super::quote::{block, shell, yaml};
use super::shell::{join, measure, pull};
use super::{JobFile, Jobs};

/// Where the volume is in every pod.
const DATA: &str = "/data";
/// Retries of all pods together that are the program's fault, a part.
const RETRIES_A_PART: u32 = 3;

pub(super) fn files(jobs: &Jobs) -> Vec<JobFile> {
    vec![
        JobFile { name: "volume.yaml", text: volume() },
        JobFile { name: "parts.yaml", text: parts(jobs) },
        JobFile { name: "merge.yaml", text: merge(jobs) },
    ]
}

fn volume() -> String {
    "\
# Create once: kubectl apply -f volume.yaml
# The models, the parts and the joined runs of every night. Pods on several nodes need ReadWriteMany; name the
# storage class that your cluster has for it.
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: tenpass
spec:
  accessModes: [\"ReadWriteMany\"]
  resources:
    requests:
      storage: 20Gi
"
    .to_owned()
}

fn variables(jobs: &Jobs) -> String {
    format!("tenpass=tenpass\nruns={DATA}/runs\nstore=\"$runs/parts/{}\"\n", jobs.seed)
}

fn parts(jobs: &Jobs) -> String {
    let script = format!(
        "part=$((JOB_COMPLETION_INDEX + 1))\nparts={}\nseed={}\n{}\n{}",
        jobs.parts,
        jobs.seed,
        variables(jobs),
        measure(jobs)
    );
    format!(
        "\
# Submit from this folder:
#   kubectl apply -f volume.yaml
#   kubectl apply -f parts.yaml
#   kubectl wait --for=condition=complete --timeout=-1s job/tenpass-parts-{seed}
#   kubectl apply -f merge.yaml
# Written by tenpass {version}: the benches of `tenpass nightly` in {count} parts. A pod that is evicted is
# replaced and goes on where it was. The image must have tenpass as a program, and your cases and tenpass.toml
# in its working folder. Another seed measures anew. Add resources and node selectors as your cluster wants.
apiVersion: batch/v1
kind: Job
metadata:
  name: tenpass-parts-{seed}
spec:
  completionMode: Indexed
  completions: {count}
  parallelism: {count}
  backoffLimit: {retries}
  podFailurePolicy:
    rules:
      # An eviction is nobody's fault.
      - action: Ignore
        onPodConditions:
          - type: DisruptionTarget
      # A mistake in what was asked for, or a bug: another attempt would end the same.
      - action: FailJob
        onExitCodes:
          containerName: part
          operator: In
          values: [2, 70]
  template:
    spec:
      restartPolicy: Never
{pod}",
        version = env!("CARGO_PKG_VERSION"),
        count = jobs.parts,
        seed = jobs.seed,
        retries = jobs.parts.saturating_mul(RETRIES_A_PART),
        pod = pod(jobs, "part", &script, true),
    )
}

fn merge(jobs: &Jobs) -> String {
    let script = format!("out={DATA}/runs\n{}\n{}", variables(jobs), join(jobs, false));
    format!(
        "\
# Submit when tenpass-parts-{seed} is complete: kubectl apply -f merge.yaml
# Joins the parts and writes STEP.html into the runs folder of the volume; the tables are in
# `kubectl logs job/tenpass-merge-{seed}`. With a blessed run there, add `tenpass compare baseline \"$run\"`.
apiVersion: batch/v1
kind: Job
metadata:
  name: tenpass-merge-{seed}
spec:
  backoffLimit: {retries}
  podFailurePolicy:
    rules:
      - action: Ignore
        onPodConditions:
          - type: DisruptionTarget
      # The answer is no, a mistake, or a bug: another attempt would end the same.
      - action: FailJob
        onExitCodes:
          containerName: merge
          operator: In
          values: [1, 2, 70]
  template:
    spec:
      restartPolicy: Never
{pod}",
        seed = jobs.seed,
        retries = RETRIES_A_PART,
        pod = pod(jobs, "merge", &script, false),
    )
}

/// The containers and volumes of a pod, from `initContainers` on.
fn pod(jobs: &Jobs, name: &str, script: &str, has_models: bool) -> String {
    let image = yaml(&format!("tenpass:{}", env!("CARGO_PKG_VERSION")));
    let common = format!(
        "          image: {image}
          env:
            - name: TENPASS_HOME
              value: {DATA}
          volumeMounts:
            - name: data
              mountPath: {DATA}
"
    );
    let mut text = String::new();
    if let Some(pull) = pull(jobs).filter(|_| has_models) {
        text.push_str(&format!(
            "      initContainers:
        - name: models
          command: [\"/bin/sh\", \"-c\", {}]
{common}",
            yaml(&format!("exec tenpass {pull}")),
        ));
    }
    text.push_str(&format!(
        "      containers:
        - name: {name}
          command:
            - /bin/sh
            - -c
            - |
{script}
{common}      volumes:
        - name: data
          persistentVolumeClaim:
            claimName: tenpass
",
        name = shell(name),
        script = block(script, 14),
    ));
    text
}
