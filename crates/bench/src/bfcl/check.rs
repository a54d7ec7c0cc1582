//! Does this project's grader agree with the shipped answers? Every accepted answer is replayed and must
//! pass; a set of wrong answers is made from it and none may pass.

use std::fmt;
use std::path::Path;

use serde_json::{Map, Value, json};
use tenpass_model::calls::{Parsed, ParsedCall};

use super::answer::is_required;
use super::category::Category;
use super::convert::{accepted_of, case_id};
use super::error::ImportError;
use super::read::{self, GroundTruth};
use super::{Imported, import};
use crate::cases::{Case, SuiteText, parse_suite};
use crate::grade::grade;

/// The result over all categories that were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelfCheck {
    /// One entry a category.
    pub categories: Vec<CategoryCheck>,
}

/// The result of one category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryCheck {
    /// The category.
    pub category: Category,
    /// Its cases.
    pub cases: usize,
    /// Accepted answers that were replayed.
    pub right: usize,
    /// Those that passed.
    pub right_passed: usize,
    /// Wrong answers that were replayed.
    pub wrong: usize,
    /// Those that passed.
    pub wrong_passed: usize,
    /// Every answer on which the grader disagrees, with its reasons.
    pub disagreements: Vec<String>,
}

impl CategoryCheck {
    /// True when every right answer passed, no wrong one did, and the case file says what was imported.
    pub fn agrees(&self) -> bool {
        self.right > 0 && self.wrong > 0 && self.disagreements.is_empty()
    }
}

impl SelfCheck {
    /// True when the grader agrees on every category.
    pub fn agrees(&self) -> bool {
        !self.categories.is_empty() && self.categories.iter().all(CategoryCheck::agrees)
    }
}

impl fmt::Display for SelfCheck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{:<22} {:>6} {:>15} {:>15}", "category", "cases", "right passed", "wrong passed")?;
        for check in &self.categories {
            let right = format!("{}/{}", check.right_passed, check.right);
            let wrong = format!("{}/{}", check.wrong_passed, check.wrong);
            writeln!(formatter, "{:<22} {:>6} {right:>15} {wrong:>15}", check.category, check.cases)?;
        }
        Ok(())
    }
}

/// Imports the categories, writes and reads their case files, and replays right and wrong answers.
pub fn self_check(dir: &Path, categories: &[Category]) -> Result<SelfCheck, ImportError> {
    let data = read::data_folder(dir)?;
    let mut checks = Vec::new();
    for imported in import(dir, categories)? {
        let text = SuiteText {
            files: vec![(format!("{}.toml", imported.category.family()), imported.to_toml())],
            ..SuiteText::default()
        };
        let suite = parse_suite(&text).map_err(ImportError::Refused)?;
        let mut check = CategoryCheck {
            category: imported.category,
            cases: suite.cases.len(),
            right: 0,
            right_passed: 0,
            wrong: 0,
            wrong_passed: 0,
            disagreements: round_trip(&imported, &suite.cases),
        };
        if imported.category.is_irrelevance() {
            suite.cases.iter().for_each(|case| check.irrelevance(case));
        } else {
            let mut answers = read::answers(&data, imported.category)?;
            for question in read::questions(&data, imported.category)? {
                let id = case_id(&question.id);
                let case = suite.cases.iter().find(|case| case.id == id);
                if let (Some(case), Some(truth)) = (case, answers.remove(&question.id)) {
                    check.calls(case, &truth);
                }
            }
        }
        checks.push(check);
    }
    Ok(SelfCheck { categories: checks })
}

/// What is read back from the case file must be what was imported.
fn round_trip(imported: &Imported, cases: &[Case]) -> Vec<String> {
    let bare = |case: &Case| Case { source: String::new(), ..case.clone() };
    let pairs = imported.cases.iter().zip(cases);
    pairs
        .filter(|(before, after)| bare(before) != bare(after))
        .map(|(before, _)| format!("{}: the case file does not say the same", before.id))
        .collect()
}

type Calls = Vec<(String, Map<String, Value>)>;

impl CategoryCheck {
    fn irrelevance(&mut self, case: &Case) {
        self.replay(case, &Vec::new(), true, "no call");
        for tool in &case.tools {
            self.replay(case, &vec![(tool.name.clone(), Map::new())], false, "a call");
        }
        self.replay(case, &vec![("no_such_tool".to_owned(), Map::new())], false, "an unknown tool");
    }

    fn calls(&mut self, case: &Case, truth: &GroundTruth) {
        let right = right_answers(case, truth);
        for calls in &right {
            self.replay(case, calls, true, "an accepted answer");
        }
        if let Some(first) = right.first() {
            for (what, calls) in wrong_answers(case, first) {
                self.replay(case, &calls, false, what);
            }
        }
    }

    fn replay(&mut self, case: &Case, calls: &Calls, is_right: bool, what: &str) {
        let call = |(name, arguments): &(String, Map<String, Value>)| ParsedCall {
            name: name.clone(),
            arguments: arguments.clone(),
            recovered: false,
            shape: "structured".to_owned(),
            notes: Vec::new(),
        };
        let parsed = Parsed { calls: calls.iter().map(call).collect(), class: None, text: String::new() };
        let grade = grade(case, &case.tools, &parsed);
        let (all, passed) = if is_right {
            (&mut self.right, &mut self.right_passed)
        } else {
            (&mut self.wrong, &mut self.wrong_passed)
        };
        *all += 1;
        *passed += usize::from(grade.pass);
        if grade.pass != is_right {
            self.disagreements.push(format!("{}: {what} {calls:?}: {}", case.id, grade.reasons.join("; ")));
        }
    }
}

/// An argument and the values to replay for it.
type Options = (String, Vec<Option<Value>>);

/// The accepted answers: the first value of every argument, each further value, the shortest, and the
/// calls in the other order.
fn right_answers(case: &Case, truth: &GroundTruth) -> Vec<Calls> {
    let options: Vec<(String, Vec<Options>)> = truth
        .iter()
        .flatten()
        .filter_map(|(name, arguments)| {
            let tool = case.tools.iter().find(|tool| tool.name == *name)?;
            let arguments = arguments.as_object()?.iter();
            let values = arguments.map(|(name, accepted)| (name.clone(), accepted_of(tool, name, accepted).replays()));
            Some((name.clone(), values.collect()))
        })
        .collect();
    let most = options.iter().flat_map(|(_, arguments)| arguments).map(|(_, values)| values.len()).max().unwrap_or(1);
    let take = |pick: &dyn Fn(&[Option<Value>]) -> Option<Value>| -> Calls {
        let arguments = |arguments: &[Options]| {
            arguments.iter().filter_map(|(name, values)| Some((name.clone(), pick(values)?))).collect()
        };
        options.iter().map(|(name, values)| (name.clone(), arguments(values))).collect()
    };
    let mut answers: Vec<Calls> =
        (0..most.max(1)).map(|round| take(&|values| values.get(round).or(values.first()).cloned().flatten())).collect();
    answers.push(take(&|values| if values.contains(&None) { None } else { values.first().cloned().flatten() }));
    if options.len() > 1 {
        answers.push(answers[0].iter().rev().cloned().collect());
    }
    answers
}

/// Answers that are wrong in one way each.
fn wrong_answers(case: &Case, right: &Calls) -> Vec<(&'static str, Calls)> {
    let mut wrong: Vec<(&'static str, Calls)> = vec![("no call", Vec::new())];
    let mut with = |what: &'static str, change: &dyn Fn(&mut Calls)| {
        let mut calls = right.clone();
        change(&mut calls);
        wrong.push((what, calls));
    };
    for index in 0..right.len() {
        let (name, arguments) = &right[index];
        let schema = case.tools.iter().find(|tool| tool.name == *name).map(|tool| &tool.parameters);
        with("an unknown tool", &|calls| "no_such_tool".clone_into(&mut calls[index].0));
        for tool in case.tools.iter().filter(|tool| tool.name != *name) {
            with("another tool", &|calls| calls[index].0.clone_from(&tool.name));
        }
        with("a call left out", &|calls| drop(calls.remove(index)));
        with("a call twice", &|calls| calls.push(calls[index].clone()));
        with("an argument that does not exist", &|calls| {
            calls[index].1.insert("no_such_argument".to_owned(), json!(1));
        });
        for (argument, value) in arguments {
            with("a wrong value", &|calls| {
                calls[index].1.insert(argument.clone(), altered(value));
            });
            with("an extra call", &|calls| {
                let mut extra = calls[index].clone();
                extra.1.insert(argument.clone(), altered(value));
                calls.push(extra);
            });
            if is_required(schema, argument) {
                with("a required argument left out", &|calls| drop(calls[index].1.remove(argument)));
            }
        }
    }
    wrong
}

/// A value of the same type that no answer accepts.
fn altered(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(format!("{text} qx")),
        Value::Number(number) => number
            .as_i64()
            .map_or_else(|| json!(number.as_f64().unwrap_or(0.0) + 7919.5), |integer| json!(integer + 7919)),
        // The other truth value may be accepted as well; a number never is.
        Value::Bool(_) | Value::Null => json!(7919),
        Value::Array(items) => items.iter().cloned().chain([items.last().map_or(json!("qx"), altered)]).collect(),
        Value::Object(members) => {
            let altered = members.iter().map(|(name, value)| (name.clone(), altered(value)));
            Value::Object(altered.chain([("qx".to_owned(), json!("qx"))]).collect())
        }
    }
}
