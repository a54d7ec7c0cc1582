//! Where an address came from. An address that only a page, a file, a memory entry or a provider
//! named may be somebody's way to carry data out, or to feed the next order in, so a fetch of it is
//! asked. What the person typed, and what a search found, is not.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use tenpass_trace::{Message, Role, Tier, ToolCall};

use crate::tool::Inspection;

/// Most addresses kept of a turn; what comes later is asked.
const MOST_ADDRESSES: usize = 10_000;
/// The tools that fetch by themselves, and the argument with the address.
const FETCHES: &[(&str, &str)] = &[("read_url", "url")];
/// The tool whose results are addresses to be read.
const SEARCH: &str = "web_search";
const REASON: &str = "the address stands neither in your messages nor among results of a search";

/// What the application put into a user message: memory, earlier answers, context.
static BLOCK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?s)\[\[tenpass:.*?\[\[/tenpass:[a-z-]*\]\]").ok());

/// The addresses of a turn, by who named them.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The person wrote it, or a search found it.
    known: HashSet<String>,
    /// Hosts that stand in data: memory, provider answers, earlier answers.
    in_data: HashSet<String>,
}

impl Sources {
    /// Takes in the messages of a turn's first request: what the person typed in them is known, the
    /// application's blocks and what was answered are data.
    pub fn observe_messages(&mut self, messages: &[Message]) {
        for message in messages {
            match message.role {
                Role::User => {
                    let Some(block) = &*BLOCK else { continue };
                    self.observe(&block.replace_all(&message.content, " "));
                    for data in block.find_iter(&message.content) {
                        self.observe_data(data.as_str());
                    }
                }
                Role::Assistant | Role::Tool => self.observe_data(&message.content),
                Role::System => {}
            }
        }
    }

    /// Takes in a text that the person wrote.
    pub fn observe(&mut self, text: &str) {
        for address in addresses(text) {
            if self.known.len() >= MOST_ADDRESSES {
                return;
            }
            self.known.insert(normal(address));
        }
    }

    /// Takes in a tool's result. Of a search the lines that are an address and nothing else are known;
    /// everything else is data.
    pub fn observe_result(&mut self, tool: &str, text: &str) {
        if tool == SEARCH {
            for line in text.lines().map(str::trim).filter(|line| line.starts_with("http")) {
                if !line.contains(char::is_whitespace) && self.known.len() < MOST_ADDRESSES {
                    self.known.insert(normal(line));
                }
            }
        }
        self.observe_data(text);
    }

    fn observe_data(&mut self, text: &str) {
        for address in addresses(text) {
            if self.in_data.len() >= MOST_ADDRESSES {
                return;
            }
            self.in_data.insert(host(&normal(address)).to_owned());
        }
    }

    /// Raises a fetch to `confirm`: in a tainted turn of every address that is not known, else of one
    /// whose host stands in data. Call it after the tool's own inspection, before
    /// [`super::Policy::tier`]. A stronger escalation is kept.
    pub fn inspect(&self, call: &ToolCall, tainted: bool, inspection: &mut Inspection) {
        let Some((_, argument)) = FETCHES.iter().find(|(tool, _)| *tool == call.name) else { return };
        let address = normal(call.arguments.get(*argument).and_then(Value::as_str).unwrap_or_default());
        let is_doubtful = !self.known.contains(&address) && (tainted || self.in_data.contains(host(&address)));
        if is_doubtful && inspection.escalate.as_ref().is_none_or(|(tier, _)| *tier < Tier::Confirm) {
            inspection.escalate = Some((Tier::Confirm, REASON.to_owned()));
        }
    }
}

/// The host of a normalised address.
fn host(address: &str) -> &str {
    address.split(['/', '?']).next().unwrap_or_default()
}

/// What looks like an address in a text: a scheme, or a name with a dot in it, up to a character
/// that ends one. A file's name taken for an address does no harm.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| character.is_whitespace() || "<>\"'`|()[]{}«»".contains(character)).filter(|word| {
        let host = word.split(['/', '?', '#']).next().unwrap_or_default();
        let is_bare = host.split('.').filter(|label| !label.is_empty()).count() > 1;
        let scheme = word.split_once("://").map_or("", |(scheme, _)| scheme);
        is_bare || scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
    })
}

/// Without scheme, `www.`, fragment, closing punctuation and closing slash; the host in lower case.
/// The query stays: that is where data would be.
fn normal(address: &str) -> String {
    let address = address.trim().trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_']);
    let address = address.split('#').next().unwrap_or_default();
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let host = host.to_lowercase();
    format!("{}{}", host.strip_prefix("www.").unwrap_or(&host), path.trim_end_matches('/'))
}
