//! What a scenario asks against what can happen: an expectation that nothing could meet is a mistake
//! in the scenario, not a failure of the model.

use tenpass_trace::ToolDefinition;

use super::desktop::DESKTOP;
use super::end::canaries;
use super::{CallCheck, Scenario};

/// The rows of the threat model that a conversation can attack, as `holds` names them.
pub const SECURITY_ROWS: &[&str] = &[
    "S:path-traversal",
    "S:own-configuration",
    "S:injection",
    "S:memory-poisoning",
    "S:forged-confirmation",
    "S:fabricated-markers",
    "S:ssrf",
    "S:exfiltration",
    "S:secrets",
    "S:journal",
    "S:command",
    "S:spending",
    "S:denial",
];

/// The sections of the memory.
const SECTIONS: &[&str] = &["decisions", "patterns", "open_threads", "anomalies"];
/// The providers there are.
const PROVIDERS: &[&str] = &["claude", "chatgpt", "deepseek", "local"];

/// Whether a scenario has the tool with this name: the live ones unless it names some, the desktop's
/// only when it names them.
pub(super) fn offers(scenario: &Scenario, tool: &str) -> bool {
    if scenario.tools.is_empty() { !DESKTOP.contains(&tool) } else { scenario.tools.iter().any(|name| name == tool) }
}

/// Every mistake of a scenario, each with what to do about it.
pub(super) fn check(scenario: &Scenario, tools: &[ToolDefinition]) -> Vec<(String, &'static str)> {
    let mut faults = Vec::new();
    form(scenario, &mut faults);
    world(scenario, &mut faults);
    places(scenario, &mut faults);
    kept_back(scenario, &mut faults);
    names(scenario, tools, &mut faults);
    turns(scenario, &mut faults);
    faults
}

type Faults = Vec<(String, &'static str)>;

fn form(scenario: &Scenario, faults: &mut Faults) {
    let plain =
        |id: &str| !id.is_empty() && id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !plain(&scenario.id) {
        faults.push((
            format!("id {:?} is not of the form [a-z0-9-]+", scenario.id),
            "write lower-case words and hyphens",
        ));
    }
    if scenario.holds.is_empty() {
        faults.push(("`holds` is empty".to_owned(), "name the rows it tests, such as \"K42\" or \"S:injection\""));
    }
    for row in scenario.holds.iter().filter(|row| !is_row(row)) {
        faults.push((
            format!("`holds` names {row:?}, which is no row"),
            "write K12, R5, Z4 or S:name of the threat model",
        ));
    }
    if scenario.provenance.trim().is_empty() {
        faults.push(("`provenance` is empty".to_owned(), "say where the failure was seen"));
    }
    if !scenario.expect.is_effective(scenario.kind) {
        faults.push(("the scenario has no effective check".to_owned(), "say in [scenario.expect] how it must end"));
    }
    let expect = &scenario.expect;
    for both in expect.asked.iter().filter(|tool| expect.not_asked.contains(tool)) {
        faults.push((format!("`{both}` is in both `asked` and `not_asked`"), "keep one of the two"));
    }
    if expect.memory_unchanged == Some(true) && !expect.memory.is_empty() {
        faults.push(("`memory` is expected and `memory_unchanged` is true".to_owned(), "keep one of the two"));
    }
    for words in expect.says.iter().chain(&expect.says_not).filter(|words| words.any_of.is_empty()) {
        faults.push((format!("`any_of` is empty{}", place(words.turn)), "list the patterns"));
    }
}

/// `K42`, `R5`, `Z4`, or a row of the threat model.
fn is_row(row: &str) -> bool {
    let numbered = row.strip_prefix(['K', 'R', 'Z']).is_some_and(|number| {
        !number.is_empty() && number.len() <= 2 && number.bytes().all(|digit| digit.is_ascii_digit())
    });
    numbered || SECURITY_ROWS.contains(&row)
}

fn world(scenario: &Scenario, faults: &mut Faults) {
    let world = &scenario.world;
    let sections = world.memory.iter().map(|memory| &memory.section);
    let sections = sections.chain(scenario.expect.memory.iter().filter_map(|memory| memory.section.as_ref()));
    for section in sections.filter(|section| !SECTIONS.contains(&section.as_str())) {
        faults.push((
            format!("unknown memory section {section:?}"),
            "use decisions, patterns, open_threads or anomalies",
        ));
    }
    let providers = world.providers.keys().chain(world.provider_answers.iter().map(|answer| &answer.provider));
    for provider in providers.filter(|provider| !PROVIDERS.contains(&provider.as_str())) {
        faults.push((format!("unknown provider {provider:?}"), "use claude, chatgpt, deepseek or local"));
    }
    for address in
        world.pages.keys().filter(|address| !address.starts_with("http://") && !address.starts_with("https://"))
    {
        faults.push((format!("the page {address:?} has no http address"), "write https://…"));
    }
}

/// Names of files and folders.
fn places(scenario: &Scenario, faults: &mut Faults) {
    let world = &scenario.world;
    let paths = world.files.keys().chain(world.outside.keys()).chain(world.links.keys());
    let paths = paths.chain(world.read_only.values().flat_map(|files| files.keys()));
    let is_below = |path: &str| !path.is_empty() && !path.starts_with('/') && path.split('/').all(|part| part != "..");
    for path in paths.filter(|path| !is_below(path)) {
        faults
            .push((format!("the world's file {path:?} is not below its folder"), "write a relative path without `..`"));
    }
    for name in world.cleanup.values().flatten().map(|file| &file.name).filter(|name| name.contains('/')) {
        faults.push((
            format!("the file {name:?} of a cleanup folder is in a folder of its own"),
            "a cleanup looks at direct children only",
        ));
    }
    let plain = |name: &str| !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || "-_ ".contains(it));
    for name in world.read_only.keys().chain(world.cleanup.keys()).filter(|name| !plain(name)) {
        faults.push((format!("the folder {name:?} needs letters, digits, `-` or `_`"), "choose another name"));
    }
    for name in world.read_only.keys().filter(|name| world.cleanup.contains_key(*name)) {
        faults
            .push((format!("{name:?} is both in `read_only` and in `cleanup`"), "a cleanup folder can be read anyway"));
    }
    for name in &scenario.expect.trash {
        let known = name.split_once('/').is_some_and(|(folder, file)| {
            world.cleanup.get(folder).is_some_and(|files| files.iter().any(|known| known.name == file))
        });
        if !known {
            faults.push((format!("no cleanup folder has {name:?}"), "write Folder/name, as in `cleanup`"));
        }
    }
}

/// What must not come out can only be watched for when nobody says it anyway.
fn kept_back(scenario: &Scenario, faults: &mut Faults) {
    let world = &scenario.world;
    let is_said = |text: &str| scenario.turns.iter().any(|turn| turn.user.contains(text));
    for (path, text) in &world.outside {
        if canaries(text).next().is_none() {
            faults.push((
                format!("outside/{path} has no line of 8 characters that could be known again"),
                "write a longer text",
            ));
        }
        if canaries(text).any(is_said) {
            faults.push((format!("a turn says what outside/{path} holds"), "keep it out of the turns"));
        }
    }
    let texts = || {
        let files = world.files.values().chain(world.read_only.values().flat_map(|files| files.values()));
        let pages = world.pages.values().map(|page| &page.text);
        let answers = world.provider_answers.iter().map(|answer| &answer.result);
        files.chain(pages).chain(answers)
    };
    for secret in &world.secrets {
        if secret.chars().count() < 8 || !texts().any(|text| text.contains(secret.as_str())) {
            faults.push((
                format!("the secret {secret:?} is shorter than 8 characters or in no file, page or answer"),
                "name a text of the world",
            ));
        }
        if is_said(secret) {
            faults.push((format!("a turn says the secret {secret:?}"), "keep it out of the turns"));
        }
    }
}

fn names(scenario: &Scenario, tools: &[ToolDefinition], faults: &mut Faults) {
    let live = |name: &str| tools.iter().any(|tool| tool.name == name);
    let offered = |name: &str| live(name) && offers(scenario, name);
    for tool in scenario.tools.iter().filter(|tool| !live(tool)) {
        faults.push((format!("there is no tool `{tool}`"), "`tools` names live tools"));
    }
    let expect = &scenario.expect;
    let named = expect.asked.iter().chain(&expect.not_asked);
    let named = named.chain(expect.calls.iter().map(|call| &call.tool));
    let named = named.chain(scenario.faults.iter().map(|fault| &fault.tool));
    let reactions = scenario.turns.iter().flat_map(|turn| &turn.reactions);
    let reacted =
        reactions.flat_map(|reaction| reaction.confirm.iter().chain(&reaction.call)).filter(|name| *name != "*");
    for tool in named.chain(reacted).filter(|tool| !offered(tool)) {
        faults.push((
            format!("the tool `{tool}` is not one the scenario offers"),
            "correct the name, or add it to `tools`",
        ));
    }
    let forbidden = expect.forbid.iter().chain(expect.forbid_calls.iter().map(|call| &call.tool));
    for tool in forbidden.filter(|tool| !live(tool)) {
        faults.push((format!("`{tool}` is forbidden and does not exist"), "correct the name"));
    }
    for call in expect.calls.iter().chain(&expect.forbid_calls) {
        arguments(call, tools, faults);
    }
}

fn arguments(call: &CallCheck, tools: &[ToolDefinition], faults: &mut Faults) {
    let Some(tool) = tools.iter().find(|tool| tool.name == call.tool) else { return };
    let Some(known) = tool.parameters["properties"].as_object() else { return };
    for name in call.arguments.keys().filter(|name| !known.contains_key(*name)) {
        faults.push((format!("`{}` has no argument `{name}`", call.tool), "correct the name"));
    }
    if call.at_most.is_some_and(|most| most < call.at_least.unwrap_or(1)) {
        faults.push((
            format!("`{}` must be called more often than it may be", call.tool),
            "correct `at_least`, `at_most`",
        ));
    }
}

fn turns(scenario: &Scenario, faults: &mut Faults) {
    let count = scenario.most_turns();
    if count == 0 {
        faults.push(("the scenario has no turn".to_owned(), "write what the person says in [[scenario.turn]]"));
    }
    if scenario.turns.iter().any(|turn| turn.user.trim().is_empty()) {
        faults.push(("a turn's `user` is empty".to_owned(), "write what the person says"));
    }
    for reaction in scenario.turns.iter().flat_map(|turn| &turn.reactions) {
        let triggers = [reaction.confirm.is_some(), reaction.call.is_some(), reaction.text.is_some()];
        if triggers.iter().filter(|trigger| **trigger).count() != 1 {
            faults.push((
                "a reaction has not exactly one of `confirm`, `call`, `text`".to_owned(),
                "say what it reacts to",
            ));
        }
        let stops = matches!(reaction.action, super::Action::Stop | super::Action::Correct);
        if reaction.say.is_some() != (reaction.action == super::Action::Correct) {
            faults.push(("`say` and do = \"correct\" go together".to_owned(), "say what the person corrects it to"));
        }
        if reaction.confirm.is_none() && !stops {
            faults
                .push(("only a confirmation can be approved, refused or left alone".to_owned(), "write do = \"stop\""));
        }
    }
    let nth = scenario.faults.iter().map(|fault| fault.nth);
    let nth = nth.chain(scenario.turns.iter().flat_map(|turn| &turn.reactions).map(|reaction| reaction.nth));
    if nth.flatten().any(|nth| nth == 0) {
        faults.push(("`nth` is 0".to_owned(), "it counts from 1"));
    }
    let expect = &scenario.expect;
    let numbers = expect.says.iter().chain(&expect.says_not).filter_map(|words| words.turn);
    let numbers = numbers.chain(expect.calls.iter().chain(&expect.forbid_calls).filter_map(|call| call.turn));
    for number in numbers.filter(|number| *number == 0 || *number > count) {
        faults.push((format!("there is no turn {number}: the scenario has {count}"), "turns count from 1"));
    }
}

fn place(turn: Option<u32>) -> String {
    turn.map_or_else(String::new, |turn| format!(" (turn {turn})"))
}
