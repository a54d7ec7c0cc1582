//! `tenpass blind vote`: ballot after ballot in the terminal, or choices from a pipe.

use std::io::BufRead as _;
use std::time::Instant;

use console::{Key, Term};
use tenpass_listening::blind::{Choice, Session, Shown};

use crate::commands::speech::say::Player;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// What was answered to a ballot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Choice(Choice),
    Back,
    Again,
    Leave,
    Unclear,
}

/// Shows the open ballots and takes votes.
pub(super) fn vote(context: &Context, session: &Session) -> Result<Exit, Failure> {
    let mut voter = Voter::new(context);
    while let Some(shown) = session.next()? {
        let mut ballot = shown.ballot;
        loop {
            let shown = session.shown(ballot)?;
            voter.present(context, &shown)?;
            let started = Instant::now();
            match voter.ask(context, &shown)? {
                Said::Leave => {
                    let (voted, of) = session.progress()?;
                    context.printer.note(&format!(
                        "{voted} of {of} are voted and kept; go on with: tenpass blind vote {}",
                        session.id()
                    ));
                    return Ok(Exit::Yes);
                }
                Said::Back if ballot > 0 => ballot -= 1,
                Said::Choice(choice) => {
                    session.vote(ballot, choice, started.elapsed().as_millis() as u64, "terminal")?;
                    break;
                }
                Said::Back | Said::Again | Said::Unclear => {}
            }
        }
    }
    context.printer.out(&format!("every ballot is voted: tenpass blind result {}", session.id()));
    Ok(Exit::Yes)
}

/// A person at a terminal, or lines of a pipe.
struct Voter {
    terminal: Option<Term>,
    lines: std::io::Lines<std::io::StdinLock<'static>>,
}

impl Voter {
    fn new(context: &Context) -> Self {
        use std::io::IsTerminal as _;
        let typed = std::io::stdin().is_terminal() && context.printer.is_terminal();
        Self { terminal: typed.then(Term::stdout), lines: std::io::stdin().lock().lines() }
    }

    fn present(&self, context: &Context, shown: &Shown) -> Result<(), Failure> {
        if let Some(terminal) = &self.terminal {
            let _ = terminal.clear_screen();
        }
        context.printer.out(&ballot(shown, context.printer.width()));
        if self.terminal.is_some() && shown.answers.iter().any(|answer| answer.sound.is_some()) {
            let player = Player::find()?;
            for answer in &shown.answers {
                let Some(sound) = &answer.sound else { continue };
                context.printer.out(&format!("▶ {}", answer.letter));
                player.file(sound)?;
            }
        }
        Ok(())
    }

    fn ask(&mut self, context: &Context, shown: &Shown) -> Result<Said, Failure> {
        let Some(terminal) = &self.terminal else {
            return match self.lines.next() {
                None => Ok(Said::Leave),
                Some(Ok(line)) => match said(&line, shown.answers.len()) {
                    Said::Unclear => {
                        Err(Failure::mistake(format!("{line:?} is no choice on ballot {}", shown.ballot + 1))
                            .hint("one line a ballot: a letter, t (equally good), x (all bad), u (back) or q (leave)"))
                    }
                    said => Ok(said),
                },
                Some(Err(error)) => Err(Failure::file(std::path::Path::new("stdin"), &error)),
            };
        };
        loop {
            let key = terminal
                .read_key()
                .map_err(|error| Failure::mistake(format!("the terminal cannot be read: {error}")))?;
            let typed = match key {
                Key::Char(letter) => letter.to_string(),
                Key::Escape | Key::CtrlC => "q".to_owned(),
                Key::ArrowLeft if shown.answers.len() == 2 => "a".to_owned(),
                Key::ArrowRight if shown.answers.len() == 2 => "b".to_owned(),
                Key::Backspace => "u".to_owned(),
                _ => continue,
            };
            match said(&typed, shown.answers.len()) {
                Said::Unclear => {
                    context.printer.note("a letter picks; t equally good, x all bad, u back, p again, q leave");
                }
                said => return Ok(said),
            }
        }
    }
}

fn said(typed: &str, answers: usize) -> Said {
    match typed.trim().to_lowercase().as_str() {
        "q" | "quit" => Said::Leave,
        "u" | "back" => Said::Back,
        "p" | "again" => Said::Again,
        "x" => Said::Choice(Choice::AllBad),
        other => match other.parse::<Choice>() {
            Ok(Choice::Place(place)) if place >= answers => Said::Unclear,
            Ok(choice) => Said::Choice(choice),
            Err(_) => Said::Unclear,
        },
    }
}

/// A ballot as text: question, then the answers under their letters.
fn ballot(shown: &Shown, width: usize) -> String {
    let rule = "─".repeat(width.clamp(20, 78));
    let mut text = format!("{} of {}\n{rule}\n{}\n", shown.ballot + 1, shown.of, shown.prompt);
    for answer in &shown.answers {
        let words = if answer.text.is_empty() && answer.sound.is_some() { "(sound)" } else { answer.text.as_str() };
        text.push_str(&format!("{rule}\n[{}] {}\n", answer.letter, tenpass_agent::untrusted::visible(words)));
    }
    text.push_str(&rule);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_words_and_nothing_else_are_choices() {
        assert_eq!(said("A", 2), Said::Choice(Choice::Place(0)));
        assert_eq!(said(" b\n", 2), Said::Choice(Choice::Place(1)));
        assert_eq!(said("c", 2), Said::Unclear);
        assert_eq!(said("c", 3), Said::Choice(Choice::Place(2)));
        assert_eq!(said("t", 2), Said::Choice(Choice::Tie));
        assert_eq!(said("x", 2), Said::Choice(Choice::AllBad));
        assert_eq!((said("u", 2), said("q", 2), said("p", 2)), (Said::Back, Said::Leave, Said::Again));
        assert_eq!(said("", 2), Said::Unclear);
    }
}
