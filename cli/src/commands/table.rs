//! Tables: for people as columns two spaces apart, for programs as JSON, CSV or Parquet.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serialize;
use tenpass_frame::{Frame, FrameError, Kind};

use crate::args::Format;
use crate::failure::Failure;
use crate::printer::Printer;

/// Columns of a table with their kinds, as CSV and Parquet have them in every file alike.
pub(crate) type Columns = [(&'static str, Kind)];

/// Prints rows in the format that was asked for. A row is a flat struct whose fields are the columns;
/// `text` is the table for people. Without `columns` they are inferred from the rows.
pub(crate) fn show<T: Serialize>(
    printer: Printer,
    format: Format,
    columns: &Columns,
    rows: &[T],
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    match format {
        Format::Table => printer.out(&text()),
        Format::Json => printer.json(&rows)?,
        Format::Csv | Format::Parquet => export(printer, format, columns, rows)?,
    }
    Ok(())
}

/// Prints rows as CSV or Parquet: for commands whose JSON says more than their rows.
pub(crate) fn export<T: Serialize>(
    printer: Printer,
    format: Format,
    columns: &Columns,
    rows: &[T],
) -> Result<(), Failure> {
    let frame = if columns.is_empty() { Frame::of(rows)? } else { Frame::declared(columns, rows)? };
    binary(printer, format, |out| Ok(frame.write(output(format), out)?))
}

/// Hands stdout to whoever writes a result in this format.
pub(crate) fn binary(
    printer: Printer,
    format: Format,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if format == Format::Parquet && printer.is_terminal() {
        return Err(Failure::mistake("Parquet is not for a terminal").hint("redirect it: … --format parquet > FILE"));
    }
    let mut out = Guarded { out: printer.bytes(), closed: false };
    let written = write(&mut out).and_then(|()| out.flush().map_err(|error| FrameError::Write(error).into()));
    // Whoever read it has seen enough: `| head`.
    if out.closed { Ok(()) } else { written }
}

/// Writes beside the file and renames it: whoever looks finds the old one or the whole new one. What
/// is no file, such as a pipe or a device, is written to as it is.
pub(crate) fn whole_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::file(path, &error);
    if path.is_dir() {
        return Err(Failure::mistake(format!("{} is a folder", path.display())).hint("--out names the file to write"));
    }
    if is_special(path) {
        return filled(File::options().write(true).open(path).map_err(failed)?, path, write).map(drop);
    }
    // Behind a link is the file that is meant.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let Some(name) = place.file_name() else {
        return Err(Failure::mistake(format!("{} is no file", path.display())));
    };
    let partial = place.with_file_name(format!("{}.{}.partial", name.to_string_lossy(), std::process::id()));
    let written = File::create(&partial).map_err(failed).and_then(|file| {
        let file = filled(file, path, write)?;
        file.sync_all().and_then(|()| std::fs::rename(&partial, &place)).map_err(failed)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    written
}

/// What is there and neither a file nor a folder: a pipe, a device.
fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

fn filled(file: File, path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>) -> Result<File, Failure> {
    let mut out = BufWriter::with_capacity(64 * 1024, file);
    write(&mut out)?;
    out.into_inner().map_err(|error| Failure::file(path, &error.into_error()))
}

/// Remembers that nobody reads any more.
struct Guarded<W> {
    out: W,
    closed: bool,
}

impl<W> Guarded<W> {
    fn noticed<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.closed |= result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        result
    }
}

impl<W: Write> Write for Guarded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.noticed(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.noticed(flushed)
    }
}

/// The form of the frame crate; a table for people is as wide as it needs to be.
pub(crate) fn output(format: Format) -> tenpass_frame::Output {
    match format {
        Format::Table => tenpass_frame::Output::Text(tenpass_frame::TextStyle::default()),
        Format::Json => tenpass_frame::Output::Json,
        Format::Csv => tenpass_frame::Output::Csv,
        Format::Parquet => tenpass_frame::Output::Parquet,
    }
}

impl From<FrameError> for Failure {
    fn from(error: FrameError) -> Self {
        let failure = match error {
            FrameError::Write(_)
            | FrameError::NoColumn { .. }
            | FrameError::NamedTwice { .. }
            | FrameError::Twice { .. }
            | FrameError::TooWide { .. }
            | FrameError::NoColumns => Self::mistake(&error),
            _ => Self::bug(&error),
        };
        failure.hint(error.hint())
    }
}

/// Lays out rows under a header. Columns listed in `right` are aligned to the right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>], right: &[usize]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain(std::iter::once(header[column].chars().count())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let space = " ".repeat(width - cell.chars().count());
            if right.contains(&column) { format!("{space}{cell}") } else { format!("{cell}{space}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut text = line(header.to_vec());
    for row in rows {
        text.push('\n');
        text.push_str(&line(row.iter().map(String::as_str).collect()));
    }
    text.push('\n');
    text
}

/// Bytes for people.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.0} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.0} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pipe(usize);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_has_seen_enough_is_noticed() {
        let mut out = Guarded { out: Pipe(1), closed: false };
        assert!(out.write(b"x").is_ok() && !out.closed);
        assert!(out.write(b"y").is_err() && out.closed);
    }

    fn bytes(text: &'static [u8]) -> impl FnOnce(&mut dyn Write) -> Result<(), Failure> {
        move |out| out.write_all(text).map_err(|error| FrameError::Write(error).into())
    }

    #[test]
    fn a_file_is_whole_or_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answer.csv");
        whole_file(&path, bytes(b"one")).unwrap();
        let failed = whole_file(&path, |out| {
            bytes(b"two")(out)?;
            Err(Failure::mistake("half"))
        });
        assert_eq!(failed.unwrap_err().message, "half");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(whole_file(folder.path(), bytes(b"")).unwrap_err().message.contains("is a folder"));
        assert!(whole_file(&folder.path().join("none/x"), bytes(b"")).unwrap_err().message.contains("none/x: "));
    }

    #[test]
    #[cfg(unix)]
    fn a_link_stays_one_and_a_device_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        whole_file(&link, bytes(b"new")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
        // Writing to one is left to people: a test that fails would replace the device of this machine.
        assert!(is_special(Path::new("/dev/null")));
        assert!(!is_special(&link) && !is_special(&folder.path().join("none")));
    }

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["é".to_owned(), "7".to_owned()], vec!["long".to_owned(), "12".to_owned()]];
        assert_eq!(table(&["name", "n"], &rows, &[1]), "name   n\né      7\nlong  12\n");
    }
}
