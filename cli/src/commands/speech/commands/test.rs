//! `tenpass commands test`.

use tenpass_speech::commands::{Dispatch, How, Near, Slots};

use super::load;
use crate::args::speech::commands::Test;
use crate::commands::table::table;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Carries out the command: no is an answer.
pub(super) fn run(context: &Context, test: &Test) -> Result<Exit, Failure> {
    if !test.language.is_empty() {
        super::language(&test.language)?;
    }
    let commands = load(context, &test.commands)?;
    let found = if test.no_wake_word {
        commands.dispatch_heard(&test.text, &test.language)
    } else {
        commands.dispatch(&test.text, &test.language)
    };
    if test.format.json() {
        context.printer.json(&found)?;
    } else {
        context.printer.out(&told(&found));
    }
    Ok(if found.id().is_some() { Exit::Yes } else { Exit::No })
}

fn told(found: &Dispatch) -> String {
    match found {
        Dispatch::Command { id, slots, distance, how, phrasing } => {
            let why = match how {
                How::Exact => "the same words".to_owned(),
                How::Folded => "the same words but for accents".to_owned(),
                How::Learned => "a phrase that was learned".to_owned(),
                How::Near => format!("distance {distance:.2}"),
            };
            format!("{id}{}\n\"{phrasing}\": {why}\n", filled(slots))
        }
        Dispatch::None { why, nearest } => {
            let mut text = format!("none: {why}\n");
            if !nearest.is_empty() {
                let row = |near: &Near| {
                    vec![
                        format!("{}{}", near.id, filled(&near.slots)),
                        near.phrasing.clone(),
                        format!("{:.2}", near.distance),
                        format!("{:.2}", near.threshold),
                    ]
                };
                let rows: Vec<Vec<String>> = nearest.iter().map(row).collect();
                text.push_str(&format!("\n{}", table(&["nearest", "said", "distance", "at most"], &rows, &[2, 3])));
            }
            text
        }
    }
}

fn filled(slots: &Slots) -> String {
    slots.iter().map(|(key, value)| format!(" {key}={value}")).collect()
}
