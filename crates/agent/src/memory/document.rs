//! The one Markdown file (K60): the user's portrait above the marker, four sections below it.
//!
//! ```markdown
//! # Me
//! Free text: the portrait. Nothing here is ever changed.
//!
//! <!-- tenpass:memory -->
//!
//! ## Decisions
//!
//! - [2026-03-01T09:30:00Z] One sentence <!-- id:… -->
//! ```
//!
//! A document is the file's text plus the places found in it. A change splices the text and reads
//! the places again, so that every byte outside the changed entry survives: blank lines, foreign
//! lines and headings, French headings, CRLF, a second marker, a missing one.

use std::collections::HashSet;

use jiff::Timestamp;
use uuid::Uuid;

use super::decision::Checked;
use super::entry::{self, Entry, normalised};
use super::layout::{Comments, Layout, lines};
use super::{MARKER, Section};

/// A new memory file.
const TEMPLATE: &str = "\
<!--
This file is your assistant's memory. What you write above the line \"tenpass:memory\" is your
portrait: who you are, how you think, what you expect. It is given to the model whole, and no
program ever changes it. Below the line, entries are added one by one; edit or delete them as you like.

Ce fichier est la mémoire de votre assistant. Ce que vous écrivez au-dessus de la ligne
« tenpass:memory » est votre portrait ; aucun programme ne le modifie.
-->

<!-- tenpass:memory -->

## Decisions

## Patterns

## Open threads

## Anomalies
";

/// Shortest id prefix that names an entry.
const MIN_PREFIX: usize = 4;

/// The memory file, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    text: String,
    layout: Layout,
}

/// What names no entry, or more than one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// Nothing fits.
    #[error("no memory entry matches {needle:?}")]
    None {
        /// What was looked for.
        needle: String,
    },
    /// Several fit.
    #[error("{count} memory entries match {needle:?}")]
    Several {
        /// What was looked for.
        needle: String,
        /// How many fit.
        count: usize,
    },
}

impl FindError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::None { .. } => "name an entry by its id, the start of its id, or its text",
            Self::Several { .. } => "give more of the text, or the id",
        }
    }
}

/// What a change did to the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The entry as it now stands.
    pub added: Entry,
    /// The entry it replaced.
    pub replaced: Option<Entry>,
}

impl Default for Document {
    fn default() -> Self {
        Self::template()
    }
}

impl Document {
    /// Reads a file's text. Every text is a document.
    pub fn parse(text: impl Into<String>) -> Self {
        let text = text.into();
        let layout = Layout::of(&text);
        Self { text, layout }
    }

    /// A new file: an explanation, the marker, four empty sections.
    pub fn template() -> Self {
        Self::parse(TEMPLATE)
    }

    /// The file's text.
    pub fn render(&self) -> &str {
        &self.text
    }

    /// What stands above the marker, byte for byte; the whole text when there is no marker and
    /// no entry with an id.
    pub fn portrait(&self) -> &str {
        &self.text[..self.layout.portrait_end]
    }

    /// The portrait as the system message takes it: whole, without what a Markdown reader does not
    /// show (comments, the template's explanation), trimmed.
    pub fn portrait_for_prompt(&self) -> String {
        let portrait = self.portrait();
        let mut comments = Comments::new(portrait);
        let shown: String = lines(portrait)
            .filter(|(place, line)| !comments.contains(line, place.end))
            .map(|(place, _)| &portrait[place])
            .collect();
        shown.trim_start_matches('\u{feff}').trim().to_owned()
    }

    /// True when the marker's line is there.
    pub fn has_marker(&self) -> bool {
        self.layout.has_marker
    }

    /// Every entry, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.layout.entries
    }

    /// The entries of one section, in the order of the file: the newest last.
    pub fn section(&self, section: Section) -> impl Iterator<Item = &Entry> {
        self.entries().iter().filter(move |entry| entry.section == section)
    }

    /// The entry with this id.
    pub fn get(&self, id: Uuid) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.id == Some(id))
    }

    /// The entry that an id, or at least four digits of its start, names.
    pub fn find_id(&self, needle: &str) -> Result<&Entry, FindError> {
        let digits: String = needle.trim().chars().filter(|character| *character != '-').collect();
        let looks_like_id = digits.len() >= MIN_PREFIX && digits.chars().all(|digit| digit.is_ascii_hexdigit());
        let digits = digits.to_ascii_lowercase();
        self.only(needle, |entry| {
            looks_like_id && entry.id.is_some_and(|id| id.simple().to_string().starts_with(&digits))
        })
    }

    /// The entry that an id, the unique start of one, its text, or a unique part of its text names.
    pub fn find(&self, needle: &str) -> Result<&Entry, FindError> {
        let by_id = self.find_id(needle);
        let wanted = normalised(needle);
        if by_id.is_ok() || wanted.chars().count() < 2 {
            return by_id;
        }
        match self.only(needle, |entry| normalised(&entry.text) == wanted) {
            Err(FindError::None { .. }) => {}
            found => return found,
        }
        let padded = format!(" {wanted} ");
        match self.only(needle, |entry| format!(" {} ", normalised(&entry.text)).contains(&padded)) {
            Err(FindError::None { .. }) => by_id,
            found => found,
        }
    }

    fn only(&self, needle: &str, fits: impl Fn(&Entry) -> bool) -> Result<&Entry, FindError> {
        let mut fitting = self.entries().iter().filter(|entry| fits(entry));
        let shown = || needle.trim().chars().take(80).collect::<String>();
        match (fitting.next(), fitting.count()) {
            (Some(entry), 0) => Ok(entry),
            (None, _) => Err(FindError::None { needle: shown() }),
            (Some(_), more) => Err(FindError::Several { needle: shown(), count: more + 1 }),
        }
    }

    /// Writes a checked entry at the end of its section and removes the one it contradicts. Entries
    /// without an id get one. `new_id` makes ids.
    pub fn apply(&mut self, checked: &Checked, at: Timestamp, mut new_id: impl FnMut() -> Uuid) -> Applied {
        self.assign_ids(&mut new_id);
        let replaced = checked.contradicts().and_then(|id| self.remove(id));
        let id = new_id();
        let line = entry::line(checked.entry(), at, id);
        self.insert(checked.section(), &line);
        let added = self.get(id).cloned().unwrap_or_else(|| Entry {
            section: checked.section(),
            id: Some(id),
            at: Some(entry::seconds(at)),
            text: checked.entry().to_owned(),
            span: 0..0,
            comment: None,
        });
        Applied { added, replaced }
    }

    /// Removes the entry with this id, with the lines that carry it on.
    pub fn remove(&mut self, id: Uuid) -> Option<Entry> {
        let entry = self.get(id)?.clone();
        self.splice(entry.span.clone(), "");
        Some(entry)
    }

    /// Removes an entry found in this document, which may have no id.
    pub fn remove_entry(&mut self, entry: &Entry) -> bool {
        let is_here = self.entries().contains(entry);
        if is_here {
            self.splice(entry.span.clone(), "");
        }
        is_here
    }

    /// Puts an entry back that was removed, at the end of its section, with its own time and id.
    pub fn restore(&mut self, entry: &Entry) {
        let comment = entry.id.map(|id| format!(" {}", entry::id_mark(id))).unwrap_or_default();
        let time = entry.at.map(|at| format!("[{at}] ")).unwrap_or_default();
        self.insert(entry.section, &format!("- {time}{}{comment}", entry.text));
    }

    /// Gives an id to each entry that has none, and to each that repeats another's.
    pub fn assign_ids(&mut self, new_id: &mut impl FnMut() -> Uuid) {
        let mut taken: HashSet<Uuid> = self.entries().iter().filter_map(|entry| entry.id).collect();
        // From the end, so that the places before stay valid.
        let without: Vec<Entry> = self.entries().iter().rev().filter(|entry| entry.id.is_none()).cloned().collect();
        for entry in without {
            let id = std::iter::repeat_with(&mut *new_id).take(8).find(|id| taken.insert(*id));
            let Some(id) = id else { continue };
            let mark = entry::id_mark(id);
            if let Some(place) = entry.comment {
                self.text.replace_range(place, &mark);
            } else {
                let raw = &self.text[entry.span.clone()];
                let end = entry.span.start + raw.trim_end_matches(['\n', '\r']).len();
                self.text.insert_str(end, &format!(" {mark}"));
            }
        }
        self.layout = Layout::of(&self.text);
    }

    /// Inserts one line at the end of a section, making marker and heading when they are missing.
    fn insert(&mut self, section: Section, line: &str) {
        let newline = self.newline();
        self.ensure_marker(newline);
        let Some(extent) = self.layout.extents.iter().rfind(|extent| extent.section == section).cloned() else {
            let gap = self.gap_at_end(newline);
            let heading = format!("{gap}## {}{newline}{newline}{line}{newline}", section.title());
            let end = self.text.len();
            self.splice(end..end, &heading);
            return;
        };
        let position = extent.last_end;
        let mut inserted = String::new();
        if !self.text[..position].ends_with('\n') {
            inserted.push_str(newline);
        }
        if !extent.ends_in_entry {
            inserted.push_str(newline);
        }
        inserted.push_str(line);
        inserted.push_str(newline);
        let next_line = self.text[position..].lines().next();
        if !extent.ends_in_entry && next_line.is_some_and(|next| !next.trim().is_empty()) {
            inserted.push_str(newline);
        }
        self.splice(position..position, &inserted);
    }

    fn ensure_marker(&mut self, newline: &str) {
        if self.layout.has_marker {
            return;
        }
        let position = self.layout.portrait_end;
        let gap = if position == self.text.len() {
            self.gap_at_end(newline)
        } else if self.text[..position].is_empty() || self.text[..position].ends_with('\n') {
            String::new()
        } else {
            newline.to_owned()
        };
        self.splice(position..position, &format!("{gap}{MARKER}{newline}{newline}"));
    }

    /// What must stand between the end of the text and a new block.
    fn gap_at_end(&self, newline: &str) -> String {
        let lacks_ending = !self.text.is_empty() && !self.text.ends_with('\n');
        let last_is_blank = self.text.lines().next_back().is_none_or(|line| line.trim().is_empty());
        newline.repeat(usize::from(lacks_ending) + usize::from(!last_is_blank))
    }

    /// The line ending of the file: that of its first line.
    fn newline(&self) -> &'static str {
        match self.text.split_once('\n') {
            Some((first, _)) if first.ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    fn splice(&mut self, place: std::ops::Range<usize>, text: &str) {
        self.text.replace_range(place, text);
        self.layout = Layout::of(&self.text);
    }
}
