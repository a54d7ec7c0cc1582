//! `tenpass commands learn` and `forget`: what only a person may do.

use std::io::{BufRead, IsTerminal};

use tenpass_speech::commands::Learned;

use super::{learned_path, load};
use crate::args::speech::commands::{Forget, Learn};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Learns a phrase that a person confirms.
pub(super) fn learn(context: &Context, learn: &Learn) -> Result<Exit, Failure> {
    let language = super::language(&learn.language)?;
    let commands = load(context, &learn.commands)?;
    let proposal = Learned::propose(&commands, &learn.heard, &learn.meant, language)?;
    let phrase = proposal.phrase().clone();
    let slots: String = phrase.slots.iter().map(|(key, value)| format!(" {key}={value}")).collect();
    let what = format!("\"{}\" ({language}) means {}{slots}", phrase.heard, phrase.id);
    if !learn.yes && !confirmed(context, &what)? {
        context.printer.note("nothing was learned");
        return Ok(Exit::No);
    }
    let mut learned = commands.learned().clone();
    learned.confirm(proposal);
    learned.save(&learned_path(context))?;
    context.printer.out(&format!("learned: {what}\n"));
    Ok(Exit::Yes)
}

/// Asks at the terminal.
fn confirmed(context: &Context, what: &str) -> Result<bool, Failure> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::mistake("there is no terminal to confirm it at").hint("a person who means it types --yes"));
    }
    context.printer.note(&format!("{what} – learn it? [y/N]"));
    let mut line = String::new();
    stdin.lock().read_line(&mut line).map_err(|error| Failure::mistake(format!("stdin: {error}")))?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes" | "o" | "oui"))
}

/// Forgets a phrase.
pub(super) fn forget(context: &Context, forget: &Forget) -> Result<Exit, Failure> {
    let commands = load(context, &forget.commands)?;
    let mut learned = commands.learned().clone();
    if !learned.forget(&commands, &forget.heard) {
        return Err(Failure::mistake(format!("\"{}\" was never learned", forget.heard))
            .hint("`tenpass commands list --learned` shows what was"));
    }
    learned.save(&learned_path(context))?;
    context.printer.out(&format!("forgotten: \"{}\"\n", forget.heard));
    Ok(Exit::Yes)
}
