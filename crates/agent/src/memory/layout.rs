//! Where things stand in the file: portrait, marker, sections, entries. Everything else is foreign
//! and never touched.

use std::ops::Range;

use super::entry::{Entry, id_comment, is_continuation, is_item};
use super::{MARKER, Section};

/// One heading and what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) section: Section,
    /// The end of its last line with something on it: where the next entry goes.
    pub(super) last_end: usize,
    /// That line belongs to an entry.
    pub(super) ends_in_entry: bool,
}

/// The places of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// The end of the portrait, and the start of the marker's line when there is one.
    pub(super) portrait_end: usize,
    pub(super) has_marker: bool,
    pub(super) extents: Vec<Extent>,
    pub(super) entries: Vec<Entry>,
}

/// A line's bytes with its ending, and its text without.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |raw| {
        let place = start..start + raw.len();
        start = place.end;
        let content = raw.strip_suffix('\n').unwrap_or(raw);
        (place, content.strip_suffix('\r').unwrap_or(content))
    })
}

impl Layout {
    pub(super) fn of(text: &str) -> Self {
        let marker = lines(text).find(|(_, line)| line.trim_start_matches('\u{feff}').trim_end() == MARKER);
        let has_marker = marker.is_some();
        let (portrait_end, body) = marker.map_or_else(
            || {
                let end = lost_marker(text);
                (end, end)
            },
            |(place, _)| (place.start, place.end),
        );
        let mut layout = Self { portrait_end, has_marker, extents: Vec::new(), entries: Vec::new() };
        layout.read_body(text, body);
        layout.forget_repeated_ids();
        layout
    }

    fn read_body(&mut self, text: &str, body: usize) {
        let mut comments = Comments::new(text);
        let mut current: Option<Section> = None;
        let mut open: Option<(Section, Range<usize>)> = None;
        for (place, line) in lines(&text[body..]) {
            let place = place.start + body..place.end + body;
            let is_comment = comments.contains(line, place.end);
            if let Some((_, span)) = open.as_mut()
                && !is_comment
                && is_continuation(line)
                && !is_section_heading(line)
            {
                span.end = place.end;
            } else {
                self.close(text, open.take());
                if !is_comment && is_section_heading(line) {
                    current = heading(line).and_then(|(_, title)| Section::from_title(title));
                    if let Some(section) = current {
                        self.extents.push(Extent { section, last_end: place.end, ends_in_entry: false });
                    }
                    continue;
                }
                open = current.filter(|_| !is_comment && is_item(line)).map(|section| (section, place.clone()));
            }
            if current.is_some()
                && !line.trim().is_empty()
                && let Some(extent) = self.extents.last_mut()
            {
                extent.last_end = place.end;
                extent.ends_in_entry = open.is_some();
            }
        }
        self.close(text, open);
    }

    fn close(&mut self, text: &str, open: Option<(Section, Range<usize>)>) {
        let entry = open.map(|(section, span)| Entry::read(section, text, span));
        self.entries.extend(entry.filter(|entry| !entry.text.is_empty()));
    }

    /// A line copied by hand has its original's id: only the first keeps it.
    fn forget_repeated_ids(&mut self) {
        let mut seen = std::collections::HashSet::new();
        for entry in &mut self.entries {
            entry.id = entry.id.filter(|id| seen.insert(*id));
        }
    }
}

/// Where the marker belongs in a file that has none.
///
/// Without a marker everything is the user's portrait, unless lines with ids follow: those were
/// written by a program, so a marker once stood above them. They must not become part of the
/// portrait, which models trust.
fn lost_marker(text: &str) -> usize {
    let mut last_heading = None;
    for (place, line) in lines(text) {
        if let Some((_, title)) = heading(line) {
            last_heading = Section::from_title(title).map(|_| place.start);
        }
        if is_item(line) && id_comment(line).is_some() {
            return last_heading.unwrap_or(place.start);
        }
    }
    text.len()
}

/// True for a heading that begins a section or ends one: a known title, or a foreign one of the
/// sections' level or above.
fn is_section_heading(line: &str) -> bool {
    heading(line).is_some_and(|(level, title)| level <= 2 || Section::from_title(title).is_some())
}

/// Level and title of a heading line.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &line[level..];
    ((1..=6).contains(&level) && rest.starts_with([' ', '\t'])).then(|| (level, rest.trim()))
}

/// Blocks that a Markdown reader does not show: from a line that starts with `<!--` to one that
/// holds `-->`. What the user commented out is no entry.
///
/// An opening without an end opens nothing, and the end of an id comment is no such end: otherwise a
/// forgotten `<!--` would swallow the next entry that is written.
pub(super) struct Comments<'a> {
    text: &'a str,
    is_open: bool,
    /// Where the next line with `-->` starts, and whether it can end a block.
    next_end: (usize, bool),
}

impl<'a> Comments<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, is_open: false, next_end: (0, false) }
    }

    /// Whether this line, which ends at `end`, belongs to a comment block. Lines come in order.
    pub(super) fn contains(&mut self, line: &str, end: usize) -> bool {
        let closes = line.contains("-->");
        if self.is_open {
            self.is_open = !closes;
            return true;
        }
        if !line.trim_start().starts_with("<!--") {
            return false;
        }
        self.is_open = !closes && self.ends_after(end);
        closes || self.is_open
    }

    fn ends_after(&mut self, position: usize) -> bool {
        if self.next_end.0 < position {
            self.next_end = lines(&self.text[position..])
                .find(|(_, line)| line.contains("-->"))
                .map_or((usize::MAX, false), |(place, line)| (position + place.start, id_comment(line).is_none()));
        }
        self.next_end.1
    }
}
