//! The calls of an answer against the calls of a case.

use std::collections::BTreeMap;

use serde_json::Value;
use tenpass_agent::arguments::{Fault, Validator};
use tenpass_model::calls::ParsedCall;
use tenpass_trace::{FailureClass, ToolDefinition};

use super::compare::{self, Mismatch, MismatchKind};
use super::{Finding, assign};
use crate::cases::{Case, ExpectedCall};

/// Cost of a pair with faults, before its faults are counted: a perfect pair is worth more than any
/// number of poor ones.
const POOR: u32 = 1000;

/// One answer's calls, looked at for one case.
pub(super) struct Judge<'c> {
    case: &'c Case,
    offered: &'c [ToolDefinition],
    calls: &'c [ParsedCall],
    /// What the tool's own schema says about each call.
    faults: Vec<Vec<Fault>>,
}

impl<'c> Judge<'c> {
    pub(super) fn new(case: &'c Case, offered: &'c [ToolDefinition], calls: &'c [ParsedCall]) -> Self {
        let mut judge = Self { case, offered, calls, faults: Vec::new() };
        let mut validators = BTreeMap::new();
        judge.faults = calls
            .iter()
            .map(|call| {
                let Some(tool) = judge.tool(&call.name) else { return Vec::new() };
                match validators.entry(tool.name.as_str()).or_insert_with(|| Validator::new(tool)) {
                    Ok(validator) => distinct(validator.validate(&call.arguments)),
                    Err(error) => vec![Fault::InvalidSchema { reason: error.reason.clone() }],
                }
            })
            .collect();
        judge
    }

    /// The definition of a tool: as offered, else as the case knows it.
    fn tool(&self, name: &str) -> Option<&'c ToolDefinition> {
        self.offered.iter().chain(&self.case.tools).find(|tool| tool.name == name)
    }

    fn is_offered(&self, name: &str) -> bool {
        self.offered.iter().any(|tool| tool.name == name)
    }

    fn is_forbidden(&self, name: &str) -> bool {
        self.case.expect.no_call || self.case.expect.forbid.iter().any(|other| other == name)
    }

    /// Findings when every call is wrong.
    pub(super) fn no_call(&self) -> Vec<Finding> {
        self.calls.iter().flat_map(|call| self.standing(call)).collect()
    }

    /// What is wrong with a call whatever else was called: forbidden, or not a tool of this turn.
    fn standing(&self, call: &ParsedCall) -> Vec<Finding> {
        let mut findings = Vec::new();
        let name = &call.name;
        if self.is_forbidden(name) {
            let why = if self.case.expect.no_call { "no call is right here" } else { "it is forbidden here" };
            findings.push(Finding::new(FailureClass::CalledWhenForbidden, format!("called `{name}`, but {why}")));
        }
        if !self.is_offered(name) {
            let reason = format!("called `{name}`, which is not a tool of this turn");
            findings.push(Finding::new(FailureClass::UnknownTool, reason));
        }
        findings
    }

    /// Findings against the alternative that fits best; empty when one is met.
    pub(super) fn best_alternative(&self) -> Vec<Finding> {
        let alternatives = &self.case.expect.alternatives;
        if alternatives.is_empty() {
            // Only forbidden tools count: what else is called is free.
            return self.calls.iter().flat_map(|call| self.standing(call)).collect();
        }
        let judged = alternatives.iter().map(|expected| self.alternative(expected));
        judged
            .min_by_key(|(findings, cost)| (!findings.is_empty(), *cost))
            .map(|(findings, _)| findings)
            .unwrap_or_default()
    }

    /// Findings against one alternative, and how far from it the answer is.
    fn alternative(&self, expected: &[ExpectedCall]) -> (Vec<Finding>, u32) {
        let pairs: Vec<Vec<Option<Vec<Finding>>>> = expected
            .iter()
            .map(|expected| (0..self.calls.len()).map(|index| self.pair(expected, index)).collect())
            .collect();
        let costs: Vec<Vec<Option<u32>>> = pairs
            .iter()
            .map(|row| row.iter().map(|pair| pair.as_ref().map(|findings| cost(findings))).collect())
            .collect();
        let free = assign::unordered(&costs);
        let assigned = if self.case.expect.ordered { assign::ordered(&costs) } else { free.clone() };

        let mut findings = Vec::new();
        for (row, index) in assigned.iter().enumerate() {
            if let Some(index) = index {
                findings.extend(pairs[row][*index].clone().unwrap_or_default());
                findings.extend(self.standing(&self.calls[*index]));
            }
        }
        let far = |assigned: &[Option<usize>]| assigned.iter().flatten().count();
        if far(&assigned) < far(&free) {
            let order: Vec<&str> = expected.iter().map(|call| call.tool.as_str()).collect();
            let reason = format!("the calls came in another order than {}", order.join(", "));
            findings.push(Finding::new(FailureClass::WrongTool, reason));
            findings.extend(self.unassigned(expected, &free));
        } else {
            findings.extend(self.unassigned(expected, &assigned));
        }
        let pairs_cost: u32 = assigned.iter().enumerate().filter_map(|(row, index)| costs[row][(*index)?]).sum();
        let alone = (expected.len() - far(&assigned)) as u32;
        let distance = alone.saturating_mul(1_000_000).saturating_add(pairs_cost.saturating_add(findings.len() as u32));
        (findings, distance)
    }

    /// Findings on expected calls that nobody made and on calls that nobody expected.
    fn unassigned(&self, expected: &[ExpectedCall], assigned: &[Option<usize>]) -> Vec<Finding> {
        let mut missing: Vec<&ExpectedCall> =
            expected.iter().zip(assigned).filter(|(_, index)| index.is_none()).map(|(expected, _)| expected).collect();
        let mut findings = Vec::new();
        let mut free_reads = Vec::new();
        for (index, call) in self.calls.iter().enumerate() {
            if assigned.contains(&Some(index)) {
                continue;
            }
            let name = &call.name;
            let standing = self.standing(call);
            if !standing.is_empty() {
                findings.extend(standing);
                // It was made in the place of the missing one.
                missing.pop();
            } else if self.tool(name).is_some_and(|tool| tool.reads) {
                free_reads.push(name.as_str());
            } else if self.is_duplicate(index, assigned) {
                findings.push(Finding::new(FailureClass::DuplicateCall, format!("the same call of `{name}` twice")));
            } else if let Some(position) = missing.iter().position(|missing| missing.tool != *name) {
                let wanted = missing.remove(position);
                findings.push(Finding::new(
                    FailureClass::WrongTool,
                    format!("called `{name}` instead of `{}`", wanted.tool),
                ));
            } else {
                let arguments = Value::Object(call.arguments.clone());
                findings.push(Finding::new(
                    FailureClass::ExtraCall,
                    format!("called `{name}` with {arguments}, which was not asked for"),
                ));
            }
        }
        findings.extend(missing.into_iter().map(|call| self.missing(call, &free_reads, assigned)));
        findings
    }

    fn missing(&self, call: &ExpectedCall, reads: &[&str], assigned: &[Option<usize>]) -> Finding {
        let name = &call.tool;
        let made = assigned.iter().flatten().count();
        if !self.is_offered(name) {
            return Finding::new(
                FailureClass::NoCall,
                format!("`{name}` was not called: the tool selection did not offer it"),
            );
        }
        match reads {
            [read, ..] if made == 0 => {
                Finding::new(FailureClass::WrongTool, format!("called `{read}`, which only reads, and not `{name}`"))
            }
            _ if made == 0 => Finding::new(FailureClass::NoCall, format!("`{name}` was not called")),
            _ => {
                let wanted = assigned.len();
                Finding::new(
                    FailureClass::NoCall,
                    format!("`{name}` was not called ({made} of {wanted} expected calls were made)"),
                )
            }
        }
    }

    /// The same call was assigned, or made earlier.
    fn is_duplicate(&self, index: usize, assigned: &[Option<usize>]) -> bool {
        let call = &self.calls[index];
        self.calls.iter().enumerate().any(|(other, earlier)| {
            other != index
                && (other < index || assigned.contains(&Some(other)))
                && earlier.name == call.name
                && compare::equal(&Value::Object(earlier.arguments.clone()), &Value::Object(call.arguments.clone()))
        })
    }

    /// Findings on the arguments of an actual call taken for an expected one; `None` for another tool.
    fn pair(&self, expected: &ExpectedCall, index: usize) -> Option<Vec<Finding>> {
        let call = &self.calls[index];
        if call.name != expected.tool {
            return None;
        }
        let nothing = Value::Null;
        let schema = self.tool(&call.name).map_or(&nothing, |tool| &tool.parameters);
        let mismatches = compare::arguments(&expected.arguments, expected.only, &call.arguments, schema);
        let accepted_off_schema = |fault: &Fault| {
            expected.arguments.iter().any(|(name, argument)| {
                argument.off_schema
                    && is_under(fault.path(), name)
                    && !mismatches.iter().any(|other| is_under(&other.path, name))
            })
        };
        let faults: Vec<&Fault> = self.faults[index].iter().filter(|fault| !accepted_off_schema(fault)).collect();
        let mut findings: Vec<Finding> =
            faults.iter().map(|fault| Finding::new(fault.class(), format!("`{}`: {fault}", call.name))).collect();
        // What the schema says about a place is more specific than that the value differs.
        let said = |mismatch: &&Mismatch| {
            faults.iter().any(|fault| is_under(fault.path(), &mismatch.path) || is_under(&mismatch.path, fault.path()))
        };
        findings.extend(mismatches.iter().filter(|mismatch| !said(mismatch)).map(|mismatch| {
            let class = match mismatch.kind {
                MismatchKind::Value => FailureClass::WrongValue,
                MismatchKind::Unexpected => FailureClass::UnexpectedParam,
            };
            Finding::new(class, format!("`{}`: {}", call.name, mismatch.reason))
        }));
        Some(findings)
    }
}

/// A value of the wrong type is not also a value outside its enum.
fn distinct(faults: Vec<Fault>) -> Vec<Fault> {
    let mistyped: Vec<String> = faults
        .iter()
        .filter(|fault| matches!(fault, Fault::TypeMismatch { .. }))
        .map(|fault| fault.path().to_owned())
        .collect();
    let echo = |fault: &Fault| matches!(fault, Fault::WrongValue { path, .. } if mistyped.contains(path));
    faults.into_iter().filter(|fault| !echo(fault)).collect()
}

/// What a pair with these findings costs.
fn cost(findings: &[Finding]) -> u32 {
    let faults = findings.len() as u32;
    if faults == 0 { 0 } else { POOR + faults.min(POOR) }
}

/// True when `path` is `name` or lies inside it.
fn is_under(path: &str, name: &str) -> bool {
    !name.is_empty() && path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
