//! What a scenario asks against what can happen: an expectation that nothing could meet is a mistake
//! in the scenario, not a failure of the model.

use tenpass_trace::ToolDefinition;

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

/// Every mistake of a scenario, each with what to do about it.
pub(super) fn check(scenario: &Scenario, tools: &[ToolDefinition]) -> Vec<(String, &'static str)> {
    let mut faults = Vec::new();
    form(scenario, &mut faults);
    world(scenario, &mut faults);
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
    let paths = world.files.keys().chain(world.read_only.values().flat_map(|files| files.keys()));
    for path in
        paths.filter(|path| path.is_empty() || path.starts_with('/') || path.split('/').any(|part| part == ".."))
    {
        faults
            .push((format!("the world's file {path:?} is not below its folder"), "write a relative path without `..`"));
    }
    for address in
        world.pages.keys().filter(|address| !address.starts_with("http://") && !address.starts_with("https://"))
    {
        faults.push((format!("the page {address:?} has no http address"), "write https://…"));
    }
}

fn names(scenario: &Scenario, tools: &[ToolDefinition], faults: &mut Faults) {
    let live = |name: &str| tools.iter().any(|tool| tool.name == name);
    let offered =
        |name: &str| live(name) && (scenario.tools.is_empty() || scenario.tools.iter().any(|tool| tool == name));
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
    for call in &expect.calls {
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
    let count = scenario.turns.len() as u32;
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
        if reaction.confirm.is_none() && reaction.action != super::Action::Stop {
            faults
                .push(("only a confirmation can be approved, refused or left alone".to_owned(), "write do = \"stop\""));
        }
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
