//! Following the operators that show text, and putting spaces and lines where a reader sees them.

use std::collections::HashMap;
use std::rc::Rc;

use lopdf::content::{Content, Operation};
use lopdf::{Dictionary, Document as Pdf, Object, ObjectId};

use super::font::Font;
use super::{STREAM_BYTES, number};
use crate::documents::error::DocumentError;
use crate::documents::output::Output;

/// A form within a form within a form… is followed this deep.
const DEEPEST_FORM: usize = 8;
/// Most operators of a whole document.
const MOST_OPERATORS: usize = 20_000_000;
/// Most saved graphics states.
const MOST_STATES: usize = 512;

/// `[a b c d e f]` (8.3.3).
type Matrix = [f64; 6];
const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

fn multiplied(left: &Matrix, right: &Matrix) -> Matrix {
    let [a, b, c, d, e, f] = *left;
    let [g, h, i, j, k, l] = *right;
    [a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + l]
}

/// The text part of the graphics state.
#[derive(Clone)]
struct State<'a> {
    place: Matrix,
    font: Option<Rc<Font<'a>>>,
    size: f64,
    character_space: f64,
    word_space: f64,
    scale: f64,
    leading: f64,
    rise: f64,
}

/// Where the last shown text ended, in device space.
#[derive(Clone, Copy)]
struct Pen {
    x: f64,
    y: f64,
    height: f64,
}

/// Reads the pages of one document.
pub(crate) struct Pages<'a> {
    pdf: &'a Pdf,
    /// By the address of the font's dictionary, which lives as long as the document.
    fonts: HashMap<usize, Rc<Font<'a>>>,
    operators: usize,
}

/// One page or form that is being followed.
struct Run<'a, 'o> {
    state: State<'a>,
    text: Matrix,
    line: Matrix,
    pen: Option<Pen>,
    output: &'o mut Output,
}

impl<'a> Pages<'a> {
    pub(crate) fn new(pdf: &'a Pdf) -> Self {
        Self { pdf, fonts: HashMap::new(), operators: 0 }
    }

    /// Adds a page's text.
    pub(crate) fn read(&mut self, page: ObjectId, output: &mut Output) -> Result<(), DocumentError> {
        output.check_time(super::KIND)?;
        let Ok(content) = self.pdf.get_page_content_with_limit(page, STREAM_BYTES) else {
            output.cut();
            return Ok(());
        };
        let resources = self.resources(page);
        let state = State {
            place: IDENTITY,
            font: None,
            size: 1.0,
            character_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        let mut run = Run { state, text: IDENTITY, line: IDENTITY, pen: None, output };
        self.follow(&content, resources.as_slice(), 0, &mut run)?;
        run.output.end_line();
        Ok(())
    }

    /// The resource dictionaries that a page may use, nearest first.
    fn resources(&self, page: ObjectId) -> Vec<&'a Dictionary> {
        let Ok((own, others)) = self.pdf.get_page_resources(page) else { return Vec::new() };
        own.into_iter().chain(others.into_iter().filter_map(|id| self.pdf.get_dictionary(id).ok())).collect()
    }

    fn follow(
        &mut self,
        content: &[u8],
        resources: &[&'a Dictionary],
        depth: usize,
        run: &mut Run<'a, '_>,
    ) -> Result<(), DocumentError> {
        // A stream with a damaged tail still shows what comes before; one that is rubbish shows nothing.
        let Ok(content) = Content::decode(content) else { return Ok(()) };
        let mut saved = Vec::new();
        for operation in &content.operations {
            self.operators += 1;
            if self.operators > MOST_OPERATORS || run.output.full() {
                run.output.cut();
                break;
            }
            if self.operators.is_multiple_of(1024) {
                run.output.check_time(super::KIND)?;
            }
            match operation.operator.as_str() {
                "q" if saved.len() < MOST_STATES => saved.push(run.state.clone()),
                "Q" => {
                    if let Some(state) = saved.pop() {
                        run.state = state;
                    }
                }
                "cm" => {
                    if let Some(matrix) = matrix(&operation.operands) {
                        run.state.place = multiplied(&matrix, &run.state.place);
                    }
                }
                "Tf" => self.choose(operation, resources, run),
                "Do" if depth < DEEPEST_FORM => self.draw(operation, resources, depth, run)?,
                _ => run.step(operation),
            }
        }
        Ok(())
    }

    fn choose(&mut self, operation: &Operation, resources: &[&'a Dictionary], run: &mut Run<'a, '_>) {
        let [name, size] = operation.operands.as_slice() else { return };
        run.state.size = number(size).unwrap_or(1.0);
        let name = name.as_name().unwrap_or_default();
        let font = self.named(resources, b"Font", name).and_then(|font| font.as_dict().ok());
        run.state.font = font.map(|font| {
            let key = std::ptr::from_ref(font).addr();
            Rc::clone(self.fonts.entry(key).or_insert_with(|| Rc::new(Font::new(font, self.pdf))))
        });
    }

    fn draw(
        &mut self,
        operation: &Operation,
        resources: &[&'a Dictionary],
        depth: usize,
        run: &mut Run<'a, '_>,
    ) -> Result<(), DocumentError> {
        let name = operation.operands.first().and_then(|name| name.as_name().ok()).unwrap_or_default();
        let Some(form) = self.named(resources, b"XObject", name).and_then(|form| form.as_stream().ok()) else {
            return Ok(());
        };
        if form.dict.get_deref(b"Subtype", self.pdf).and_then(Object::as_name).ok() != Some(b"Form") {
            return Ok(());
        }
        run.output.check_time(super::KIND)?;
        let Ok(content) = form.get_plain_content_with_limit(STREAM_BYTES) else {
            run.output.cut();
            return Ok(());
        };
        let own = form.dict.get_deref(b"Resources", self.pdf).and_then(Object::as_dict).ok();
        let (state, text, line) = (run.state.clone(), run.text, run.line);
        if let Some(matrix) =
            form.dict.get_deref(b"Matrix", self.pdf).and_then(Object::as_array).ok().and_then(|list| matrix(list))
        {
            run.state.place = multiplied(&matrix, &run.state.place);
        }
        let inner: Vec<&Dictionary> = own.into_iter().chain(resources.iter().copied()).collect();
        self.follow(&content, &inner, depth + 1, run)?;
        (run.state, run.text, run.line) = (state, text, line);
        Ok(())
    }

    /// A resource by kind and name, from the nearest dictionary that has it.
    fn named(&self, resources: &[&'a Dictionary], kind: &[u8], name: &[u8]) -> Option<&'a Object> {
        resources.iter().find_map(|resources| {
            let list = resources.get_deref(kind, self.pdf).ok()?.as_dict().ok()?;
            list.get_deref(name, self.pdf).ok()
        })
    }
}

fn matrix(operands: &[Object]) -> Option<Matrix> {
    let numbers: Vec<f64> = operands.iter().filter_map(number).collect();
    numbers.try_into().ok()
}

impl Run<'_, '_> {
    /// One operator that moves or shows text.
    fn step(&mut self, operation: &Operation) {
        let operands = operation.operands.as_slice();
        let value = |index: usize| operands.get(index).and_then(number);
        match operation.operator.as_str() {
            "BT" => (self.text, self.line) = (IDENTITY, IDENTITY),
            "Tc" => self.state.character_space = value(0).unwrap_or(0.0),
            "Tw" => self.state.word_space = value(0).unwrap_or(0.0),
            "Tz" => self.state.scale = value(0).unwrap_or(100.0) / 100.0,
            "TL" => self.state.leading = value(0).unwrap_or(0.0),
            "Ts" => self.state.rise = value(0).unwrap_or(0.0),
            "Td" => self.next_line(value(0).unwrap_or(0.0), value(1).unwrap_or(0.0)),
            "TD" => {
                self.state.leading = -value(1).unwrap_or(0.0);
                self.next_line(value(0).unwrap_or(0.0), value(1).unwrap_or(0.0));
            }
            "Tm" => {
                if let Some(matrix) = matrix(operands) {
                    (self.text, self.line) = (matrix, matrix);
                }
            }
            "T*" => self.next_line(0.0, -self.state.leading),
            "Tj" => self.show_all(operands),
            "'" => {
                self.next_line(0.0, -self.state.leading);
                self.show_all(operands);
            }
            "\"" => {
                self.state.word_space = value(0).unwrap_or(0.0);
                self.state.character_space = value(1).unwrap_or(0.0);
                self.next_line(0.0, -self.state.leading);
                self.show_all(operands.get(2..).unwrap_or_default());
            }
            "TJ" => {
                if let Some(Object::Array(list)) = operands.first() {
                    self.show_all(list);
                }
            }
            _ => {}
        }
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.line = multiplied(&[1.0, 0.0, 0.0, 1.0, x, y], &self.line);
        self.text = self.line;
    }

    /// Shows strings; numbers between them move the pen back, in thousandths.
    fn show_all(&mut self, list: &[Object]) {
        for item in list {
            match item {
                Object::String(bytes, _) => self.show(bytes),
                other => {
                    if let Some(back) = number(other) {
                        self.advance(-back / 1000.0 * self.state.size * self.state.scale);
                    }
                }
            }
        }
    }

    fn advance(&mut self, by: f64) {
        self.text = multiplied(&[1.0, 0.0, 0.0, 1.0, by, 0.0], &self.text);
    }

    fn show(&mut self, bytes: &[u8]) {
        let Some(font) = self.state.font.clone() else { return };
        for code in bytes.chunks(font.code_bytes) {
            let glyph = font.glyph(code);
            let from = self.device();
            let word = if glyph.space { self.state.word_space } else { 0.0 };
            self.advance((glyph.width * self.state.size + self.state.character_space + word) * self.state.scale);
            if glyph.text.is_empty() {
                continue;
            }
            self.place(&from, &glyph.text);
            // Character spacing widens gaps that are none, so it does not count as a gap.
            let to = self.device();
            self.pen = Some(Pen { x: to[4], y: to[5], height: height(&to) });
        }
    }

    /// The text space of the next character, in device space.
    fn device(&self) -> Matrix {
        let State { size, scale, rise, .. } = self.state;
        multiplied(&multiplied(&[size * scale, 0.0, 0.0, size, 0.0, rise], &self.text), &self.state.place)
    }

    /// Puts a character, and before it the space, tab or line break that its place means.
    fn place(&mut self, at: &Matrix, text: &str) {
        if let Some(pen) = self.pen {
            let height = height(at).max(pen.height).max(1e-6);
            let length = at[0].hypot(at[1]).max(1e-9);
            let (dx, dy) = (at[4] - pen.x, at[5] - pen.y);
            // Along and across the direction of writing, in heights of the text.
            let along = (dx * at[0] + dy * at[1]) / length / height;
            let across = (dy * at[0] - dx * at[1]) / length / height;
            self.separate(along, across, text);
        }
        self.output.push(text);
    }

    fn separate(&mut self, along: f64, across: f64, text: &str) {
        let before = self.output.text();
        let blank = before.ends_with([' ', '\n', '\t']) || text.starts_with(' ');
        if across.abs() > 1.9 && !before.ends_with("\n\n") {
            self.output.end_line();
            self.output.push("\n");
        } else if across.abs() > 0.6 {
            self.output.end_line();
        } else if along > 2.0 && !before.ends_with(['\n', '\t']) {
            self.output.push("\t");
        } else if !(-0.5..=0.16).contains(&along) && !blank {
            self.output.push(" ");
        }
    }
}

/// The height of a character in device space.
fn height(matrix: &Matrix) -> f64 {
    matrix[2].hypot(matrix[3])
}
