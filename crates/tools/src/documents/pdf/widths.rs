//! Widths of characters, to tell a gap between words from one between letters.

use lopdf::{Dictionary, Document as Pdf, Object};
use unicode_normalization::UnicodeNormalization;

use super::number;

/// Widths of Helvetica for the codes 32 to 126, in thousandths (Adobe's font metrics).
const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];

/// Widths of Times for the codes 32 to 126, in thousandths.
const TIMES: [u16; 95] = [
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
    500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889,
    722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500,
    444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480,
    200, 480, 541,
];

/// Most entries of a font's width list.
const MOST_WIDTHS: usize = 70_000;

/// The widths of a font's codes, in thousandths of its size.
#[derive(Debug)]
pub(crate) enum Widths {
    /// One list from a first code on.
    List { first: i64, widths: Vec<f64>, missing: f64 },
    /// Ranges of codes with one width each, sorted by first code.
    Ranges { ranges: Vec<(i64, i64, f64)>, missing: f64 },
    /// One of the fonts that every reader has.
    Standard(Option<&'static [u16; 95]>),
}

impl Widths {
    /// The widths of a simple font.
    pub(crate) fn simple(font: &Dictionary, pdf: &Pdf, scale: f64) -> Self {
        let widths = font.get_deref(b"Widths", pdf).and_then(Object::as_array).ok();
        let Some(widths) = widths else {
            let name = font.get_deref(b"BaseFont", pdf).and_then(Object::as_name).unwrap_or_default();
            let name = String::from_utf8_lossy(name).to_lowercase();
            return Self::Standard(match name {
                name if name.contains("courier") || name.contains("mono") => None,
                name if name.contains("times") || name.contains("serif") => Some(&TIMES),
                _ => Some(&HELVETICA),
            });
        };
        let first = font.get_deref(b"FirstChar", pdf).and_then(Object::as_i64).unwrap_or(0);
        let value =
            |object: &Object| pdf.dereference(object).ok().and_then(|(_, object)| number(object)).unwrap_or(0.0);
        let missing = font
            .get_deref(b"FontDescriptor", pdf)
            .and_then(Object::as_dict)
            .and_then(|descriptor| descriptor.get_deref(b"MissingWidth", pdf))
            .ok()
            .and_then(number)
            .unwrap_or(500.0);
        Self::List {
            first,
            widths: widths.iter().take(MOST_WIDTHS).map(|width| value(width) * scale).collect(),
            missing,
        }
    }

    /// The widths of a composite font's descendant (`W`, 9.7.4.3).
    pub(crate) fn composite(descendant: &Dictionary, pdf: &Pdf) -> Self {
        let missing = descendant.get_deref(b"DW", pdf).ok().and_then(number).unwrap_or(1000.0);
        let mut ranges = Vec::new();
        let list = descendant.get_deref(b"W", pdf).and_then(Object::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut rest = list;
        while let [first, second, after @ ..] = rest {
            let (Some(first), Ok((_, second))) = (number(first), pdf.dereference(second)) else { break };
            let first = first as i64;
            if let Ok(each) = second.as_array() {
                ranges.extend(each.iter().zip(first..).filter_map(|(width, code)| Some((code, code, number(width)?))));
                rest = after;
            } else if let [width, after @ ..] = after {
                if let (Some(last), Some(width)) = (number(second), number(width)) {
                    ranges.push((first, last as i64, width));
                }
                rest = after;
            } else {
                break;
            }
            if ranges.len() > MOST_WIDTHS {
                break;
            }
        }
        ranges.sort_by_key(|(first, ..)| *first);
        Self::Ranges { ranges, missing }
    }

    /// The width of a code that shows this text, as a fraction of the font's size.
    pub(crate) fn of(&self, code: i64, text: &str) -> f64 {
        let thousandths = match self {
            Self::List { first, widths, missing } => {
                let index = usize::try_from(code.saturating_sub(*first)).unwrap_or(usize::MAX);
                widths.get(index).copied().unwrap_or(*missing)
            }
            Self::Ranges { ranges, missing } => {
                let after = ranges.partition_point(|(first, ..)| *first <= code);
                after
                    .checked_sub(1)
                    .map(|index| ranges[index])
                    .filter(|(_, last, _)| code <= *last)
                    .map_or(*missing, |(_, _, width)| width)
            }
            Self::Standard(None) => 600.0,
            Self::Standard(Some(table)) => {
                // An accented letter is as wide as the letter.
                let letter = text.nfd().next().map_or(0, u32::from);
                letter
                    .checked_sub(32)
                    .and_then(|index| table.get(index as usize))
                    .map_or(556.0, |width| f64::from(*width))
            }
        };
        thousandths / 1000.0
    }
}
