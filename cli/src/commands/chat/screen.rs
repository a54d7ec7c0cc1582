//! What a turn looks like: events become text to write.
//!
//! On a terminal the answer streams, and what is withdrawn is wiped; waiting and thinking are one
//! line that is written over. Elsewhere nothing can be taken back, so the answer is written when it
//! stands, and there are no control sequences.

use tenpass_agent::interaction::{AgentEvent, RunState};
use tenpass_trace::{CallOutcome, TurnEnd};

use super::console::Features;
use super::style::{Ink, Paint, arguments, columns, one_line, printable};

/// Written over by whatever comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Passing {
    /// The model was asked and nothing came yet.
    Waiting,
    /// The model thinks: words so far.
    Thinking,
}

/// The state of the display.
#[derive(Debug)]
pub(super) struct Screen {
    features: Features,
    paint: Paint,
    /// What streamed since the last line that stays.
    block: String,
    /// Some of the answer was shown, and not withdrawn.
    has_streamed: bool,
    passing: Option<Passing>,
    words: usize,
    in_word: bool,
    /// Words that the passing line shows.
    shown_words: usize,
}

impl Screen {
    pub(super) fn new(features: Features) -> Self {
        Self {
            features,
            paint: Paint(features.is_colored),
            block: String::new(),
            has_streamed: false,
            passing: None,
            words: 0,
            in_word: false,
            shown_words: 0,
        }
    }

    /// What to write for an event.
    pub(super) fn event(&mut self, event: &AgentEvent) -> String {
        match event {
            AgentEvent::State(RunState::Thinking) => self.waiting(),
            AgentEvent::State(_) => String::new(),
            AgentEvent::Text(piece) => self.text(piece),
            AgentEvent::Thinking(piece) => self.thinking(piece),
            AgentEvent::Discard => self.discard(),
            AgentEvent::CallStarted { tool, tier, arguments: given, .. } => {
                let call = format!("▸ {}({})", one_line(tool, 60), arguments(given));
                self.lines(&format!("{} · {}\n", self.paint.ink(Ink::Cyan, &call), self.paint.tier(*tier)))
            }
            AgentEvent::CallEnded { outcome, summary, .. } => {
                let ended = self.ended(*outcome, summary);
                self.lines(&ended)
            }
            AgentEvent::MemoryWritten { section, text } => {
                let signal = self.signal(section, text);
                self.lines(&signal)
            }
            AgentEvent::Note(text) => {
                let note = self.paint.ink(Ink::Dim, &format!("· {}", one_line(text, 200)));
                self.lines(&format!("{note}\n"))
            }
            AgentEvent::Finished { end, text } => self.finished(*end, text),
        }
    }

    /// Whole lines below what stands: a confirmation, a signal.
    pub(super) fn lines(&mut self, lines: &str) -> String {
        let mut out = self.settle();
        if self.features.is_terminal && !self.block.is_empty() && !self.block.ends_with('\n') {
            out.push('\n');
        }
        self.block.clear();
        out.push_str(lines);
        out
    }

    fn waiting(&mut self) -> String {
        if !self.features.is_terminal || self.passing.is_some() || !self.block.is_empty() {
            return String::new();
        }
        self.passing = Some(Passing::Waiting);
        self.paint.ink(Ink::Dim, "…")
    }

    fn text(&mut self, piece: &str) -> String {
        let piece = printable(piece);
        // An answer does not begin with empty lines.
        let piece = if self.block.is_empty() { piece.trim_start_matches('\n') } else { &piece };
        if piece.is_empty() {
            return String::new();
        }
        let mut out = self.settle();
        self.block.push_str(piece);
        if self.features.is_terminal {
            self.has_streamed = true;
            out.push_str(piece);
        }
        out
    }

    /// Folds the reasoning: only its words are counted (K25).
    fn thinking(&mut self, piece: &str) -> String {
        // The last word of a thought may come late: masks hold back what could be half a secret. It
        // must not tear the answer apart.
        if !self.block.is_empty() {
            return String::new();
        }
        for character in piece.chars() {
            let in_word = !character.is_whitespace();
            self.words += usize::from(in_word && !self.in_word);
            self.in_word = in_word;
        }
        let is_new = self.passing != Some(Passing::Thinking);
        // Not at every word: a slow terminal has other things to do.
        if !self.features.is_terminal || self.words == 0 || (!is_new && self.words < self.shown_words + 8) {
            return String::new();
        }
        self.passing = Some(Passing::Thinking);
        self.shown_words = self.words;
        format!("\r\x1b[K{}", self.paint.ink(Ink::Dim, &self.thought()))
    }

    fn thought(&self) -> String {
        format!("thinking… {} {}", self.words, if self.words == 1 { "word" } else { "words" })
    }

    /// Makes the passing line stay, or wipes it.
    fn settle(&mut self) -> String {
        let wipe = if self.passing.take().is_some() { "\r\x1b[K" } else { "" };
        if self.words == 0 {
            return wipe.to_owned();
        }
        let thought = self.paint.ink(Ink::Dim, &self.thought());
        (self.words, self.in_word, self.shown_words) = (0, false, 0);
        format!("{wipe}{thought}\n")
    }

    fn discard(&mut self) -> String {
        let block = std::mem::take(&mut self.block);
        self.has_streamed = false;
        if block.is_empty() || !self.features.is_terminal {
            return String::new();
        }
        let rows = rows(&block, self.features.width);
        if rows >= self.features.height {
            let end = if block.ends_with('\n') { "" } else { "\n" };
            return format!("{end}{}\n", self.paint.ink(Ink::Dim, "(withdrawn)"));
        }
        let up = if rows > 1 { format!("\x1b[{}A", rows - 1) } else { String::new() };
        format!("\r{up}\x1b[J")
    }

    fn ended(&self, outcome: CallOutcome, summary: &str) -> String {
        let (mark, ink) = match outcome {
            CallOutcome::Ok => ("✓", Ink::Green),
            CallOutcome::Repeated => ("·", Ink::Dim),
            _ => ("✗", Ink::Red),
        };
        let mark = self.paint.ink(ink, mark);
        let room = self.features.width.saturating_sub(outcome.as_str().len() + 8);
        let summary = one_line(summary, room);
        let rest = if summary.is_empty() || outcome == CallOutcome::Refused {
            String::new()
        } else {
            format!(" · {summary}")
        };
        format!("  {mark} {outcome}{}\n", self.paint.ink(Ink::Dim, &rest), outcome = outcome.as_str())
    }

    /// One visible and audible signal a write (K65): two notes, where there is a bell.
    fn signal(&self, section: &str, text: &str) -> String {
        let bell = if self.features.is_terminal { "\x07\x07" } else { "" };
        let line = format!("◆ remembered ({}): {}", one_line(section, 40), one_line(text, 400));
        format!("{}{bell}\n", self.paint.ink(Ink::Yellow, &line))
    }

    fn finished(&mut self, end: TurnEnd, text: &str) -> String {
        let mut out = self.settle();
        // On a terminal it has streamed, unless no model wrote it.
        if !std::mem::take(&mut self.has_streamed) {
            self.block = printable(text.trim());
            out.push_str(&self.block);
        }
        if !self.block.is_empty() && !self.block.ends_with('\n') {
            out.push('\n');
        }
        self.block.clear();
        if let Some(note) = end_note(end) {
            out.push_str(&format!("{}\n", self.paint.ink(Ink::Dim, note)));
        }
        out
    }
}

/// What is said about an end that is not the usual one.
fn end_note(end: TurnEnd) -> Option<&'static str> {
    match end {
        TurnEnd::Natural | TurnEnd::FixedSentence | TurnEnd::Emergency | TurnEnd::Failed => None,
        TurnEnd::LastResult => Some("(the tool's own words: the model had none)"),
        TurnEnd::Escalated => Some("(answered by a provider in place of the model)"),
        TurnEnd::RoundCap => Some("(the limit of rounds was reached)"),
        TurnEnd::CutOff => Some("(ended: the answer reached its token limit)"),
        TurnEnd::RepeatAbort => Some("(ended: the same calls came again and again)"),
        TurnEnd::Stopped => Some("(stopped)"),
        TurnEnd::TimedOut => Some("(the time ran out)"),
    }
}

/// Rows of the terminal that a text takes, its last one included even when empty.
fn rows(text: &str, width: usize) -> usize {
    text.split('\n').map(|line| columns(line).div_ceil(width.max(1)).max(1)).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenpass_trace::Tier;

    use super::*;

    const PIPE: Features = Features { is_terminal: false, is_typed: false, is_colored: false, width: 80, height: 24 };
    const TERMINAL: Features = Features { is_terminal: true, is_typed: true, ..PIPE };

    fn text(piece: &str) -> AgentEvent {
        AgentEvent::Text(piece.to_owned())
    }

    fn call(outcome: CallOutcome, summary: &str) -> [AgentEvent; 2] {
        let arguments = json!({ "filename": "a.txt", "reason": "asked" }).as_object().unwrap().clone();
        [
            AgentEvent::CallStarted { call: 1, tool: "read_file".to_owned(), tier: Tier::Auto, arguments },
            AgentEvent::CallEnded { call: 1, tool: "read_file".to_owned(), outcome, summary: summary.to_owned() },
        ]
    }

    fn shown(features: Features, events: &[AgentEvent]) -> String {
        let mut screen = Screen::new(features);
        events.iter().map(|event| screen.event(event)).collect()
    }

    /// What a terminal holds after these bytes: enough of one for what is written here.
    fn held(written: &str) -> String {
        let mut lines = vec![String::new()];
        let mut row = 0;
        let mut rest = written;
        while let Some(character) = rest.chars().next() {
            if let Some(sequence) = rest.strip_prefix("\x1b[") {
                let end = sequence.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                match &sequence[end..=end] {
                    "A" => row -= sequence[..end].parse::<usize>().unwrap(),
                    "J" => {
                        lines.truncate(row + 1);
                        lines[row].clear();
                    }
                    "K" => lines[row].clear(),
                    _ => {}
                }
                rest = &sequence[end + 1..];
                continue;
            }
            match character {
                '\n' => {
                    row += 1;
                    lines.resize(lines.len().max(row + 1), String::new());
                }
                '\r' | '\x07' => {}
                other => {
                    if columns(&lines[row]) + columns(other.encode_utf8(&mut [0; 4])) > 80 {
                        row += 1;
                        lines.resize(lines.len().max(row + 1), String::new());
                    }
                    lines[row].push(other);
                }
            }
            rest = &rest[character.len_utf8()..];
        }
        lines.join("\n")
    }

    fn events() -> Vec<AgentEvent> {
        let mut events = vec![
            AgentEvent::State(RunState::Thinking),
            AgentEvent::Thinking("one two".to_owned()),
            AgentEvent::Thinking(" three".to_owned()),
            text("I will look at "),
            text(&"the file ".repeat(12)),
            AgentEvent::Thinking(" late".to_owned()),
            AgentEvent::Discard,
        ];
        events.extend(call(CallOutcome::Ok, "\n23 lines of a.txt\nrest"));
        events.push(AgentEvent::State(RunState::Thinking));
        events.push(text("It says\nhello"));
        events.push(AgentEvent::Finished { end: TurnEnd::Natural, text: "It says\nhello".to_owned() });
        events
    }

    const TRANSCRIPT: &str =
        "thinking… 3 words\n▸ read_file(filename: \"a.txt\") · auto\n  ✓ ok · 23 lines of a.txt\nIt says\nhello\n";

    #[test]
    fn a_pipe_gets_the_words_that_stand_and_no_control_sequence() {
        assert_eq!(shown(PIPE, &events()), TRANSCRIPT);
    }

    #[test]
    fn a_terminal_streams_and_holds_the_same_in_the_end() {
        let written = shown(TERMINAL, &events());
        assert!(written.contains("I will look at") && written.contains("thinking… 2 words"));
        assert_eq!(held(&written), TRANSCRIPT);
    }

    #[test]
    fn what_left_the_screen_is_said_to_be_withdrawn() {
        let mut screen = Screen::new(Features { height: 3, ..TERMINAL });
        screen.event(&text("a\nb\nc\nd"));
        assert_eq!(screen.event(&AgentEvent::Discard), "\n(withdrawn)\n");
        assert_eq!(screen.event(&AgentEvent::Discard), "", "nothing is there any more");
    }

    #[test]
    fn each_memory_write_is_seen_and_heard_on_a_terminal() {
        let written = AgentEvent::MemoryWritten { section: "decisions".into(), text: "Tea\u{1b}[2J, always.".into() };
        assert_eq!(shown(PIPE, std::slice::from_ref(&written)), "◆ remembered (decisions): Tea\\u{1B}[2J, always.\n");
        assert_eq!(
            shown(TERMINAL, &[text("so"), written]),
            "so\n◆ remembered (decisions): Tea\\u{1B}[2J, always.\x07\x07\n"
        );
    }

    #[test]
    fn refusals_and_unusual_ends_are_said() {
        let [_, refused] = call(CallOutcome::Refused, "the person said no");
        assert_eq!(shown(PIPE, &[refused]), "  ✗ refused\n");
        let stopped = AgentEvent::Finished { end: TurnEnd::Stopped, text: "Once upon".to_owned() };
        assert_eq!(shown(PIPE, std::slice::from_ref(&stopped)), "Once upon\n(stopped)\n");
        assert_eq!(shown(TERMINAL, &[text("Once upon"), stopped]), "Once upon\n(stopped)\n");
    }

    #[test]
    fn what_did_not_stream_is_written_at_the_end_and_what_did_is_not_written_twice() {
        let finished = |text: &str| AgentEvent::Finished { end: TurnEnd::Emergency, text: text.to_owned() };
        for features in [PIPE, TERMINAL] {
            assert_eq!(shown(features, &[finished("Everything is stopped.")]), "Everything is stopped.\n");
        }
        let noted = [text("Half an ans"), AgentEvent::Note("cut off".to_owned()), finished("Half an ans")];
        assert_eq!(shown(TERMINAL, &noted), "Half an ans\n· cut off\n");
        assert_eq!(shown(PIPE, &noted), "· cut off\nHalf an ans\n");
    }

    #[test]
    fn colours_only_where_they_are_wanted() {
        let colored = shown(Features { is_colored: true, ..PIPE }, &call(CallOutcome::Error, "no"));
        assert!(colored.contains("\x1b[1;31m✗\x1b[0m error"), "{colored:?}");
        assert!(!shown(PIPE, &call(CallOutcome::Error, "no")).contains('\x1b'));
    }
}
