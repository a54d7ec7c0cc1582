//! Writes a page from its first line to its last; passes are packed as they come.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::Value;

use super::data::{PagePart, PassPage, ReportPage};
use super::embed::Packer;
use super::escape::{escape, spans};
use super::heat;
use super::section::{extra, facts, section};
use super::shell::{foot_with_script, head};
use super::verdict::verdicts;
use crate::numbers::{grouped, plural};

/// Passes in one page, at most. A caller that has more hands over the first of every failure class of
/// every case and configuration, then the second, and so on.
pub const MOST_PASSES: u64 = 4_000;
/// Bytes of text in one page, at most, each text counted once and before compression.
pub const MOST_BYTES: u64 = 24 * 1024 * 1024;

const PANEL: &str = "<dialog id=\"panel\" aria-labelledby=\"panel-title\"><div class=\"bar\"><h2 id=\"panel-title\"></h2>\
                     <button type=\"button\" id=\"panel-close\">Close</button></div><div id=\"panel-body\"></div></dialog>\n";

/// A page being written.
#[derive(Debug)]
pub struct ReportWriter<W: Write> {
    out: W,
    packer: Packer,
    /// Positions of the cases, a section.
    cases: Vec<HashMap<String, usize>>,
    index: Value,
    failing: u64,
    passing: u64,
}

impl<W: Write> ReportWriter<W> {
    /// Writes everything but the passes.
    pub fn new(page: &ReportPage<'_>, mut out: W) -> io::Result<Self> {
        out.write_all(head(&page.title, true).as_bytes())?;
        let (title, written) = (escape(&page.title), escape(&page.written));
        writeln!(out, "<header><h1>{title}</h1><p class=\"quiet\">{written}</p></header>")?;
        out.write_all(verdicts(page).as_bytes())?;
        out.write_all(
            b"<noscript><p class=\"doubt\">Scripts are off: the numbers are all here, the passes cannot be opened.</p></noscript>\n",
        )?;
        for part in page.extras {
            out.write_all(extra(part).as_bytes())?;
        }
        for (number, part) in page.sections.iter().enumerate() {
            out.write_all(section(part, number).as_bytes())?;
        }
        out.write_all(facts(&page.facts).as_bytes())?;
        let positions = |part: &super::data::ReportSection| {
            part.summary.cases.iter().enumerate().map(|(i, case)| (case.case.clone(), i)).collect()
        };
        Ok(Self {
            out,
            packer: Packer::new(),
            cases: page.sections.iter().map(positions).collect(),
            index: Value::Array(page.sections.iter().map(heat::index).collect()),
            failing: 0,
            passing: 0,
        })
    }

    /// Whether the page has room for another pass.
    pub fn has_room(&self) -> bool {
        self.packer.count() < MOST_PASSES && self.packer.bytes() < MOST_BYTES
    }

    /// Whether the parts of this request were handed over.
    pub fn knows_request(&self, sha256: &str) -> bool {
        self.packer.knows_request(sha256)
    }

    /// Packs a request under its hash.
    pub fn request(&mut self, sha256: &str, parts: &[PagePart]) -> io::Result<()> {
        self.packer.request(sha256, parts, &mut self.out)
    }

    /// Packs a pass. One of a case that the page does not have is left out.
    pub fn pass(&mut self, pass: &PassPage) -> io::Result<()> {
        let Some(case) = self.cases.get(pass.section).and_then(|cases| cases.get(&pass.case)).copied() else {
            return Ok(());
        };
        if pass.is_right() {
            self.passing += 1;
        } else {
            self.failing += 1;
        }
        self.packer.pass(pass, case, &mut self.out)
    }

    /// Writes the end. `failing` is how many passes the runs have that are not right; `passing` how many
    /// of the others were asked for.
    pub fn finish(mut self, failing: u64, passing: u64) -> io::Result<W> {
        let note = format!(
            "<section>\n<h2>The passes in this file</h2>\n<p>{}</p>\n</section>\n",
            spans(&contents((self.failing, failing), (self.passing, passing)))
        );
        self.out.write_all(note.as_bytes())?;
        self.packer.finish(&self.index, &mut self.out)?;
        self.out.write_all(PANEL.as_bytes())?;
        self.out.write_all(foot_with_script().as_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Which passes are here, and how to see the others.
fn contents((failing, all_failing): (u64, u64), (passing, all_passing): (u64, u64)) -> String {
    const SHOW: &str = "`tenpass runs show RUN --case CASE --pass N` shows any other.";
    let mut text = if all_failing == 0 {
        "There is no failing pass.".to_owned()
    } else if failing == all_failing {
        match failing {
            1 => "The only failing pass is here.".to_owned(),
            all => format!("All {} failing passes are here.", grouped(all)),
        }
    } else {
        format!(
            "{} of {} are here: the first of every failure class of every case and configuration, then the second, \
             and so on, up to {} passes or {} MiB of text. {SHOW}",
            grouped(failing),
            plural(all_failing, "failing pass", "failing passes"),
            grouped(MOST_PASSES),
            MOST_BYTES / (1024 * 1024)
        )
    };
    if all_passing > 0 {
        text.push_str(&format!(
            " Of {}, {} here.",
            plural(all_passing, "passing pass", "passing passes"),
            if passing == 1 { "1 is".to_owned() } else { format!("{} are", grouped(passing)) }
        ));
    } else {
        text.push_str(" Passing passes are here as numbers only; `tenpass report --passing` puts them in as well.");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_said() {
        assert!(contents((12, 12), (0, 0)).starts_with("All 12 failing passes are here."));
        let some = contents((4000, 31_204), (0, 0));
        assert!(
            some.starts_with("4000 of 31\u{202f}204 failing passes are here") && some.contains("tenpass runs show"),
            "{some}"
        );
        assert!(contents((0, 0), (3, 10)).ends_with("Of 10 passing passes, 3 are here."));
    }
}
