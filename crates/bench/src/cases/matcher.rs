//! Matchers: what an argument must be. Stored in the notation of the case files, a bare value or a
//! table with one purpose: `{ regex = "…" }`, `{ number = 3, within = 0.5 }`.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

/// The kinds of matcher as they are written, in the order of the documentation.
pub const KINDS: &[&str] = &[
    "exact", "number", "set", "regex", "date", "contains", "loose", "any_of", "any", "absent", "null", "object",
    "items",
];

/// A compiled pattern that is stored as its text.
#[derive(Debug, Clone)]
pub struct Pattern(regex::Regex);

impl Pattern {
    /// Compiles `text` (Rust regex syntax, searched anywhere unless anchored).
    pub fn new(text: &str) -> Result<Self, regex::Error> {
        regex::Regex::new(text).map(Self)
    }

    /// The pattern's text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// True when the pattern is found in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// True when the pattern refuses no text that is not empty: it checks nothing.
    pub fn matches_everything(&self) -> bool {
        // No sensible pattern accepts all of these by accident.
        ["\u{1}", "zq", "?!", "-7", "日本", "\n", "a b\nc"].iter().filter(|probe| self.0.is_match(probe)).count() >= 6
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

/// What a value must be.
#[derive(Debug, Clone, PartialEq)]
pub enum Matcher {
    /// This value: JSON number equality (5 = 5.0), strings after trimming outer white space.
    Exact(Value),
    /// A number, give or take.
    Number {
        /// The number.
        value: Number,
        /// Largest allowed difference; 0 asks for the number itself.
        within: f64,
    },
    /// A list with these elements in any order.
    Set(Vec<Argument>),
    /// A string in which this pattern is found.
    Regex(Pattern),
    /// A string that writes this date (ISO 8601) in any common way, with or without a time.
    Date(String),
    /// A string that contains this one, upper or lower case.
    Contains(String),
    /// A string equal to this one apart from case, spaces and punctuation (`,./-_*^`).
    Loose(String),
    /// One of these.
    AnyOf(Vec<Argument>),
    /// Any value, but a value.
    Any,
    /// No value.
    Absent,
    /// An object with these members.
    Object {
        /// Members that are checked.
        members: Vec<(String, Argument)>,
        /// Other members are wrong.
        only: bool,
    },
    /// A list of exactly these elements in this order.
    Items(Vec<Argument>),
}

/// A matcher with its modifiers, as written for one argument.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Notation")]
pub struct Argument {
    /// What the value must be.
    pub matcher: Matcher,
    /// Whether absence is right too. Not stated: right exactly when the schema's default would match.
    pub absent_ok: Option<bool>,
    /// The value is right even where the tool's own schema refuses it (imported suites whose answers
    /// contradict their schemas).
    pub off_schema: bool,
}

impl Argument {
    /// A matcher without modifiers.
    pub fn new(matcher: Matcher) -> Self {
        Self { matcher, absent_ok: None, off_schema: false }
    }

    /// Exactly this value.
    pub fn exact(value: Value) -> Self {
        Self::new(Matcher::Exact(value))
    }

    /// The notation of the case files, as a JSON value.
    pub fn to_notation(&self) -> Value {
        match Notation::from(self.clone()) {
            Notation::Bare(value) => value,
            // Plain data with string keys: this always serialises.
            Notation::Table(table) => serde_json::to_value(table).unwrap_or_default(),
        }
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.matcher {
            Matcher::Exact(value) => write!(formatter, "{value}"),
            Matcher::Number { value, within } if *within == 0.0 => write!(formatter, "{value}"),
            Matcher::Number { value, within } => write!(formatter, "{value} ± {within}"),
            Matcher::Set(elements) => write!(formatter, "the elements {} in any order", List(elements)),
            Matcher::Regex(pattern) => write!(formatter, "a match of /{}/", pattern.as_str()),
            Matcher::Date(date) => write!(formatter, "the date {date}"),
            Matcher::Contains(text) => write!(formatter, "a text with {text:?}"),
            Matcher::Loose(text) => write!(formatter, "{text:?} (case, spaces and punctuation aside)"),
            Matcher::AnyOf(options) => write!(formatter, "one of {}", List(options)),
            Matcher::Any => formatter.write_str("any value"),
            Matcher::Absent => formatter.write_str("no value"),
            Matcher::Object { members, .. } => {
                formatter.write_str("{")?;
                for (index, (name, member)) in members.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(formatter, "{comma}{name}: {member}")?;
                }
                formatter.write_str("}")
            }
            Matcher::Items(elements) => write!(formatter, "{}", List(elements)),
        }
    }
}

struct List<'a>(&'a [Argument]);

impl fmt::Display for List<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[")?;
        for (index, element) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(formatter, "{comma}{element}")?;
        }
        formatter.write_str("]")
    }
}

/// What is written: anything but a table is the exact value itself.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum Notation {
    Table(Box<Table>),
    Bare(Value),
}

/// The table notation: one kind, and modifiers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Table {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exact: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) number: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) within: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) set: Option<Vec<Argument>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) regex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) contains: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) loose: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) any_of: Option<Vec<Argument>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) any: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) absent: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) null: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none", with = "optional_named")]
    pub(super) object: Option<Vec<(String, Argument)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) items: Option<Vec<Argument>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) absent_ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) off_schema: Option<bool>,
}

/// Why a notation is not a matcher.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MatcherError {
    /// Only modifiers, or nothing.
    #[error("the matcher has no kind")]
    NoKind,
    /// Two purposes at once.
    #[error("the matcher has two kinds, `{0}` and `{1}`")]
    TwoKinds(&'static str, &'static str),
    /// The pattern does not compile.
    #[error("invalid regex `{pattern}`: {reason}")]
    Regex {
        /// The pattern.
        pattern: String,
        /// The compiler's reason, on one line.
        reason: String,
    },
    /// The pattern accepts any text.
    #[error("the regex `{0}` matches everything, so it checks nothing")]
    MatchesEverything(String),
    /// Nothing would be checked.
    #[error("`{0}` is empty, so it checks nothing")]
    Empty(&'static str),
    /// Not an ISO date.
    #[error("`{0}` is not a date of the form 2026-12-01")]
    Date(String),
    /// A modifier that does not belong there.
    #[error("`{0}` belongs beside `{1}` only")]
    Misplaced(&'static str, &'static str),
    /// A flag kind that is switched off.
    #[error("`{0}` can only be true")]
    NotTrue(&'static str),
    /// A tolerance must be a finite number that is not negative.
    #[error("`within` is {0}; it must be 0 or more")]
    Within(f64),
}

impl MatcherError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoKind => format!(
                "a table is a matcher and needs one of: {}; an object value is written {{ exact = {{ … }} }}",
                KINDS.join(", ")
            ),
            Self::TwoKinds(..) => "one matcher has one purpose; write one of them per argument".to_owned(),
            Self::Regex { .. } => {
                "the syntax is that of the Rust regex crate: no look-around, no back references".to_owned()
            }
            Self::MatchesEverything(_) => {
                "write { any = true } when any value will do, or leave the argument out".to_owned()
            }
            Self::Empty(_) => "say what must be there, or leave the argument out".to_owned(),
            Self::Date(_) => "write year-month-day with four, two and two digits".to_owned(),
            Self::Misplaced(modifier, kind) => format!("remove `{modifier}`, or use `{kind}`"),
            Self::NotTrue(kind) => format!("write {kind} = true, or leave it out"),
            Self::Within(_) => "write the largest difference that is still right".to_owned(),
        }
    }
}

impl Table {
    /// The one kind of the table.
    fn matcher(&mut self) -> Result<Matcher, MatcherError> {
        let mut found: Option<(&'static str, Matcher)> = None;
        let mut put = |kind: &'static str, matcher: Matcher| {
            if let Some((first, _)) = &found {
                return Err(MatcherError::TwoKinds(first, kind));
            }
            found = Some((kind, matcher));
            Ok(())
        };
        if let Some(value) = self.exact.take() {
            put("exact", Matcher::Exact(value))?;
        }
        if let Some(value) = self.number.take() {
            put("number", Matcher::Number { value, within: self.within.unwrap_or(0.0) })?;
        }
        if let Some(elements) = self.set.take() {
            put("set", Matcher::Set(elements))?;
        }
        if let Some(text) = self.regex.take() {
            put("regex", Matcher::Regex(pattern(&text)?))?;
        }
        if let Some(text) = self.date.take() {
            let valid = crate::grade::date::parse_iso(&text).is_some();
            put("date", if valid { Matcher::Date(text) } else { return Err(MatcherError::Date(text)) })?;
        }
        if let Some(text) = self.contains.take() {
            put("contains", Matcher::Contains(not_empty("contains", text, String::is_empty)?))?;
        }
        if let Some(text) = self.loose.take() {
            let empty = |text: &String| crate::grade::text::loose(text).is_empty();
            put("loose", Matcher::Loose(not_empty("loose", text, empty)?))?;
        }
        if let Some(options) = self.any_of.take() {
            put("any_of", Matcher::AnyOf(not_empty("any_of", options, Vec::is_empty)?))?;
        }
        for (kind, flag, matcher) in [
            ("any", self.any, Matcher::Any),
            ("absent", self.absent, Matcher::Absent),
            ("null", self.null, Matcher::Exact(Value::Null)),
        ] {
            match flag {
                Some(true) => put(kind, matcher)?,
                Some(false) => return Err(MatcherError::NotTrue(kind)),
                None => {}
            }
        }
        if let Some(members) = self.object.take() {
            let only = self.only.unwrap_or(false);
            let members = if only { members } else { not_empty("object", members, Vec::is_empty)? };
            put("object", Matcher::Object { members, only })?;
        }
        if let Some(elements) = self.items.take() {
            put("items", Matcher::Items(elements))?;
        }
        found.map(|(_, matcher)| matcher).ok_or(MatcherError::NoKind)
    }
}

fn pattern(text: &str) -> Result<Pattern, MatcherError> {
    let pattern = Pattern::new(text).map_err(|error| MatcherError::Regex {
        pattern: text.to_owned(),
        reason: error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned(),
    })?;
    if pattern.matches_everything() { Err(MatcherError::MatchesEverything(text.to_owned())) } else { Ok(pattern) }
}

fn not_empty<T>(kind: &'static str, value: T, is_empty: impl Fn(&T) -> bool) -> Result<T, MatcherError> {
    if is_empty(&value) { Err(MatcherError::Empty(kind)) } else { Ok(value) }
}

impl TryFrom<Table> for Argument {
    type Error = MatcherError;

    fn try_from(mut table: Table) -> Result<Self, MatcherError> {
        let matcher = table.matcher()?;
        if let Some(within) = table.within {
            if !matches!(matcher, Matcher::Number { .. }) {
                return Err(MatcherError::Misplaced("within", "number"));
            }
            if !within.is_finite() || within < 0.0 {
                return Err(MatcherError::Within(within));
            }
        }
        if table.only.is_some() && !matches!(matcher, Matcher::Object { .. }) {
            return Err(MatcherError::Misplaced("only", "object"));
        }
        Ok(Self { matcher, absent_ok: table.absent_ok, off_schema: table.off_schema.unwrap_or(false) })
    }
}

impl TryFrom<Value> for Argument {
    type Error = NotationError;

    fn try_from(value: Value) -> Result<Self, NotationError> {
        match value {
            Value::Object(_) => Ok(Self::try_from(serde_json::from_value::<Table>(value)?)?),
            value => Ok(Self::exact(value)),
        }
    }
}

/// Why a stored matcher cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum NotationError {
    /// An unknown key or a value of the wrong type.
    #[error(transparent)]
    Notation(#[from] serde_json::Error),
    /// Not a matcher.
    #[error(transparent)]
    Matcher(#[from] MatcherError),
}

impl From<Argument> for Notation {
    fn from(argument: Argument) -> Self {
        let Argument { matcher, absent_ok, off_schema } = argument;
        let off_schema = off_schema.then_some(true);
        let mut table = Table { absent_ok, off_schema, ..Table::default() };
        match matcher {
            Matcher::Exact(Value::Null) => table.null = Some(true),
            Matcher::Exact(value) => {
                if absent_ok.is_none() && off_schema.is_none() && !value.is_object() {
                    return Self::Bare(value);
                }
                table.exact = Some(value);
            }
            Matcher::Number { value, within } => {
                table.number = Some(value);
                table.within = (within != 0.0).then_some(within);
            }
            Matcher::Set(elements) => table.set = Some(elements),
            Matcher::Regex(pattern) => table.regex = Some(pattern.as_str().to_owned()),
            Matcher::Date(date) => table.date = Some(date),
            Matcher::Contains(text) => table.contains = Some(text),
            Matcher::Loose(text) => table.loose = Some(text),
            Matcher::AnyOf(options) => table.any_of = Some(options),
            Matcher::Any => table.any = Some(true),
            Matcher::Absent => table.absent = Some(true),
            Matcher::Object { members, only } => {
                table.object = Some(members);
                table.only = only.then_some(true);
            }
            Matcher::Items(elements) => table.items = Some(elements),
        }
        Self::Table(Box::new(table))
    }
}

/// Serde of an ordered list of named matchers as an object.
pub(super) mod named {
    use super::{Argument, Map, Value};
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    pub(in crate::cases) fn serialize<S: Serializer>(
        members: &[(String, Argument)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(members.iter().map(|(name, argument)| (name, argument)))
    }

    pub(in crate::cases) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, Argument)>, D::Error> {
        let members = Map::<String, Value>::deserialize(deserializer)?;
        members
            .into_iter()
            .map(|(name, value)| Ok((name, serde_json::from_value(value).map_err(D::Error::custom)?)))
            .collect()
    }
}

mod optional_named {
    use super::{Argument, named};
    use serde::{Deserializer, Serializer};

    #[allow(clippy::ref_option)] // the signature serde asks for
    pub(super) fn serialize<S: Serializer>(
        members: &Option<Vec<(String, Argument)>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        named::serialize(members.as_deref().unwrap_or_default(), serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<(String, Argument)>>, D::Error> {
        named::deserialize(deserializer).map(Some)
    }
}
