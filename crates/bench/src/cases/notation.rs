//! The expectations of a case, read from TOML, each with its position for the checks that follow.

use std::ops::Range;

use super::case::{Expect, ExpectedCall};
use super::matcher::{Argument, Matcher, Table};
use super::source::{Fields, Located, Source};

/// Where the parts of an expectation stand.
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// The table `expect`.
    pub(super) whole: Range<usize>,
    /// Parallel to `Expect::alternatives`.
    pub(super) alternatives: Vec<Vec<CallSpans>>,
    /// Parallel to `Expect::forbid`.
    pub(super) forbid: Vec<Range<usize>>,
}

/// Where the parts of one expected call stand.
#[derive(Debug)]
pub(super) struct CallSpans {
    /// The tool's name.
    pub(super) tool: Range<usize>,
    /// Parallel to `ExpectedCall::arguments`: the name of each.
    pub(super) arguments: Vec<Range<usize>>,
}

/// The table `expect`. Faults are reported to the source; what could be read is returned.
pub(super) fn expect<'i>(source: &Source<'i>, value: Located<'_, 'i>) -> Option<(Expect, Spans)> {
    let before = source.error_count();
    let mut fields = source.table(value, "expect")?;
    let calls = fields.get("calls");
    let any_of = fields.get("any_of");
    let no_call = fields.get("no_call");
    let ordered = fields.flag("ordered");
    let (forbid, forbid_spans) = fields.texts("forbid").unwrap_or_default().into_iter().unzip();
    let whole = fields.span();
    fields.finish("expect");

    if let Some(both) = any_of
        && calls.is_some()
    {
        source.error(&both.span(), "both `calls` and `any_of`", "write the alternatives in `any_of` only");
    }
    let forbids_all = no_call.and_then(|value| source.flag(value, "no_call")).unwrap_or(false);
    if let Some(no_call) = no_call
        && forbids_all
        && (calls.is_some() || any_of.is_some())
    {
        source.error(&no_call.span(), "a call is expected and `no_call` is true", "keep one of the two");
    }
    let (alternatives, spans) = alternatives(source, calls, any_of).into_iter().unzip();
    let expect = Expect { alternatives, no_call: forbids_all, ordered, forbid };
    let spans = Spans { whole, alternatives: spans, forbid: forbid_spans };
    // A list that is empty or cannot be read has been reported where it stands.
    if source.error_count() == before {
        check_effect(source, &expect, &spans.whole);
    }
    Some((expect, spans))
}

fn check_effect(source: &Source<'_>, expect: &Expect, span: &Range<usize>) {
    let most = expect.alternatives.iter().map(Vec::len).max().unwrap_or(0);
    if !expect.is_effective() {
        source.error(
            span,
            "the case has no effective check",
            "say what must happen (`calls`, `any_of`, `no_call = true`) or what must not (`forbid`)",
        );
    } else if expect.ordered && most < 2 {
        source.error(span, "`ordered` has no effect on fewer than two calls", "remove it");
    }
}

type Calls = (Vec<ExpectedCall>, Vec<CallSpans>);

fn alternatives<'i>(
    source: &Source<'i>,
    calls: Option<Located<'_, 'i>>,
    any_of: Option<Located<'_, 'i>>,
) -> Vec<Calls> {
    let mut alternatives: Vec<Calls> = Vec::new();
    if let Some(value) = calls {
        alternatives.extend(call_list(source, value, "calls"));
    }
    if let Some(value) = any_of
        && let Some(lists) = source.list(value, "any_of")
    {
        if lists.is_empty() {
            let hint = "list the alternatives, or write no_call = true";
            source.error(&value.span(), "`any_of` is empty, so it checks nothing", hint);
        }
        alternatives.extend(lists.into_iter().filter_map(|list| call_list(source, list, "an alternative of any_of")));
    }
    alternatives
}

fn call_list<'i>(source: &Source<'i>, value: Located<'_, 'i>, what: &str) -> Option<Calls> {
    let calls = source.list(value, what)?;
    if calls.is_empty() {
        source.error(
            &value.span(),
            format!("{what} is an empty list, so it checks nothing"),
            "list the calls that must happen, or write no_call = true",
        );
    }
    Some(calls.into_iter().filter_map(|call| expected_call(source, call)).unzip())
}

fn expected_call<'i>(source: &Source<'i>, value: Located<'_, 'i>) -> Option<(ExpectedCall, CallSpans)> {
    let mut fields = source.table(value, "an expected call")?;
    let tool = fields.need("tool", "name the tool that must be called");
    let members: Vec<_> = fields
        .get("arguments")
        .and_then(|value| source.table(value, "arguments"))
        .map(|arguments| named(source, &arguments, false))
        .unwrap_or_default();
    let only = fields.flag("only");
    fields.finish("an expected call");
    for (name, span, argument) in &members {
        if !only && argument.absent_ok == Some(true) && argument.matcher == Matcher::Any {
            let message = format!("argument `{name}` may be anything or absent, so nothing is checked");
            source.error(span, message, "leave it out");
        }
    }
    let tool = tool?;
    let spans = CallSpans { tool: tool.span(), arguments: members.iter().map(|(_, span, _)| span.clone()).collect() };
    let arguments = members.into_iter().map(|(name, _, argument)| (name, argument)).collect();
    Some((ExpectedCall { tool: source.text(tool, "tool")?, arguments, only }, spans))
}

/// The members of a table as named matchers.
fn named(source: &Source<'_>, fields: &Fields<'_, '_>, inner: bool) -> Vec<(String, Range<usize>, Argument)> {
    let entries = fields.entries().into_iter();
    entries.filter_map(|(name, span, value)| Some((name, span, argument(source, value, inner)?))).collect()
}

/// One matcher: a bare value is exact, a table has one purpose.
fn argument(source: &Source<'_>, value: Located<'_, '_>, inner: bool) -> Option<Argument> {
    let before = source.error_count();
    if !value.get_ref().is_table() {
        let exact = Argument::exact(source.json(value));
        return (source.error_count() == before).then_some(exact);
    }
    let span = value.span();
    let mut fields = source.table(value, "a matcher")?;
    let table = table(source, &mut fields);
    fields.finish("a matcher");
    if inner && table.off_schema.is_some() {
        source.error(&span, "`off_schema` stands inside another matcher", "write it beside the argument's own matcher");
    }
    match Argument::try_from(table) {
        Ok(argument) => Some(argument),
        // A key that could not be read has been reported; that the kind is missing follows from it.
        Err(_) if source.error_count() > before => None,
        Err(error) => {
            source.error(&span, error.to_string(), error.hint());
            None
        }
    }
}

fn table(source: &Source<'_>, fields: &mut Fields<'_, '_>) -> Table {
    let list = |fields: &mut Fields<'_, '_>, key: &'static str| {
        let items = source.list(fields.get(key)?, key)?;
        Some(items.into_iter().filter_map(|item| argument(source, item, true)).collect::<Vec<_>>())
    };
    let flag = |fields: &mut Fields<'_, '_>, key: &'static str| source.flag(fields.get(key)?, key);
    let members = |members: Fields<'_, '_>| {
        named(source, &members, true).into_iter().map(|(name, _, argument)| (name, argument)).collect()
    };
    Table {
        exact: fields.get("exact").map(|value| source.json(value)),
        number: fields.get("number").and_then(|value| source.number(value, "number")),
        within: fields.get("within").and_then(|value| source.number(value, "within")?.as_f64()),
        set: list(fields, "set"),
        regex: fields.text("regex"),
        // A date may be written with or without quotation marks.
        date: fields.get("date").and_then(|value| match value.get_ref().as_datetime() {
            Some(datetime) => Some(datetime.to_string()),
            None => source.text(value, "date"),
        }),
        contains: fields.text("contains"),
        loose: fields.text("loose"),
        any_of: list(fields, "any_of"),
        any: flag(fields, "any"),
        absent: flag(fields, "absent"),
        null: flag(fields, "null"),
        object: fields.get("object").and_then(|value| source.table(value, "object")).map(members),
        items: list(fields, "items"),
        only: flag(fields, "only"),
        absent_ok: flag(fields, "absent_ok"),
        off_schema: flag(fields, "off_schema"),
    }
}
