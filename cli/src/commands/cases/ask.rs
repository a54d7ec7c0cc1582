//! What should have happened, asked of the person: a numbered list, an edited one, lines of their own.

use rustyline::DefaultEditor;
use rustyline::config::{Behavior, Config};
use tenpass_bench::life::{Candidate, Draft, LifeError};

use crate::failure::Failure;
use crate::printer::Printer;

/// Questions that are asked before giving up.
const MOST_QUESTIONS: usize = 50;

/// Whoever answers.
pub(super) trait Person {
    /// One answer, which may have several lines; `initial` is there to be edited. `None`: they left.
    fn answer(&mut self, prompt: &str, initial: &str) -> Option<String>;
    /// Shows lines.
    fn show(&mut self, lines: &str);
}

/// A person at a terminal.
pub(super) struct Terminal {
    editor: DefaultEditor,
    printer: Printer,
}

impl Terminal {
    /// Opens the line editor.
    pub(super) fn open(printer: Printer) -> Result<Self, Failure> {
        let config = Config::builder().auto_add_history(false).behavior(Behavior::PreferTerm).build();
        let editor = DefaultEditor::with_config(config)
            .map_err(|error| Failure::mistake(format!("the terminal cannot be used: {error}")).hint("type --expect"))?;
        Ok(Self { editor, printer })
    }
}

impl Person for Terminal {
    fn answer(&mut self, prompt: &str, initial: &str) -> Option<String> {
        self.editor.readline_with_initial(prompt, (initial, "")).ok()
    }

    fn show(&mut self, lines: &str) {
        self.printer.note(lines);
    }
}

/// Asks until there is an expectation; false when the person leaves.
///
/// A number takes a candidate, `e NUMBER` edits one, anything else is read as lines of `[case.expect]`.
pub(super) fn expectation(draft: &mut Draft, person: &mut dyn Person) -> Result<bool, LifeError> {
    person.show(&question(draft));
    let mut initial = String::new();
    for _ in 0..MOST_QUESTIONS {
        let Some(answer) = person.answer("› ", &initial) else { return Ok(false) };
        initial.clear();
        match choice(&answer, draft.candidates.len()) {
            Choice::Nothing => {}
            Choice::Leave => return Ok(false),
            Choice::Take(number) => {
                let chosen = draft.candidates[number].clone();
                draft.choose(&chosen);
                return Ok(true);
            }
            Choice::Edit(number) => draft.candidates[number].lines.trim_end().clone_into(&mut initial),
            Choice::Missing(number) => person.show(&format!("there is no {number}")),
            Choice::Own(lines) => match draft.expect("what you typed", &lines) {
                Ok(()) => return Ok(true),
                Err(LifeError::Cases(errors)) => {
                    for error in errors {
                        let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
                        person.show(&format!("{error}{hint}"));
                    }
                    initial = lines;
                }
                Err(error) => return Err(error),
            },
        }
    }
    Ok(false)
}

/// Asks a question of yes or no; silence is no.
pub(super) fn agrees(person: &mut dyn Person, question: &str) -> bool {
    let answer = person.answer(&format!("{question} [y/N] "), "").unwrap_or_default();
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes" | "o" | "oui")
}

/// The question with its candidates.
pub(super) fn question(draft: &Draft) -> String {
    let mut lines = vec![format!("“{}”", draft.request.trim())];
    if let Some(correction) = &draft.correction {
        lines.push(format!("corrected: “{}”", correction.trim()));
    }
    lines.push("What should have happened?".to_owned());
    for (number, candidate) in draft.candidates.iter().enumerate() {
        lines.push(listed(number + 1, candidate));
    }
    let own = "lines of your own, such as calls = [{ tool = \"read_file\" }] or no_call = true";
    lines.push(match draft.candidates.len() {
        0 => own.to_owned(),
        _ => format!("a number takes one, `e NUMBER` edits it; or {own}"),
    });
    lines.join("\n")
}

fn listed(number: usize, candidate: &Candidate) -> String {
    let lines = candidate.lines.trim_end().replace('\n', "\n     ");
    format!("  {number}  {lines}\n     # {}", candidate.why)
}

/// What an answer means.
#[derive(Debug, PartialEq)]
enum Choice {
    Nothing,
    Leave,
    Take(usize),
    Edit(usize),
    Missing(usize),
    Own(String),
}

fn choice(answer: &str, candidates: usize) -> Choice {
    let answer = answer.trim();
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let known = |number: usize, made: fn(usize) -> Choice| {
        if (1..=candidates).contains(&number) { made(number - 1) } else { Choice::Missing(number) }
    };
    if answer.is_empty() {
        return Choice::Nothing;
    }
    if matches!(answer, "q" | "quit" | "exit") {
        return Choice::Leave;
    }
    if let Some(number) = number(answer) {
        return known(number, Choice::Take);
    }
    if let Some(number) = answer.strip_prefix("e ").and_then(number) {
        return known(number, Choice::Edit);
    }
    Choice::Own(answer.to_owned())
}

#[cfg(test)]
mod tests {
    use tenpass_bench::cases::parse_expect;

    use super::*;

    /// True when lines read as an expectation of the draft's tools.
    fn reads(draft: &Draft, lines: &str) -> bool {
        parse_expect("x", lines, &draft.case.tools).is_ok()
    }

    #[test]
    fn answers_are_numbers_edits_or_lines() {
        assert_eq!(choice(" 2 ", 2), Choice::Take(1));
        assert_eq!(choice("3", 2), Choice::Missing(3));
        assert_eq!(choice("0", 2), Choice::Missing(0));
        assert_eq!(choice("e 1", 2), Choice::Edit(0));
        assert_eq!(choice("", 2), Choice::Nothing);
        assert_eq!(choice("q", 2), Choice::Leave);
        assert_eq!(choice("no_call = true", 2), Choice::Own("no_call = true".to_owned()));
    }

    /// A person with prepared answers.
    struct Prepared {
        answers: Vec<&'static str>,
        initials: Vec<String>,
    }

    impl Person for Prepared {
        fn answer(&mut self, _prompt: &str, initial: &str) -> Option<String> {
            self.initials.push(initial.to_owned());
            if self.answers.is_empty() { None } else { Some(self.answers.remove(0).to_owned()) }
        }

        fn show(&mut self, _lines: &str) {}
    }

    #[test]
    fn only_a_yes_is_one() {
        let ask =
            |answer: &'static str| agrees(&mut Prepared { answers: vec![answer], initials: Vec::new() }, "File it?");
        assert!(ask("y") && ask(" Oui ") && !ask("") && !ask("n"));
        assert!(!agrees(&mut Prepared { answers: Vec::new(), initials: Vec::new() }, "File it?"));
    }

    #[test]
    fn a_draft_gets_its_expectation_from_the_person() {
        use tenpass_trace::{TraceEvent, TraceRecord};
        let place = tempfile::tempdir().unwrap();
        let folder = tenpass_tools::assistant::AgentFolder::new(place.path());
        let store = tenpass_tools::assistant::LiveStore::open(&folder).unwrap();
        let write = |event: TraceEvent| {
            let record = TraceRecord { thread: "t".into(), turn: "u".into(), event };
            store.recorder.journals().trace(&record).unwrap();
        };
        write(TraceEvent::Request {
            text: "Read notes.md".into(),
            model: "m".into(),
            profile: "panel".into(),
            think: None,
        });
        write(TraceEvent::Route {
            selection: "all".into(),
            structure: "native".into(),
            offered: vec!["read_file".into()],
            excluded: Vec::new(),
        });
        write(TraceEvent::Round {
            number: 1,
            tools: 1,
            messages: 2,
            prompt_tokens: None,
            counted_tokens: None,
            completion_tokens: None,
            ms: 1.0,
            first_token_ms: None,
            calls: 0,
            class: None,
        });
        write(TraceEvent::Verdict { judged: "u".into(), verdict: "rejected".into() });
        drop(store);
        let life = tenpass_bench::life::Life::open(&folder).unwrap();
        let options = tenpass_bench::life::DraftOptions {
            registry: tenpass_bench::rounds::definitions(),
            memory: String::new(),
            hide: Vec::new(),
            user: None,
            zone: jiff::tz::TimeZone::UTC,
            placeholders: place.path().to_owned(),
        };
        let fresh = || Draft::of(&life, life.find("latest", None).unwrap(), &options, None).unwrap();
        let mut draft = fresh();
        assert!(question(&draft).contains("1  calls = ["), "{}", question(&draft));
        let mut person =
            Prepared { answers: vec!["", "9", "e 1", "no_call = maybe", "no_call = true"], initials: Vec::new() };
        assert!(expectation(&mut draft, &mut person).unwrap() && draft.case.expect.no_call);
        assert!(reads(&draft, &person.initials[3]), "an edit begins with what is there: {:?}", person.initials);
        assert_eq!(person.initials[4], "no_call = maybe", "a mistake stays to be corrected");
        let mut draft = fresh();
        let mut person = Prepared { answers: vec!["1"], initials: Vec::new() };
        assert!(expectation(&mut draft, &mut person).unwrap() && draft.case.expect == draft.candidates[0].expect);
        let mut draft = fresh();
        assert!(!expectation(&mut draft, &mut Prepared { answers: vec!["q"], initials: Vec::new() }).unwrap());
    }
}
