//! The generated pages: written by `tenpass` itself, committed, and checked.

use std::path::Path;

use anyhow::{Context as _, bail};

use crate::run;
use crate::shell::{Stop, Workspace};

/// Whether pages are written or compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Write,
    Check,
}

/// Each page: the word after `tenpass generate`, and its file.
const PAGES: &[(&str, &str)] = &[
    ("commands", "cli/reference/commands.md"),
    ("environment", "cli/reference/environment.md"),
    ("configuration", "cli/reference/configuration.md"),
];

/// Builds, and writes or compares every page.
pub(crate) fn run(workspace: &Workspace, mode: Mode) -> anyhow::Result<()> {
    run::build_for_tests(workspace)?;
    let mut stale = Vec::new();
    for (word, file) in PAGES {
        let page = generate(workspace, word)?;
        if let Some(difference) = bring_up_to_date(&workspace.root.join(file), &page, mode)? {
            eprintln!("==> {file}: {difference}");
            stale.push(*file);
        }
    }
    match (mode, stale.as_slice()) {
        (_, []) => eprintln!("==> docs: {} pages are up to date", PAGES.len()),
        (Mode::Write, written) => eprintln!("==> docs: wrote {}", written.join(", ")),
        (Mode::Check, stale) => {
            let message = format!("out of date: {}; run `cargo dev docs` and commit", stale.join(", "));
            return Err(Stop::failed(message).into());
        }
    }
    Ok(())
}

/// A page as the program prints it.
fn generate(workspace: &Workspace, word: &str) -> anyhow::Result<String> {
    let output = workspace.tenpass().args(["generate", word]).output().context("cannot start tenpass")?;
    if !output.status.success() {
        bail!("tenpass generate {word}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    let page = String::from_utf8(output.stdout).with_context(|| format!("tenpass generate {word} is not UTF-8"))?;
    Ok(format!("{}\n", page.trim_end()))
}

/// Says where the file differs from the page, and writes it when asked to.
fn bring_up_to_date(file: &Path, page: &str, mode: Mode) -> anyhow::Result<Option<String>> {
    let there = std::fs::read_to_string(file).unwrap_or_default().replace("\r\n", "\n");
    if there == page {
        return Ok(None);
    }
    if mode == Mode::Write {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(file, page).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(Some(first_difference(&there, page)))
}

fn first_difference(old: &str, new: &str) -> String {
    if old.is_empty() {
        return "not there".into();
    }
    let lines = old.lines().zip(new.lines()).take_while(|(old, new)| old == new).count();
    let at = |text: &str| text.lines().nth(lines).unwrap_or("(end)").to_owned();
    format!("line {}: has `{}`, should be `{}`", lines + 1, at(old), at(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_page_is_named_and_only_written_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("reference/page.md");
        assert_eq!(bring_up_to_date(&file, "a\nb\n", Mode::Check).unwrap(), Some("not there".into()));
        assert!(!file.exists());
        bring_up_to_date(&file, "a\nb\n", Mode::Write).unwrap();
        assert_eq!(bring_up_to_date(&file, "a\nb\n", Mode::Check).unwrap(), None);
        let difference = bring_up_to_date(&file, "a\nc\n", Mode::Check).unwrap();
        assert_eq!(difference.unwrap(), "line 2: has `b`, should be `c`");
        assert_eq!(first_difference("a\n", "a\nb\n"), "line 2: has `(end)`, should be `b`");
    }
}
