//! The layers of textual calls, in order: declared shape, whole content, embedded objects and
//! markers, line by line; then code fences. The first layer that finds a call, or something that
//! was meant as one, decides.

use std::ops::Range;

use super::fences::{Fence, introduces_example, is_asked};
use super::gemma;
use super::lines;
use super::objects::{Meaning, Setting};
use super::piece::{self, Piece};
use super::python;
use super::scan::{Found, Lead, Readers, Scan, scan};
use super::shape::Shape;
use super::source::Source;

/// What the layers made of one text.
#[derive(Debug, Default)]
pub(super) struct Layered {
    /// The stretches that count, in order.
    pub(super) found: Vec<Found>,
    /// True when they have the declared shape.
    pub(super) declared: bool,
    /// True when they stood in code fences.
    pub(super) fenced: bool,
    /// The name of the first stretch in the declared shape that names no tool of this turn.
    pub(super) unknown: Option<String>,
    /// What to take out of the text.
    pub(super) removed: Vec<Range<usize>>,
    /// What to leave as it is: code, and what is written like a call but is none.
    pub(super) kept: Vec<Range<usize>>,
}

/// Runs the layers over `source`.
pub(super) fn run(source: &Source<'_>, declared: Option<Shape>) -> Layered {
    let everything = scan(source, Readers { lines: true, fences: true });
    if let Some(shape) = declared {
        let mine = |found: &Found| found.piece.shape == shape && found.lead != Lead::BareLine;
        let mine_on_a_line = |found: &Found| found.piece.shape == shape;
        let lines_count = matches!(shape, Shape::Pythonic | Shape::Line | Shape::FunctionCall | Shape::Gemma4);
        let hits = pick(&everything.found, |found| if lines_count { mine_on_a_line(found) } else { mine(found) });
        if !hits.is_empty() {
            return Layered { declared: true, ..Layered::of(hits, &everything) };
        }
    }
    let unknown = declared.and_then(|shape| unknown_of(&everything.found, shape));
    if let Some(found) = whole(source) {
        return Layered { unknown, ..Layered::of(found, &everything) };
    }
    let surroundings = Surroundings::of(source.text, &everything);
    let hits = pick(&everything.found, |found| match found.lead {
        Lead::Marker => true,
        Lead::Object => {
            !introduces_example(&source.text[..found.range.start]) && !is_asked(&source.text[found.range.end..])
        }
        Lead::Line | Lead::BareLine => false,
    });
    if !hits.is_empty() {
        return Layered { unknown, ..Layered::of(hits, &everything) };
    }
    let hits = pick(&everything.found, |found| match found.lead {
        Lead::Line => true,
        Lead::BareLine => surroundings.are_live(source.text, &found.range),
        Lead::Marker | Lead::Object => false,
    });
    let (hits, observation) = before_observation(source, hits);
    if !hits.is_empty() {
        let mut layered = Layered { unknown, ..Layered::of(hits, &everything) };
        layered.removed.extend(observation.map(|start| start..source.text.len()));
        return layered;
    }
    let mut fenced = in_fences(source, declared, &everything);
    fenced.unknown = unknown;
    fenced
}

/// Without what follows an `Observation:` that the model made up itself.
fn before_observation(source: &Source<'_>, mut hits: Vec<Found>) -> (Vec<Found>, Option<usize>) {
    let first = hits.iter().find(|found| found.piece.shape == Shape::React).map(|found| found.range.end);
    let observation = first.and_then(|end| source.find("\nObservation:", end.saturating_sub(1)));
    if let Some(end) = observation {
        hits.retain(|found| found.range.start < end);
    }
    (hits, observation)
}

fn pick(found: &[Found], accept: impl Fn(&Found) -> bool) -> Vec<Found> {
    found.iter().filter(|found| found.counts() && accept(found)).cloned().collect()
}

fn unknown_of(found: &[Found], shape: Shape) -> Option<String> {
    found.iter().filter(|found| found.piece.shape == shape).find_map(|found| match &found.piece.meaning {
        Meaning::Unknown(name) => Some(name.clone()),
        _ => None,
    })
}

impl Layered {
    fn of(found: Vec<Found>, scan: &Scan) -> Self {
        let removed = found.iter().map(|found| found.range.clone()).collect();
        Self { found, removed, kept: kept(scan), ..Self::default() }
    }
}

/// Code, and whole data: no token in it is a marker.
fn kept(scan: &Scan) -> Vec<Range<usize>> {
    let strangers = scan.found.iter().filter(|found| !found.counts()).map(|found| found.range.clone());
    let fences = scan.fences.iter().map(|fence| fence.range.clone());
    let mut kept: Vec<_> = strangers.chain(fences).chain(scan.code.iter().cloned()).collect();
    kept.sort_by_key(|range| range.start);
    kept
}

/// Where the prose of a text begins and ends: what is no call, no fence, no blank, no bullet.
struct Surroundings {
    first: usize,
    last: usize,
}

impl Surroundings {
    fn of(text: &str, scan: &Scan) -> Self {
        let calls = scan.found.iter().filter(|found| found.counts()).map(|found| &found.range);
        let mut holes: Vec<_> = calls.chain(scan.fences.iter().map(|fence| &fence.range)).collect();
        holes.sort_by_key(|hole| hole.start);
        let mut around = Self { first: text.len(), last: 0 };
        let mut at = 0;
        let mut look = |from: usize, to: usize| {
            let is_prose = |c: char| !c.is_whitespace() && !matches!(c, '-' | '*' | '>' | ',' | ';' | '.');
            let Some(part) = text.get(from..to) else { return };
            if let Some(offset) = part.find(is_prose) {
                around.first = around.first.min(from + offset);
            }
            if let Some(offset) = part.rfind(is_prose) {
                around.last = around.last.max(from + offset + 1);
            }
        };
        for hole in holes {
            look(at, hole.start.max(at));
            at = at.max(hole.end);
        }
        look(at, text.len().max(at));
        around
    }

    /// Is there prose before `range`, and after it?
    fn around(&self, range: &Range<usize>) -> (bool, bool) {
        (self.first < range.start, self.last > range.end)
    }

    /// A line of calls counts unless prose stands before and after it, or calls it an example.
    fn are_live(&self, text: &str, range: &Range<usize>) -> bool {
        self.around(range) != (true, true) && !introduces_example(&text[..range.start])
    }
}

/// The whole content as nothing but calls, one after another.
fn whole(source: &Source<'_>) -> Option<Vec<Found>> {
    let trimmed = source.text.trim();
    let quoted = trimmed.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).filter(|rest| !rest.contains('`'));
    let skip = |at: usize| {
        let rest = source.rest(at);
        at + (rest.len()
            - rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ']' | '}')).len())
    };
    let mut at = source.skip_blank(0) + usize::from(quoted.is_some());
    let end = source.text.trim_end().len() - usize::from(quoted.is_some());
    let mut found = Vec::new();
    while at < end {
        let (lead, piece) = bare(source, at)?;
        let stops = piece.trouble.is_some() || !matches!(piece.meaning, Meaning::Calls(_));
        let range = at..piece.end;
        at = skip(piece.end);
        found.push(Found { range, lead, piece });
        if stops {
            break;
        }
    }
    if let Some(last) = found.last_mut() {
        last.range.end = source.text.len().max(last.range.end);
    }
    if let Some(first) = found.first_mut() {
        first.range.start = 0;
    }
    (!found.is_empty() && found.iter().all(Found::counts)).then_some(found)
}

/// A call without any marker at `at`.
fn bare(source: &Source<'_>, at: usize) -> Option<(Lead, Piece)> {
    if source.work.is_exhausted() {
        return None;
    }
    if let Some(piece) = python::list(source, at) {
        return Some((Lead::BareLine, piece));
    }
    if let Some(piece) = piece::json(source, at, None, Setting::BARE) {
        return (piece.meaning != Meaning::Data).then_some((Lead::Object, piece));
    }
    let piece = gemma::call(source, at)
        .or_else(|| python::sequence_on_lines(source, at))
        .or_else(|| lines::name_and_object(source, at))?;
    Some((Lead::BareLine, piece))
}

/// Code fences, read with all layers but this one.
fn in_fences(source: &Source<'_>, declared: Option<Shape>, scan: &Scan) -> Layered {
    let surroundings = Surroundings::of(source.text, scan);
    let mut layered = Layered { kept: kept(scan), fenced: true, ..Layered::default() };
    for fence in &scan.fences {
        let (before, after) = surroundings.around(&fence.range);
        let text_before = &source.text[..fence.range.start];
        let text_after = if before { "" } else { &source.text[fence.range.end..] };
        if !fence.is_live(before, after, text_before, text_after) {
            continue;
        }
        let mut found = in_fence(source, declared, fence);
        if found.is_empty() {
            continue;
        }
        for found in &mut found {
            found.range = fence.range.clone();
        }
        layered.removed.push(fence.range.clone());
        layered.found.extend(found);
    }
    let removed = &layered.removed;
    layered.kept.retain(|range| removed.binary_search_by_key(&range.start, |gone| gone.start).is_err());
    layered
}

fn in_fence(source: &Source<'_>, declared: Option<Shape>, fence: &Fence) -> Vec<Found> {
    let inner = Source::new(&source.text[fence.inside.clone()], source.tools, source.work);
    if fence.is_code() {
        let start = inner.skip_blank(0);
        if let Some(mut piece) = python::sequence(&inner, start, true)
            && !matches!(piece.meaning, Meaning::Unknown(_))
        {
            piece.shape = Shape::Fence;
            return vec![Found { range: 0..piece.end, lead: Lead::BareLine, piece }];
        }
    }
    let mut found = whole(&inner).unwrap_or_default();
    if found.is_empty() {
        let readers = Readers { lines: true, fences: false };
        found = pick(&scan(&inner, readers).found, |found| found.lead != Lead::BareLine || declared.is_none());
    }
    for found in &mut found {
        let bare = found.lead == Lead::Object || found.lead == Lead::BareLine;
        found.piece.shape = if bare { Shape::Fence } else { found.piece.shape };
    }
    found
}
