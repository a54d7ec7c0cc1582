//! The machine and the source revision, recorded with every session of a run.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

/// The machine a session ran on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Name and version of the operating system.
    pub os: String,
    /// Processor architecture.
    pub architecture: String,
    /// Processor model, when the system tells.
    #[serde(default)]
    pub cpu: Option<String>,
    /// Cores available to the process.
    pub cores: u64,
    /// Bytes of main memory, when the system tells.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
}

impl Host {
    /// This machine.
    pub fn current() -> Self {
        Self {
            os: os_name(),
            architecture: std::env::consts::ARCH.to_owned(),
            cpu: cpu_model(),
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64),
            memory_bytes: memory_bytes(),
        }
    }
}

/// Revision of a git working folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitState {
    /// The commit's hash.
    pub revision: String,
    /// Whether tracked files differ from it.
    pub dirty: bool,
}

impl GitState {
    /// Of the folder, when it is in a git repository with a commit and git is installed.
    pub fn of(directory: &Path) -> Option<Self> {
        let revision = git(directory, &["rev-parse", "--verify", "--quiet", "HEAD"])?;
        let changes = git(directory, &["status", "--porcelain", "--untracked-files=no"])?;
        Some(Self { revision: revision.trim().to_owned(), dirty: !changes.trim().is_empty() })
    }
}

fn git(directory: &Path, arguments: &[&str]) -> Option<String> {
    // No optional locks: a bench must not disturb the user's own git commands.
    output(Command::new("git").arg("--no-optional-locks").arg("-C").arg(directory).args(arguments))
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The value after `key` and a separator in a system file of `key<separator>value` lines.
fn field(text: &str, key: &str, separator: char) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(separator)?;
        (name.trim() == key).then(|| value.trim().trim_matches('"').to_owned())
    })
}

fn sysctl(name: &str) -> Option<String> {
    if !cfg!(target_os = "macos") {
        return None;
    }
    output(Command::new("sysctl").args(["-n", name])).map(|text| text.trim().to_owned())
}

fn os_name() -> String {
    let release = fs::read_to_string("/etc/os-release").ok().and_then(|text| field(&text, "PRETTY_NAME", '='));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned());
    let mac = sysctl("kern.osproductversion").map(|version| format!("macOS {version}"));
    match (release.or(mac), kernel) {
        (Some(release), Some(kernel)) => format!("{release}, {} {kernel}", std::env::consts::OS),
        (Some(release), None) => release,
        (None, Some(kernel)) => format!("{} {kernel}", std::env::consts::OS),
        (None, None) => std::env::consts::OS.to_owned(),
    }
}

fn cpu_model() -> Option<String> {
    let file = fs::read_to_string("/proc/cpuinfo").ok();
    file.and_then(|text| field(&text, "model name", ':')).or_else(|| sysctl("machdep.cpu.brand_string"))
}

fn memory_bytes() -> Option<u64> {
    let file = fs::read_to_string("/proc/meminfo").ok();
    let kibibytes = file.and_then(|text| field(&text, "MemTotal", ':'));
    match kibibytes {
        Some(text) => text.split_whitespace().next()?.parse::<u64>().ok().map(|count| count * 1024),
        None => sysctl("hw.memsize")?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_system_files() {
        let text = "processor\t: 0\nmodel name\t: Some CPU: 3 GHz\n";
        assert_eq!(field(text, "model name", ':').as_deref(), Some("Some CPU: 3 GHz"));
        assert_eq!(field("NAME=x\nPRETTY_NAME=\"A 1\"\n", "PRETTY_NAME", '=').as_deref(), Some("A 1"));
        assert_eq!(field("MemTotal:  10 kB", "MemFree", ':'), None);
    }

    #[test]
    fn git_state_follows_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(GitState::of(folder.path()), None);
        let run = |arguments: &[&str]| {
            let identity = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false"];
            let done =
                Command::new("git").arg("-C").arg(folder.path()).args(identity).args(arguments).output().unwrap();
            assert!(done.status.success(), "{done:?}");
        };
        run(&["init", "-q"]);
        fs::write(folder.path().join("a"), "1").unwrap();
        run(&["add", "a"]);
        run(&["commit", "-q", "--no-verify", "-m", "a"]);
        let clean = GitState::of(folder.path()).unwrap();
        assert!(!clean.dirty && clean.revision.len() == 40);
        fs::write(folder.path().join("a"), "2").unwrap();
        assert_eq!(GitState::of(folder.path()).unwrap(), GitState { dirty: true, ..clean });
    }
}
