//! `tenpass nightly --systemd`.

use tenpass_review::nightly::{Unit, units};

use crate::args::review::Nightly;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Prints the units for this program, this folder and these settings.
pub(super) fn print(context: &Context, command: &Nightly) -> Result<Exit, Failure> {
    let failed = |error: std::io::Error| Failure::bug(format!("the place of this program is unknown: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let folder = std::env::current_dir().map_err(failed)?;
    let mut arguments = Vec::new();
    if let Some(profile) = &context.resolved.settings.profile {
        arguments.extend(["--profile".to_owned(), profile.clone()]);
    }
    for (flag, path) in [("--runs-dir", &context.runs_flag), ("--dir", &command.dir)] {
        if let Some(path) = path {
            let path = std::path::absolute(path).map_err(failed)?;
            arguments.extend([flag.to_owned(), path.display().to_string()]);
        }
    }
    let (program, folder) = (program.display().to_string(), folder.display().to_string());
    let units = units(&Unit { program: &program, arguments: &arguments, folder: &folder });
    let Some(out) = &command.out else {
        for (name, text) in &units {
            context.printer.out(&format!("# {name}\n{text}"));
        }
        context.printer.note("write them with: tenpass nightly --systemd --out ~/.config/systemd/user");
        return Ok(Exit::Yes);
    };
    std::fs::create_dir_all(out).map_err(|error| Failure::file(out, &error))?;
    for (name, text) in &units {
        let path = out.join(name);
        std::fs::write(&path, text).map_err(|error| Failure::file(&path, &error))?;
        context.printer.out(&path.display().to_string());
    }
    context.printer.note(
        "switch it on with: systemctl --user daemon-reload && systemctl --user enable --now tenpass-nightly.timer",
    );
    context.printer.note("to let it run while nobody is logged in: loginctl enable-linger \"$USER\"");
    Ok(Exit::Yes)
}
