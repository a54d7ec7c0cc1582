//! Starting other programs, and knowing where the workspace is.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

/// Ends the program with a code of its own; what is to be said was said, or stands in the message.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) code: u8,
    pub(crate) message: Option<String>,
}

impl Stop {
    /// The machine or the command line needs its owner.
    pub(crate) fn user(message: String) -> Self {
        Self { code: 2, message: Some(message) }
    }

    /// A check failed; its findings were printed.
    pub(crate) fn failed(message: String) -> Self {
        Self { code: 1, message: Some(message) }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.message.as_deref().unwrap_or("stopped"))
    }
}

impl std::error::Error for Stop {}

/// The workspace this program was built from.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    /// What `cargo metadata` says, without dependencies from elsewhere.
    pub(crate) metadata: serde_json::Value,
}

impl Workspace {
    /// Asks cargo, from the working folder.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let output = cargo(Path::new("."))
            .args(["metadata", "--format-version", "1", "--no-deps"])
            .stderr(Stdio::inherit())
            .output()
            .context("cannot start cargo")?;
        if !output.status.success() {
            bail!("cargo metadata failed");
        }
        let metadata: serde_json::Value =
            serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")?;
        let path = |key: &str| {
            metadata[key].as_str().map(PathBuf::from).with_context(|| format!("cargo metadata has no {key}"))
        };
        Ok(Self { root: path("workspace_root")?, target: path("target_directory")?, metadata })
    }

    /// A cargo command in the workspace.
    pub(crate) fn cargo(&self) -> Command {
        cargo(&self.root)
    }

    /// The program that the release build makes.
    pub(crate) fn tenpass(&self) -> Command {
        let mut command = Command::new(self.binary());
        command.current_dir(&self.root);
        command
    }

    /// Where the release build puts it.
    pub(crate) fn binary(&self) -> PathBuf {
        self.target.join("release").join(format!("tenpass{}", std::env::consts::EXE_SUFFIX))
    }
}

/// Cargo, without what the outer `cargo run` set for this program: build scripts would see it and
/// everything would be built again.
fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder);
    let own = |name: &str| {
        ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix))
            || matches!(name, "CARGO_BIN_NAME" | "CARGO_CRATE_NAME" | "CARGO_PRIMARY_PACKAGE" | "OUT_DIR")
    };
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(own) {
            command.env_remove(name);
        }
    }
    command
}

/// Says what is done and does it; another end than success ends this program with the same code.
pub(crate) fn step(title: &str, command: &mut Command) -> anyhow::Result<()> {
    eprintln!("==> {title}");
    let status = command.status().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    if status.success() {
        return Ok(());
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Err(Stop { code, message: Some(format!("{title}: {status}")) }.into())
}

/// Like [`step`] for what a command is for: its own last words stay the last ones.
pub(crate) fn hand_over(title: &str, command: &mut Command) -> anyhow::Result<()> {
    step(title, command).map_err(|error| match error.downcast::<Stop>() {
        Ok(stop) => Stop { message: None, ..stop }.into(),
        Err(error) => error,
    })
}

/// True when a program starts and ends well, whatever it prints.
pub(crate) fn succeeds(program: impl AsRef<OsStr>, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
