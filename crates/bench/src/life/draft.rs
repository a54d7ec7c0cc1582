//! A turn as a case that is not filed yet: its conversation without personal words, and what may have
//! been right.

use std::path::PathBuf;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tenpass_agent::prompt::Language as Spoken;
use tenpass_agent::{Structure, fold};
use tenpass_trace::{Message, Role, ToolCall, ToolDefinition};

use super::LifeError;
use super::conversation::{self, cut, writable};
use super::expect::{Candidate, Guess, from_deeds, from_words, ranked};
use super::moment::Moment;
use super::personal::{Disguise, Placeholders, Replaced, Whose};
use super::registry;
use super::turns::{Life, LivedTurn};
use crate::cases::{Case, CaseKind, Expect, Language, parse_expect};

/// The family of cases from life, unless another is named.
pub const LIFE_FAMILY: &str = "life";

/// Characters of an id that is made from a request.
const ID_CHARACTERS: usize = 48;
/// Words of it.
const ID_WORDS: usize = 6;

/// What every draft needs besides the turn.
#[derive(Debug, Clone)]
pub struct DraftOptions {
    /// The tools as they are defined today.
    pub registry: Vec<ToolDefinition>,
    /// Portrait and memory: not in the case, but what they name is personal.
    pub memory: String,
    /// Words to hide besides those that are found.
    pub hide: Vec<String>,
    /// The name of the user on this machine, where it names somebody.
    pub user: Option<String>,
    /// The time zone of the person.
    pub zone: TimeZone,
    /// The folder in which placeholders are kept: the agent's.
    pub placeholders: PathBuf,
}

/// A turn on its way to a case.
#[derive(Debug)]
pub struct Draft {
    /// The case. Its expectation is empty until one is given.
    pub case: Case,
    /// What may have been right, what says most first.
    pub candidates: Vec<Candidate>,
    /// Which point of the turn is the question.
    pub moment: Moment,
    /// The turn's id.
    pub turn: String,
    /// When the turn began.
    pub at: Timestamp,
    /// The SPEC of the model that answered; a path in it as it is.
    pub model: String,
    /// The thinking level.
    pub think: Option<String>,
    /// How tools entered the request.
    pub structure: Option<Structure>,
    /// The person's words, rewritten.
    pub request: String,
    /// What the person said it should have been, rewritten.
    pub correction: Option<String>,
    /// What the person should know about the case.
    pub notes: Vec<String>,
    disguise: Disguise,
    shown_model: String,
}

impl Draft {
    /// The case of a turn. `expect` are the lines of `[case.expect]`, where they are known.
    pub fn of(life: &Life, turn: &LivedTurn, options: &DraftOptions, expect: Option<&str>) -> Result<Self, LifeError> {
        Self::of_request(life, turn, options, expect, None)
    }

    /// The same of the request with this number in the turn, counted from 1; `None` is the first that went wrong.
    pub fn of_request(
        life: &Life,
        turn: &LivedTurn,
        options: &DraftOptions,
        expect: Option<&str>,
        request: Option<u32>,
    ) -> Result<Self, LifeError> {
        let unfit = |reason: &str| LifeError::Unfit { turn: turn.turn.clone(), reason: reason.to_owned() };
        if turn.rounds == 0 {
            return Err(unfit("no model was asked in it"));
        }
        let all = registry::tools_of(turn, &options.registry);
        let (offered, missing) = registry::offered(turn, &all);
        if offered.is_empty() {
            return Err(unfit("it offered no tool that there still is"));
        }
        let expect =
            expect.map(|lines| parse_expect("--expect", lines, &offered)).transpose().map_err(LifeError::Cases)?;
        let moment = match request {
            Some(round) if round > turn.rounds => {
                let asked = if turn.rounds == 1 { "request" } else { "requests" };
                return Err(unfit(&format!("it has {} {asked}, and not request {round}", turn.rounds)));
            }
            Some(round) => Moment::at(turn, round),
            None => Moment::of(turn),
        };
        let parts = conversation::up_to(life, turn, &moment, &all, &offered, &options.zone)?;
        let deeds = from_deeds(life, turn, &moment, &offered);

        let mut disguise = Disguise::new(Placeholders::open(&options.placeholders)?, &offered);
        disguise.know(&options.memory);
        options.hide.iter().for_each(|words| disguise.hide(words));
        if let Some(user) = &options.user {
            disguise.know_user(user);
        }
        read_all(&mut disguise, turn, &parts, &deeds);
        if let Some(expect) = &expect {
            disguise.read_expect(expect);
        }
        disguise.settle()?;

        let request = disguise.text(&cut(&turn.request, 2_000));
        let messages = parts.into_iter().map(|(message, _)| rewritten(&mut disguise, message)).collect();
        let correction = turn.correction().map(|text| disguise.text(text));
        let words = from_words(turn, &moment, &offered, &request, correction.as_deref());
        let deeds = deeds.into_iter().map(|guess| rewritten_guess(&mut disguise, guess)).collect();
        let guesses = ranked(words, deeds);
        let mut candidates: Vec<Candidate> =
            guesses.iter().filter_map(|guess| Candidate::of(guess, &request, &offered)).collect();
        let mut seen: Vec<Expect> = Vec::new();
        candidates.retain(|candidate| {
            let is_new = !seen.contains(&candidate.expect);
            seen.push(candidate.expect.clone());
            is_new
        });
        let case = Case {
            id: id_of(&request, &turn.turn),
            family: LIFE_FAMILY.to_owned(),
            language: language(&turn.request),
            kind: CaseKind::Target,
            messages,
            tools: offered,
            provenance: String::new(),
            expect: expect.map(|expect| disguise.expect(&expect)).unwrap_or_default(),
            source: String::new(),
            scenario: None,
        };
        Ok(Self {
            case,
            candidates,
            turn: turn.turn.clone(),
            at: turn.at,
            model: turn.model.clone(),
            think: turn.think.clone(),
            structure: turn.structure,
            request,
            correction,
            notes: notes(turn, &moment, &missing),
            shown_model: disguise.text(&turn.model),
            moment,
            disguise,
        })
    }

    /// Takes an expectation that was typed: the lines of `[case.expect]`, with the real words in them.
    pub fn expect(&mut self, name: &str, lines: &str) -> Result<(), LifeError> {
        let expect = parse_expect(name, lines, &self.case.tools).map_err(LifeError::Cases)?;
        self.disguise.read_expect(&expect);
        self.disguise.settle()?;
        self.case.expect = self.disguise.expect(&expect);
        Ok(())
    }

    /// Takes one of the candidates.
    pub fn choose(&mut self, candidate: &Candidate) {
        self.case.expect = candidate.expect.clone();
    }

    /// Where the case comes from, for its `provenance`. `found` says in which run it was seen to fail.
    pub fn say_provenance(&mut self, found: Option<&str>) {
        let day = self.at.strftime("%Y-%m-%d");
        let found = found.map(|found| format!("; {found}")).unwrap_or_default();
        self.case.provenance = format!("turn {} of {day}, answered by {}{found}", self.turn, self.shown_model);
    }

    /// Refuses a case in which a personal word still stands.
    pub fn check_leaks(&self) -> Result<(), LifeError> {
        let mut texts: Vec<String> = vec![self.case.provenance.clone(), self.case.id.clone()];
        for message in self.case.messages.iter().filter(|message| message.role != Role::System) {
            texts.push(message.content.clone());
            texts.extend(
                message.tool_calls.iter().map(|call| serde_json::to_string(&call.arguments).unwrap_or_default()),
            );
        }
        texts.push(crate::cases::expect_lines(&self.case.expect));
        match texts.iter().find_map(|text| self.disguise.leak(text)) {
            Some(kind) => Err(LifeError::Leak { kind }),
            None => Ok(()),
        }
    }

    /// The SPEC of the model that answered, rewritten.
    pub fn shown_model(&self) -> &str {
        &self.shown_model
    }

    /// What was replaced by what, for the person alone.
    pub fn mapping(&self) -> Vec<Replaced> {
        self.disguise.mapping()
    }

    /// The rules of the secrets that were masked.
    pub fn masked(&self) -> Vec<&str> {
        self.disguise.masked()
    }
}

/// Every text that gets into the case, or is shown beside it.
fn read_all(disguise: &mut Disguise, turn: &LivedTurn, parts: &[conversation::Part], guesses: &[Guess]) {
    disguise.read(&turn.request, Whose::Persons);
    disguise.read(&turn.model, Whose::Outside);
    if let Some(text) = turn.correction() {
        disguise.read(text, Whose::Persons);
    }
    for (message, whose) in parts.iter().filter(|(message, _)| message.role != Role::System) {
        disguise.read(&message.content, *whose);
        for call in &message.tool_calls {
            disguise.read_value(&serde_json::Value::Object(call.arguments.clone()), Whose::Persons);
        }
    }
    for call in guesses.iter().flat_map(|guess| &guess.calls) {
        disguise.read_value(&serde_json::Value::Object(call.arguments.clone()), Whose::Persons);
    }
}

/// The operator's own text has nothing personal in it; everything else is rewritten.
fn rewritten(disguise: &mut Disguise, message: Message) -> Message {
    if message.role == Role::System {
        return message;
    }
    let calls = message.tool_calls.iter().map(|call| rewritten_call(disguise, call)).collect();
    Message { content: disguise.text(&message.content), tool_calls: calls, ..message }
}

fn rewritten_call(disguise: &mut Disguise, call: &ToolCall) -> ToolCall {
    ToolCall { arguments: writable(disguise.map(&call.arguments)), ..call.clone() }
}

fn rewritten_guess(disguise: &mut Disguise, guess: Guess) -> Guess {
    let calls = guess.calls.iter().map(|call| rewritten_call(disguise, call)).collect();
    Guess { calls, ..guess }
}

fn language(text: &str) -> Language {
    Spoken::of(text).pick(Language::English, Language::French)
}

/// What the person should know.
fn notes(turn: &LivedTurn, moment: &Moment, missing: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    let why = moment.signal.map_or("nothing in the trace says that it went wrong", |signal| signal.words());
    notes.push(match moment.round {
        1 => format!("the question is the message itself ({why})"),
        round => format!(
            "the question is request {round} of the turn, with {} calls and their results before it ({why})",
            moment.calls_before
        ),
    });
    if !missing.is_empty() {
        notes.push(format!("{} tools of the turn are no more and are left out", missing.len()));
    }
    if turn.is_interrupted() {
        notes.push("the turn was interrupted: what it had not done yet says nothing".to_owned());
    }
    if turn.is_undone {
        notes.push("the person took this exchange back".to_owned());
    }
    if turn.is_compressed {
        notes.push("the loop summarised this conversation; the case has its messages instead".to_owned());
    }
    if turn.tainted_from().is_some_and(|number| number as usize <= moment.calls_before) {
        notes.push("the case holds a text from outside: it is data, whatever it says".to_owned());
    }
    notes
}

/// An id from the words of a request: `[a-z0-9-]+`.
pub(super) fn id_of(request: &str, turn: &str) -> String {
    let plain = |word: &&str| word.is_ascii() && word.chars().count() > 1;
    let folded = fold(request);
    let words: Vec<&str> = folded.split(|c: char| !c.is_ascii_alphanumeric()).filter(plain).collect();
    let mut id = String::new();
    for word in words.into_iter().take(ID_WORDS) {
        if id.len() + word.len() + 1 > ID_CHARACTERS {
            break;
        }
        if !id.is_empty() {
            id.push('-');
        }
        id.push_str(word);
    }
    if id.is_empty() {
        let letters: String = turn.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        format!("turn-{}", letters.to_lowercase()).trim_end_matches('-').clone_into(&mut id);
    }
    id
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_are_made_of_the_request() {
        assert_eq!(id_of("Écris à Zoé: l'été, c'est quand ?", "t"), "ecris-zoe-ete-est-quand");
        assert_eq!(id_of("日本語", "3F2A-91bc"), "turn-3f2a91bc");
        assert_eq!(id_of("a", "---"), "turn");
    }

    proptest! {
        #[test]
        fn any_request_gives_an_id(request in any::<String>()) {
            let id = id_of(&request, "0a1b2c3d-0000");
            prop_assert!(!id.is_empty() && id.len() <= ID_CHARACTERS + 5, "{}", id);
            prop_assert!(id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
        }
    }
}
