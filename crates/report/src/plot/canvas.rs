//! The drawing surface: roles for colours, and what plotters writes made fit for a page.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width of every plot in its own units; about the width of a phone, so that text stays readable.
pub(crate) const WIDTH: i32 = 440;
/// plotters knows whole pixels only: drawing this many times larger keeps curves smooth.
const SCALE: i32 = 8;
/// The height of text, in units.
const TEXT: i32 = 13;
/// plotters divides the size of a font by this when it writes SVG.
const FONT_FACTOR: f64 = 1.24;
/// Series have this many colours of their own; further ones begin again.
pub(crate) const SERIES: usize = 8;

/// What a colour is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Text,
    Quiet,
    Grid,
    Ground,
    Bad,
    /// The colour of a configuration, by its position.
    Series(usize),
    /// The same as a line whose dashes tell it apart without its colour.
    Dashed(usize),
}

/// Where a text stands from its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Left,
    Middle,
    Right,
}

/// Roles that are not series: the code of the colour, the CSS variable, the colour to fall back on.
const ROLES: [(Ink, u8, &str, &str); 5] = [
    (Ink::Text, 1, "--ink", "#333"),
    (Ink::Quiet, 2, "--quiet", "#666"),
    (Ink::Grid, 3, "--line", "#ccc"),
    (Ink::Ground, 4, "--ground", "#fff"),
    (Ink::Bad, 5, "--bad", "#a3310f"),
];
/// Okabe and Ito's colours, which colour-blind people tell apart; the page has its own for the dark.
const SERIES_FALLBACK: [&str; SERIES] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#5b4ea0", "#777"];
const DASHES: [&str; SERIES] = ["", "6 3", "2 3", "9 3 2 3", "12 4", "4 4", "2 2 6 2", "1 4"];
const FIRST_SERIES: u8 = 16;
const FIRST_DASHED: u8 = 32;

impl Ink {
    fn color(self) -> RGBColor {
        let code = match self {
            Self::Series(index) => FIRST_SERIES + (index % SERIES) as u8,
            Self::Dashed(index) => FIRST_DASHED + (index % SERIES) as u8,
            role => ROLES.iter().find(|known| known.0 == role).map_or(1, |known| known.1),
        };
        RGBColor(0, 0, code)
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A plot being drawn, in units.
pub(crate) struct Canvas<'a> {
    area: Area<'a>,
}

/// What goes wrong on a canvas; drawing into a string cannot fail.
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

impl Canvas<'_> {
    pub(crate) fn line(&self, from: (f64, f64), to: (f64, f64), ink: Ink, width: f64) -> Drawn {
        self.path(&[from, to], ink, width)
    }

    pub(crate) fn path(&self, points: &[(f64, f64)], ink: Ink, width: f64) -> Drawn {
        let points: Vec<(i32, i32)> = points.iter().map(|&point| scaled(point)).collect();
        let style = ink.color().stroke_width((width * f64::from(SCALE)).round() as u32);
        self.area.draw(&PathElement::new(points, style))
    }

    pub(crate) fn rectangle(&self, corners: [(f64, f64); 2], ink: Ink, opacity: f64) -> Drawn {
        let style = ink.color().mix(opacity).filled();
        self.area.draw(&Rectangle::new(corners.map(scaled), style))
    }

    pub(crate) fn dot(&self, at: (f64, f64), radius: f64, ink: Ink) -> Drawn {
        let radius = (radius * f64::from(SCALE)).round() as i32;
        self.area.draw(&Circle::new(scaled(at), radius, ink.color().filled()))
    }

    pub(crate) fn text(&self, text: &str, at: (f64, f64), ink: Ink, anchor: Anchor) -> Drawn {
        let horizontal = match anchor {
            Anchor::Left => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::Right => HPos::Right,
        };
        let size = f64::from(TEXT * SCALE) * FONT_FACTOR;
        let color = ink.color();
        let style =
            TextStyle::from(("sans-serif", size).into_font()).color(&color).pos(Pos::new(horizontal, VPos::Center));
        self.area.draw(&Text::new(crate::html::visible(text).into_owned(), scaled(at), style))
    }
}

fn scaled((x, y): (f64, f64)) -> (i32, i32) {
    let unit = |value: f64| (value * f64::from(SCALE)).round() as i32;
    (unit(x), unit(y))
}

/// Draws a plot of this height, in units.
pub(crate) fn plot(title: &str, description: &str, height: f64, draw: impl FnOnce(&Canvas<'_>) -> Drawn) -> String {
    let mut svg = String::new();
    let size = ((WIDTH * SCALE) as u32, (height * f64::from(SCALE)).ceil() as u32);
    {
        let canvas = Canvas { area: SVGBackend::with_string(&mut svg, size).into_drawing_area() };
        // Into a string: the only error would be one of plotters itself, and costs the rest of a plot.
        let _ = draw(&canvas).and_then(|()| canvas.area.present());
    }
    if !svg.trim_end().ends_with("</svg>") {
        svg.push_str("</svg>\n");
    }
    dress(&svg, title, description, size)
}

/// Roles become variables, and the drawing gets its words.
fn dress(svg: &str, title: &str, description: &str, (width, height): (u32, u32)) -> String {
    let mut drawn = svg.split_once('>').map_or("", |(_, rest)| rest).to_owned();
    for (_, code, variable, fallback) in ROLES {
        drawn = drawn.replace(&quoted(code), &format!("\"var({variable}, {fallback})\""));
    }
    for (series, fallback) in SERIES_FALLBACK.iter().enumerate() {
        let colour = format!("\"var(--series-{series}, {fallback})\"");
        drawn = drawn.replace(&quoted(FIRST_SERIES + series as u8), &colour);
        let dashes: Vec<String> = (DASHES[series].split(' ').filter_map(|dash| dash.parse::<i32>().ok()))
            .map(|dash| (dash * SCALE).to_string())
            .collect();
        let dashed = match dashes.as_slice() {
            [] => colour,
            dashes => format!("{colour} stroke-dasharray=\"{}\"", dashes.join(" ")),
        };
        drawn = drawn.replace(&quoted(FIRST_DASHED + series as u8), &dashed);
    }
    drawn = drawn.replace(" opacity=\"1\"", "").replace(" font-family=\"sans-serif\"", "");
    let (title, description) = (crate::html::escape(title), crate::html::escape(description));
    // Equal plots have equal names, and describe the same.
    let name = format!("plot-{:016x}", fingerprint(&[&drawn, &title, &description]));
    format!(
        "<svg class=\"plot\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" \
         aria-labelledby=\"{name}-title {name}-text\"><title id=\"{name}-title\">{title}</title>\
         <desc id=\"{name}-text\">{description}</desc>{drawn}"
    )
}

fn quoted(code: u8) -> String {
    format!("\"#0000{code:02X}\"")
}

/// FNV-1a: names need to differ, nothing more.
fn fingerprint(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_the_page_and_text_stays_text() {
        let svg = plot("A <title>", "What it \"shows\".", 40.0, |canvas| {
            canvas.line((0.0, 0.0), (10.0, 10.0), Ink::Grid, 1.0)?;
            canvas.path(&[(0.0, 0.0), (5.0, 9.0), (10.0, 10.0)], Ink::Dashed(1), 2.0)?;
            canvas.rectangle([(1.0, 1.0), (2.0, 2.0)], Ink::Series(9), 0.5)?;
            canvas.text("a < b", (4.0, 4.0), Ink::Text, Anchor::Middle)
        });
        assert!(!svg.contains("#0000"), "a role kept its code: {svg}");
        assert!(svg.contains("stroke=\"var(--line, #ccc)\""), "{svg}");
        assert!(svg.contains("stroke=\"var(--series-1, #d55e00)\" stroke-dasharray=\"48 24\""), "{svg}");
        assert!(svg.contains("fill=\"var(--series-1, #d55e00)\""), "series repeat: {svg}");
        assert!(svg.contains("a &lt; b") && svg.contains("A &lt;title&gt;"), "{svg}");
        assert!(!svg.contains("<image") && !svg.contains("style="), "{svg}");
        assert!(svg.trim_end().ends_with("</svg>") && svg.matches("</svg>").count() == 1, "{svg}");
    }

    #[test]
    fn what_differs_is_named_differently() {
        let empty = |title: &str| plot(title, "", 10.0, |_| Ok(()));
        let name = |svg: &str| svg.split("aria-labelledby=\"").nth(1).map(|rest| rest[..21].to_owned());
        assert_ne!(name(&empty("a")), name(&empty("b")));
        assert_eq!(name(&empty("a")), name(&empty("a")));
    }
}
