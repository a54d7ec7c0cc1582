//! Sides made up for the tests: no model took part.

use std::collections::BTreeMap;

use tenpass_trace::FailureClass;

use super::{ComparisonRequest, Difference, Role, RunComparison, SideFacts, SideGathering, compare_runs};
use crate::summarise::PassView;

/// Case, family, role, and how many of the passes succeed before and after.
pub(super) type Cell = (String, &'static str, Role, u32, u32);

pub(super) fn cells(count: usize, before: u32, after: u32) -> Vec<Cell> {
    let family = |i: usize| ["delegation", "no_call", "arguments", "choice"][i % 4];
    (0..count).map(|i| (format!("case-{i:02}"), family(i), Role::Target, before, after)).collect()
}

pub(super) fn with_role(cells: &mut [Cell], places: std::ops::Range<usize>, role: Role) {
    for cell in &mut cells[places] {
        cell.2 = role;
    }
}

pub(super) fn facts(run: &str) -> SideFacts {
    SideFacts {
        run: run.to_owned(),
        configuration: "smollm2 native".to_owned(),
        model: "embedded:smollm2-135m".to_owned(),
        started: "2026-11-30T22:00:12.345Z".to_owned(),
        temperature: Some(0.7),
        seed: 7,
        passes_per_case: 10,
        planned_passes: 0,
    }
}

/// One pass; different passes give different outputs.
pub(super) fn pass(number: u32, success: bool) -> PassView<'static> {
    const CLASSES: [FailureClass; 3] = [FailureClass::NoCall, FailureClass::WrongTool, FailureClass::WrongValue];
    PassView {
        pass: number,
        success: Some(success),
        class: (!success).then_some(CLASSES[number as usize % 3]),
        first_token_ms: Some(40.0 + f64::from(number)),
        first_call_ms: success.then_some(200.0 + f64::from(number)),
        total_ms: Some(400.0 + 3.0 * f64::from(number)),
        prompt_tokens: Some(650),
        completion_tokens: Some(20 + u64::from(number)),
        output_digest: u64::from(number) * 2 + u64::from(success),
        ..PassView::default()
    }
}

/// A side with `passes` passes a case, of which the first `succeed` are right.
pub(super) fn side(run: &str, cells: &[Cell], passes: u32, succeed: impl Fn(&Cell) -> u32) -> SideGathering {
    let mut side = SideGathering::new(facts(run));
    for cell in cells {
        side.begin(&cell.0, cell.1, "en");
        for number in 0..passes {
            side.add(&pass(number, number < succeed(cell)));
        }
    }
    side
}

pub(super) fn request(cells: &[Cell]) -> ComparisonRequest {
    let difference =
        Difference { name: "prompt".into(), before: "“You may …”".into(), after: "“You must …”".into() };
    ComparisonRequest {
        bench: "tools".to_owned(),
        roles: cells.iter().map(|cell| (cell.0.clone(), cell.2)).collect::<BTreeMap<_, _>>(),
        smallest_effect: 0.05,
        latencies_comparable: true,
        under_test: vec![difference],
        ..ComparisonRequest::default()
    }
}

/// The cells compared, with ten passes each unless the numbers say otherwise.
pub(super) fn compared(cells: &[Cell], passes: u32, request: ComparisonRequest) -> RunComparison {
    let before = side("20261130-220012-aaaa", cells, passes, |cell| cell.3);
    let after = side("20261201-220031-bbbb", cells, passes, |cell| cell.4);
    compare_runs(before, after, request).expect("cells have passes")
}

/// A fix as they come: some targets gain, one guard wavers, one case loses.
pub(super) fn fix() -> RunComparison {
    let mut cells = cells(24, 4, 8);
    with_role(&mut cells, 16..24, Role::Guard);
    for cell in &mut cells[16..24] {
        (cell.3, cell.4) = (10, 10);
    }
    (cells[17].3, cells[17].4) = (10, 9);
    (cells[3].3, cells[3].4) = (7, 5);
    compared(&cells, 10, request(&cells))
}
