//! What must hold before a change is taken, tests apart.

use crate::shell::{Workspace, step};
use crate::{docs, layers, setup};

/// Format, layers, lints, generated pages: the cheap ones first.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    step("format", workspace.cargo().args(["fmt", "--all", "--check"]))?;
    layers::run(workspace)?;
    setup::run()?;
    // In release, so that build scripts and procedural macros are shared with the build.
    let clippy = ["clippy", "--workspace", "--release", "--all-targets", "--quiet", "--", "-D", "warnings"];
    step("clippy", workspace.cargo().args(clippy))?;
    docs::run(workspace, docs::Mode::Check)
}
