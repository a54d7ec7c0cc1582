//! The files as they are, and what a shell makes of them.

use super::*;

fn jobs() -> Jobs {
    let step = |bench: &str, model: &str, has_baseline: bool| JobStep {
        bench: bench.to_owned(),
        model: model.to_owned(),
        has_baseline,
    };
    Jobs {
        parts: 4,
        seed: 20_261_130,
        steps: vec![
            step("tools", "embedded:smollm2-135m", true),
            step("rounds", "openai:http://127.0.0.1:8080/v1,http://127.0.0.1:8081/v1#tiny", false),
        ],
        passes: 10,
        filter: vec!["lamp".to_owned(), "it's".to_owned()],
        profile: Some("night".to_owned()),
        program: "/opt/ten pass/tenpass".into(),
        project: "/home/ann's/project".into(),
        runs: "/srv/runs $1".into(),
    }
}

fn text(scheduler: Scheduler, name: &str) -> String {
    let files = job_files(scheduler, &jobs()).unwrap();
    let names: Vec<&str> = files.iter().map(|file| file.name).collect();
    let file = files.iter().find(|file| file.name == name);
    let text = file.unwrap_or_else(|| panic!("{name} is not among {names:?}")).text.clone();
    assert!(text.lines().all(|line| !line.ends_with(' ') && line.chars().count() <= 200), "{text}");
    text.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn slurm() {
    insta::assert_snapshot!("slurm-parts", text(Scheduler::Slurm, "parts.sbatch"));
    insta::assert_snapshot!("slurm-merge", text(Scheduler::Slurm, "merge.sbatch"));
    insta::assert_snapshot!("slurm-submit", text(Scheduler::Slurm, "submit.sh"));
}

#[test]
fn kubernetes() {
    insta::assert_snapshot!("kubernetes-volume", text(Scheduler::Kubernetes, "volume.yaml"));
    insta::assert_snapshot!("kubernetes-parts", text(Scheduler::Kubernetes, "parts.yaml"));
    insta::assert_snapshot!("kubernetes-merge", text(Scheduler::Kubernetes, "merge.yaml"));
}

#[test]
fn github() {
    insta::assert_snapshot!("github", text(Scheduler::Github, "tenpass-nightly.yml"));
}

/// A file as a reader of YAML sees it.
fn yaml(scheduler: Scheduler, name: &str) -> serde_json::Value {
    serde_saphyr::from_str(&text(scheduler, name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn kubernetes_files_are_jobs_on_one_volume() {
    let claim = yaml(Scheduler::Kubernetes, "volume.yaml")["metadata"]["name"].clone();
    for (name, container) in [("parts.yaml", "part"), ("merge.yaml", "merge")] {
        let job = yaml(Scheduler::Kubernetes, name);
        assert_eq!((&job["apiVersion"], &job["kind"]), (&"batch/v1".into(), &"Job".into()));
        let pod = &job["spec"]["template"]["spec"];
        assert_eq!(pod["restartPolicy"], "Never", "a pod failure policy wants it");
        assert_eq!(pod["volumes"][0]["persistentVolumeClaim"]["claimName"], claim);
        assert_eq!(pod["containers"][0]["name"], container);
        assert_eq!(pod["containers"][0]["volumeMounts"][0]["name"], pod["volumes"][0]["name"]);
        let rules = job["spec"]["podFailurePolicy"]["rules"].as_array().unwrap();
        assert_eq!(rules[1]["onExitCodes"]["containerName"], container);
        // The block holds the script as it was written.
        let script = pod["containers"][0]["command"][2].as_str().unwrap();
        let wanted = if container == "part" { shell::measure(&jobs()) } else { shell::join(&jobs(), false) };
        assert!(script.ends_with(&wanted), "{script}");
    }
    let parts = yaml(Scheduler::Kubernetes, "parts.yaml");
    let spec = &parts["spec"];
    assert_eq!((&spec["completionMode"], &spec["completions"]), (&"Indexed".into(), &4.into()));
}

#[test]
fn the_workflow_is_one_matrix_and_one_job_that_needs_it() {
    let workflow = yaml(Scheduler::Github, "tenpass-nightly.yml");
    let parts = &workflow["jobs"]["parts"];
    assert_eq!(parts["strategy"]["matrix"]["part"], serde_json::json!([1, 2, 3, 4]));
    assert_eq!(workflow["jobs"]["merge"]["needs"], "parts");
    assert_eq!(workflow["env"]["SEED"], "20261130");
    let script = |job: &serde_json::Value, name: &str| {
        let steps = job["steps"].as_array().unwrap();
        steps.iter().find(|step| step["name"] == name).unwrap()["run"].as_str().unwrap().to_owned()
    };
    assert!(script(parts, "measure").ends_with(&shell::measure(&jobs())));
    assert!(script(&workflow["jobs"]["merge"], "join").ends_with(&shell::join(&jobs(), false)));
    // What is uploaded is what is downloaded.
    let with = |job: &serde_json::Value, action: &str| {
        let steps = job["steps"].as_array().unwrap();
        let is_it = |step: &&serde_json::Value| step["uses"].as_str().is_some_and(|uses| uses.starts_with(action));
        steps.iter().find(is_it).unwrap()["with"].clone()
    };
    assert_eq!(with(parts, "actions/upload-artifact")["path"], "parts");
    assert_eq!(with(&workflow["jobs"]["merge"], "actions/download-artifact")["path"], "parts");
    // No text of the user's becomes an expression.
    let hostile = Jobs { filter: vec!["${{ secrets.KEY }}".to_owned()], ..jobs() };
    let text = job_files(Scheduler::Github, &hostile).unwrap().remove(0).text;
    assert!(text.contains("'${{ '${{' }} secrets.KEY }}'") && !text.contains("'${{ secrets"), "{text}");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let nothing = Jobs { steps: Vec::new(), ..jobs() };
    assert_eq!(job_files(Scheduler::Slurm, &nothing), Err(JobsError::Nothing));
    let broken = Jobs { runs: "/srv/two\nlines".into(), ..jobs() };
    for scheduler in [Scheduler::Slurm, Scheduler::Kubernetes, Scheduler::Github] {
        let error = job_files(scheduler, &broken).unwrap_err();
        let wanted = "the runs folder's path has a character that a job file cannot hold: \"/srv/two\\nlines\"";
        assert_eq!(error.to_string(), wanted);
        let filter = Jobs { filter: vec!["a\u{7}".to_owned()], ..jobs() };
        assert!(job_files(scheduler, &filter).is_err());
    }
}

#[test]
fn only_models_of_the_catalogue_are_fetched() {
    let with = |models: &[&str]| {
        let step = |model: &&str| JobStep { bench: "tools".into(), model: (*model).into(), has_baseline: false };
        shell::pull(&Jobs { steps: models.iter().map(step).collect(), ..jobs() })
    };
    assert_eq!(with(&["ollama:gemma4:12b", "replay:a.jsonl", "embedded:/models/x.gguf"]), None);
    let wanted = Some("models pull smollm2-135m gemma3-270m".to_owned());
    assert_eq!(with(&["smollm2-135m", "embedded:gemma3-270m", "embedded:smollm2-135m", "x.GGUF"]), wanted);
}

/// The scripts run in a real shell, with a program in tenpass's place that writes down its words.
#[cfg(unix)]
mod in_a_shell {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::{Command, Output};

    use super::*;

    /// A folder with signs that a shell would read, a program, a project and the job files.
    fn scene(script: &str) -> (tempfile::TempDir, Jobs) {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("it's $HOME `x` \"q\"");
        let jobs = Jobs {
            program: inside.join("bin/tenpass"),
            project: inside.join("project"),
            runs: inside.join("runs"),
            ..jobs()
        };
        for path in [inside.join("bin"), jobs.project.clone(), jobs.runs.clone(), inside.join("jobs")] {
            fs::create_dir_all(path).unwrap();
        }
        let log = inside.join("log");
        let quoted = quote::shell(log.to_str().unwrap());
        // One line a call, words in brackets.
        let program = format!("#!/bin/sh\n{{ pwd; printf '[%s]' \"$@\"; echo; }} >> {quoted}\n{script}\n");
        fs::write(&jobs.program, program).unwrap();
        fs::set_permissions(&jobs.program, fs::Permissions::from_mode(0o755)).unwrap();
        for file in job_files(Scheduler::Slurm, &jobs).unwrap() {
            fs::write(inside.join("jobs").join(file.name), file.text).unwrap();
        }
        (folder, jobs)
    }

    fn run(jobs: &Jobs, name: &str, environment: &[(&str, &str)]) -> Output {
        let folder = jobs.runs.with_file_name("jobs");
        let mut command = Command::new("sh");
        command.arg(folder.join(name)).current_dir(&folder).envs(environment.iter().copied());
        command.env("SLURM_SUBMIT_DIR", &folder).output().unwrap()
    }

    fn calls(jobs: &Jobs) -> Vec<String> {
        let log = fs::read_to_string(jobs.runs.with_file_name("log")).unwrap();
        let lines: Vec<&str> = log.lines().collect();
        for pair in lines.chunks(2) {
            let folder = fs::canonicalize(Path::new(pair[0])).unwrap();
            assert_eq!(folder, fs::canonicalize(&jobs.project).unwrap(), "commands run in the project");
        }
        lines.chunks(2).map(|pair| pair[1].to_owned()).collect()
    }

    #[test]
    fn a_part_measures_its_share_of_every_step() {
        let (_folder, jobs) = scene("exit 0");
        let output = run(&jobs, "parts.sbatch", &[("SLURM_ARRAY_TASK_ID", "3")]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let store = jobs.runs.join("parts/20261130");
        let expected = [("tools", &jobs.steps[0].model, "tools-1"), ("rounds", &jobs.steps[1].model, "rounds-2")];
        let expected: Vec<String> = expected
            .into_iter()
            .map(|(bench, model, name)| {
                format!(
                    "[bench][{bench}][--model][{model}][--passes][10][--filter=lamp][--filter=it's][--profile][night]\
                     [--partition][3/4][--seed][20261130][--continue][--runs-dir][{}]",
                    store.join(name).join("3").display()
                )
            })
            .collect();
        assert_eq!(calls(&jobs), expected);
    }

    #[test]
    fn a_step_that_fails_leaves_the_others_their_turn_and_its_code_to_the_scheduler() {
        let (_folder, jobs) = scene("case \"$2\" in tools) exit 3;; *) exit 0;; esac");
        let output = run(&jobs, "parts.sbatch", &[("SLURM_ARRAY_TASK_ID", "1")]);
        assert_eq!(output.status.code(), Some(3));
        assert!(String::from_utf8_lossy(&output.stderr).contains("part 1 of 4: exit code 3: "));
        assert_eq!(calls(&jobs).len(), 2);
    }

    #[test]
    fn parts_are_joined_compared_and_reported() {
        let (_folder, jobs) = scene(
            "case \"$1 $2\" in \"runs merge\") echo \"20261130-101010-abcd joins 4 parts\";; compare*) exit 1;; esac",
        );
        for step in ["tools-1", "rounds-2"] {
            for part in 1..=4 {
                fs::create_dir_all(jobs.runs.join("parts/20261130").join(step).join(part.to_string())).unwrap();
            }
        }
        let output = run(&jobs, "merge.sbatch", &[]);
        assert_eq!(output.status.code(), Some(1), "it regressed: {}", String::from_utf8_lossy(&output.stderr));
        let calls = calls(&jobs);
        let verbs: Vec<String> = calls
            .iter()
            .map(|call| call.split(['[', ']']).filter(|word| !word.is_empty()).take(2).collect::<Vec<_>>().join(" "))
            .collect();
        let run = "20261130-101010-abcd";
        let expected = [
            "runs merge".to_owned(),
            "runs show".to_owned(),
            format!("report {run}"),
            "compare baseline".to_owned(),
            "runs merge".to_owned(),
            "runs show".to_owned(),
            format!("report {run}"),
        ];
        assert_eq!(verbs, expected);
        let store = jobs.runs.join("parts/20261130/tools-1");
        let place = |part: u32| format!("[{}]", store.join(part.to_string()).display());
        let places = (1..=4).map(place).collect::<Vec<_>>().concat();
        assert_eq!(
            calls[0],
            format!("[runs][merge][--from]{places}[--runs-dir][{}][--profile][night]", jobs.runs.display())
        );
    }

    #[test]
    fn a_merge_that_is_refused_fails_and_compares_nothing() {
        let (_folder, jobs) = scene("case \"$1 $2\" in \"runs merge\") exit 2;; esac");
        let output = run(&jobs, "merge.sbatch", &[]);
        assert_eq!(output.status.code(), Some(2));
        let calls = calls(&jobs);
        assert!(calls.len() == 2 && calls.iter().all(|call| call.starts_with("[runs][merge]")), "{calls:?}");
    }

    #[test]
    fn submitting_hands_the_array_to_the_merge() {
        let (_folder, jobs) = scene("exit 0");
        let bin = jobs.program.parent().unwrap();
        let sbatch =
            "#!/bin/sh\necho \"$@\" >> submitted\ncase \"$*\" in *parts.sbatch) echo '7;cluster';; *) echo 8;; esac\n";
        fs::write(bin.join("sbatch"), sbatch).unwrap();
        fs::set_permissions(bin.join("sbatch"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        let output = run(&jobs, "submit.sh", &[("PATH", &path)]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "parts: 7, merge: 8\n");
        let submitted = fs::read_to_string(jobs.runs.with_file_name("jobs").join("submitted")).unwrap();
        assert_eq!(
            submitted,
            "--parsable parts.sbatch\n--parsable --dependency=afterok:7 --kill-on-invalid-dep=yes merge.sbatch\n"
        );
    }
}
