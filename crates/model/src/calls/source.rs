//! The text under the parser, its tools, and the budget that keeps the work linear.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use tenpass_trace::ToolDefinition;

/// Bytes of reading allowed per byte of input, over all attempts.
const WORK_FACTOR: usize = 64;
/// Allowed on top, so that short answers are never cut off.
const WORK_BASE: usize = 64 * 1024;

/// Counts the bytes that readers look at. When it is used up, what is left stays text: a hostile
/// answer can hide a call from the parser, never keep it busy.
#[derive(Debug)]
pub(super) struct Work {
    spent: Cell<usize>,
    limit: usize,
}

impl Work {
    /// A budget for an answer of `length` bytes.
    pub(super) fn new(length: usize) -> Self {
        Self { spent: Cell::new(0), limit: length.saturating_mul(WORK_FACTOR).saturating_add(WORK_BASE) }
    }

    /// A small budget for a first look, apart from the main one.
    pub(super) fn for_a_look(length: usize) -> Self {
        Self { spent: Cell::new(0), limit: length.saturating_mul(8).saturating_add(WORK_BASE) }
    }

    /// Spends `bytes`; false when nothing is left.
    pub(super) fn spend(&self, bytes: usize) -> bool {
        self.spent.set(self.spent.get().saturating_add(bytes));
        self.spent.get() <= self.limit
    }

    /// True when the budget is used up.
    pub(super) fn is_exhausted(&self) -> bool {
        self.spent.get() > self.limit
    }

    /// What was spent so far.
    #[cfg(test)]
    pub(super) fn spent(&self) -> usize {
        self.spent.get()
    }
}

/// This turn's tools by name.
#[derive(Debug)]
pub(super) struct Tools<'a> {
    by_name: HashMap<&'a str, &'a ToolDefinition>,
}

impl<'a> Tools<'a> {
    pub(super) fn new(tools: &'a [ToolDefinition]) -> Self {
        Self { by_name: tools.iter().map(|tool| (tool.name.as_str(), tool)).collect() }
    }

    /// The tool with exactly this name.
    pub(super) fn get(&self, name: &str) -> Option<&'a ToolDefinition> {
        self.by_name.get(name).copied()
    }

    /// The tool that a qualified name means: `functions.lamp`, `functions.lamp:0`, `lamp`.
    ///
    /// An exact name always wins, so a tool may itself be called `functions.lamp`.
    pub(super) fn get_qualified(&self, name: &str) -> Option<&'a ToolDefinition> {
        let name = name.trim();
        let plain = name.rsplit_once(':').filter(|(_, index)| is_digits(index)).map_or(name, |(plain, _)| plain);
        let bare = ["functions.", "default_api.", "tools."].iter().find_map(|space| plain.strip_prefix(space));
        [Some(name), Some(plain), bare].into_iter().flatten().find_map(|name| self.get(name))
    }

    /// The names, in no order.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.by_name.keys().copied()
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// One text with everything the recognisers need.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) tools: &'a Tools<'a>,
    pub(super) work: &'a Work,
    /// needle → (searched from, found at): later searches for the same needle are answered from it.
    found: RefCell<HashMap<&'static str, (usize, Option<usize>)>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str, tools: &'a Tools<'a>, work: &'a Work) -> Self {
        Self { text, tools, work, found: RefCell::default() }
    }

    /// The rest of the text from `at`.
    pub(super) fn rest(&self, at: usize) -> &'a str {
        self.text.get(at..).unwrap_or("")
    }

    /// True when the text goes on with `prefix` at `at`.
    pub(super) fn starts(&self, at: usize, prefix: &str) -> bool {
        self.text.as_bytes().get(at..).is_some_and(|rest| rest.starts_with(prefix.as_bytes()))
    }

    /// The byte at `at`.
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// Where `needle` stands at or after `from`. Amortised linear over a text, since a miss or a
    /// hit further on is remembered: a thousand openers do not search a thousand times.
    pub(super) fn find(&self, needle: &'static str, from: usize) -> Option<usize> {
        let known = self.found.borrow().get(needle).copied();
        let at = match known {
            Some((searched, at)) if from >= searched && at.is_none_or(|at| at >= from) => return at,
            // Before what was searched: only the gap is new.
            Some((searched, at)) if from < searched => {
                let end = self.text.ceil_char_boundary((searched + needle.len()).min(self.text.len()));
                let in_gap = self.find_between(needle, from, end);
                if in_gap.is_some_and(|gap| at != Some(gap)) {
                    return in_gap;
                }
                at
            }
            _ => self.find_between(needle, from, self.text.len()),
        };
        self.found.borrow_mut().insert(needle, (from, at));
        at
    }

    fn find_between(&self, needle: &str, from: usize, end: usize) -> Option<usize> {
        let at = self.text.get(from..end).and_then(|part| part.find(needle)).map(|offset| from + offset);
        // A substring search is far cheaper a byte than a reader.
        self.work.spend(at.unwrap_or(end).saturating_sub(from) / 16);
        at
    }

    /// The end of white space from `at`.
    pub(super) fn skip_blank(&self, at: usize) -> usize {
        let rest = self.rest(at);
        at + (rest.len() - rest.trim_start().len())
    }
}

/// The end of an identifier-like tool name (letters, digits, `_`, `-`, `.`, `:`-less) from `at`.
pub(super) fn name_end(text: &str, at: usize) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let bytes = text.as_bytes().get(at..).unwrap_or(&[]);
    at + bytes.iter().take(256).take_while(|byte| is_part(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualified_names_are_exact_apart_from_the_namespace() {
        let list = [ToolDefinition::new("lamp", ""), ToolDefinition::new("lamp_all", "")];
        let tools = Tools::new(&list);
        for (written, meant) in
            [("lamp", Some("lamp")), ("functions.lamp:0", Some("lamp")), ("functions.lamp_all:12", Some("lamp_all"))]
        {
            assert_eq!(tools.get_qualified(written).map(|tool| tool.name.as_str()), meant);
        }
        for stranger in ["lam", "lamps", "functions.lam", "lamp:x", "my.lamp", "Lamp"] {
            assert!(tools.get_qualified(stranger).is_none(), "{stranger}");
        }
    }

    #[test]
    fn a_remembered_search_gives_the_same_answer() {
        let tools = Tools::new(&[]);
        let work = Work::new(100);
        let source = Source::new("ab--ab--ab", &tools, &work);
        for from in [0, 0, 1, 4, 5, 8, 9, 2] {
            assert_eq!(source.find("ab", from), source.text[from..].find("ab").map(|at| at + from), "from {from}");
        }
        assert_eq!(source.find("zz", 3), None);
        assert_eq!(source.find("zz", 5), None);
    }
}
