//! What a tool does, as acts: from a table for the application's own, from its name and description
//! for everyone else's.

use serde_json::{Map, Value};
use tenpass_trace::ToolDefinition;

use super::act::Act::{self, *};
use super::act::Acts;
use super::concept::Concept;
use super::nouns::{class, classes_of};
use super::objects::Objects;
use super::senses::sense;
use super::verbs::concept_of;
use crate::words::fold;

/// The application's own tools.
const KNOWN: &[(&str, &[Act])] = &[
    ("web_search", &[SearchWeb]),
    ("read_url", &[ReadPage]),
    ("list_directory", &[ListFolder]),
    ("read_file", &[ReadFile]),
    ("system_info", &[SystemInfo]),
    ("plan_cleanup", &[PlanCleanup]),
    ("execute_cleanup", &[Delete]),
    ("delegate_to_provider", &[Delegate]),
    ("write_memory", &[Remember]),
    ("update_memory", &[Remember, Forget]),
    ("search_past_conversations", &[History]),
    ("recall_provider_answers", &[ProviderRecall]),
    ("write_file", &[Create]),
    ("update_file", &[Update]),
    ("append_file", &[Append]),
    ("create_document", &[Create]),
    ("create_chart", &[Chart]),
    ("analyse_data", &[ReadFile]),
    ("add_reminder", &[Remind]),
    ("list_reminders", &[RemindList]),
    ("done_reminder", &[RemindOff]),
    ("complete_reminder", &[RemindOff]),
    ("open_url", &[OpenPage]),
    ("open_path", &[OpenPath]),
    ("launch_app", &[LaunchApp]),
    ("open_site_search", &[OpenPage, SearchWeb]),
    ("play_top_result", &[Play, OpenPage]),
    ("control_media", &[Play, Pause, Next, Previous, Volume, Mute]),
    ("list_terminals", &[TerminalRead]),
    ("read_terminal", &[TerminalRead]),
    ("send_to_terminal", &[Terminal, Run, SendMessage]),
    ("send_key", &[Terminal]),
];

/// What an `action` argument narrows a tool of several acts to.
const ACTIONS: &[(&str, Act)] = &[
    ("play", Play),
    ("resume", Play),
    ("pause", Pause),
    ("stop", Pause),
    ("next", Next),
    ("skip", Next),
    ("previous", Previous),
    ("volume_up", Volume),
    ("volume_down", Volume),
    ("set_volume", Volume),
    ("mute", Mute),
    ("unmute", Mute),
    ("delete", Delete),
    ("remove", Delete),
    ("create", Create),
    ("write", Create),
    ("append", Append),
    ("update", Update),
    ("read", ReadFile),
    ("list", ListFolder),
    ("move", Move),
    ("rename", Move),
    ("copy", Copy),
    ("send", SendMessage),
    ("search", SearchWeb),
    ("print", Print),
];

/// Arguments that say which of its acts a tool is asked for.
const ACTION_KEYS: [&str; 6] = ["action", "operation", "command", "mode", "method", "op"];

/// The words of a tool's name: `mcp__files.deleteNote` is mcp, files, delete, note.
pub(super) fn name_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut small = false;
    for character in name.chars().take(200) {
        let breaks = character.is_uppercase() && small;
        if (!character.is_alphanumeric() || breaks) && !word.is_empty() {
            words.push(fold(&std::mem::take(&mut word)));
        }
        if character.is_alphanumeric() {
            word.push(character);
        }
        small = character.is_lowercase() || character.is_ascii_digit();
    }
    if !word.is_empty() {
        words.push(fold(&word));
    }
    words
}

/// What a tool can do.
pub(super) fn acts(name: &str, definition: Option<&ToolDefinition>) -> Acts {
    let own = name.rsplit([':', '/', '.']).next().unwrap_or(name).to_lowercase();
    let own = own.rsplit("__").next().unwrap_or(&own);
    if let Some((_, acts)) = KNOWN.iter().find(|(known, _)| *known == own) {
        return Acts::of(acts);
    }
    let described = definition.map(|definition| first_sentence(&definition.description)).unwrap_or_default();
    let named = from_words(&name_words(name), &described);
    if named.is_empty() { from_words(&described, &described) } else { named }
}

/// What one call of it did, as far as its arguments narrow that.
pub(super) fn call_acts(name: &str, arguments: &Map<String, Value>, definition: Option<&ToolDefinition>) -> Acts {
    let all = acts(name, definition);
    let narrowed = ACTION_KEYS.iter().find_map(|key| arguments.get(*key)?.as_str()).and_then(|action| {
        let action = fold(action).replace(['-', ' '], "_");
        ACTIONS.iter().find(|(known, _)| *known == action).map(|(_, act)| Acts::of(&[*act]))
    });
    match narrowed {
        Some(one) if all.meets(one) || all.is_empty() || all.meets(Acts::of(&[Other])) => one,
        _ => all,
    }
}

fn first_sentence(description: &str) -> Vec<String> {
    let sentence = description.split(['.', ';', '\n']).next().unwrap_or_default();
    fold(sentence)
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .take(30)
        .map(str::to_owned)
        .collect()
}

/// The verb among `words`, with the nouns of `words` and `described` as its object.
fn from_words(words: &[String], described: &[String]) -> Acts {
    let mut found = Acts::NONE;
    for (index, word) in words.iter().enumerate() {
        let Some(concept) = concept_of(word).filter(|_| !(index > 0 && is_noun(word))) else { continue };
        let rest = |skip: usize| words.iter().enumerate().filter(move |(at, _)| *at != skip).map(|(_, word)| word);
        let mut objects = named(rest(index));
        if objects.classes == 0 {
            objects = named(rest(index).chain(described.iter()));
        }
        let concept = if concept == Concept::Get { Concept::Check } else { concept };
        if let Some(sense) = sense(concept, word, &objects) {
            found = found.or(sense.primary);
        }
        if !found.is_empty() {
            break;
        }
    }
    found.without(Acts::of(&[Other]))
}

fn is_noun(word: &str) -> bool {
    classes_of(word) != 0
}

fn named<'a>(words: impl Iterator<Item = &'a String>) -> Objects {
    let mut objects = Objects { definite: true, ..Objects::default() };
    for word in words {
        objects.classes |= classes_of(word);
        objects.words.push(word.clone());
        objects.unknown |= word.len() > 2;
    }
    // A task or a request in a description is not what the tool acts on.
    objects.classes &= !(class::TASK | class::UTTERANCE | class::IDIOM | class::ALL | class::PERSON);
    objects
}

/// First words of names of tools that only look.
const LOOKING: [&str; 14] = [
    "get", "list", "read", "search", "find", "check", "fetch", "query", "lookup", "view", "show", "describe", "recall",
    "count",
];

/// True when a tool changes nothing: it says so, or everything it does only looks.
pub(super) fn only_reads(name: &str, definition: Option<&ToolDefinition>) -> bool {
    if definition.is_some_and(|definition| definition.reads) {
        return true;
    }
    let acts = acts(name, definition);
    if !acts.is_empty() {
        return acts.only_reads();
    }
    name_words(name).first().is_some_and(|first| LOOKING.contains(&first.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn does(name: &str, act: Act) -> bool {
        acts(name, None).meets(Acts::of(&[act]))
    }

    #[test]
    fn known_and_unknown_tools() {
        assert!(does("write_file", Create) && !does("write_file", Delete));
        assert!(does("send_email", SendMessage));
        assert!(does("deleteFile", Delete));
        assert!(does("mcp__fs__delete_file", Delete));
        assert!(does("play_music", Play));
        assert!(does("calendar_create_event", Calendar));
        assert!(does("print_document", Print));
        assert!(does("get_weather", SearchWeb));
        assert!(does("set_light", Home));
        assert!(does("book_flight", Book));
        assert!(only_reads("get_weather", None) && !only_reads("send_email", None));
    }

    #[test]
    fn an_action_narrows_a_tool() {
        let arguments = serde_json::json!({ "action": "next" });
        let acts = call_acts("control_media", arguments.as_object().unwrap(), None);
        assert!(acts.meets(Acts::of(&[Next])) && !acts.meets(Acts::of(&[Pause])));
    }

    #[test]
    fn a_description_speaks_for_a_name_that_does_not() {
        let definition = ToolDefinition::new("postman", "Sends an e-mail to one person.");
        assert!(acts("postman", Some(&definition)).meets(Acts::of(&[SendMessage])));
    }
}
