//! Which head listens for the wake word where none is named, and its threshold.
//!
//! What was typed, else the setting `speech.wake_head`, else the head that `promote accept wake` has put into service, else
//! the shipped one.

use std::path::{Path, PathBuf};

use tenpass_train::wake::Record;
use tenpass_wake::Head;

use super::shadow::Places;
use crate::context::Context;
use crate::failure::Failure;

/// The shipped head, in the project.
const SHIPPED: &str = "corpora/wake/kora.onnx";

// The shipped head and its record in the program itself, where the source tree had one: `EMBEDDED`.
include!(concat!(env!("OUT_DIR"), "/shipped_head.rs"));

/// A head lets go at this share of the threshold at which it fires.
pub(super) const OFF_OF_ON: f32 = 0.6;

/// Where a head was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// It was named.
    Typed,
    /// The setting names it.
    Setting,
    /// It is in service, since then.
    Service(String),
    /// It came with the program.
    Shipped,
}

/// A head that is meant.
#[derive(Debug, Clone)]
pub(super) struct ChosenHead {
    /// What it is called: its file's name without the ending, as it was when it was put into service.
    pub(super) name: String,
    /// Its file.
    pub(super) path: PathBuf,
    /// The threshold that its training has chosen, as the file beside it says.
    pub(super) threshold: Option<f32>,
    /// Where it was found.
    pub(super) origin: Origin,
}

impl ChosenHead {
    fn new(path: &Path, origin: Origin) -> Self {
        let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Self { name, path: path.to_owned(), threshold: threshold_beside(path), origin }
    }

    /// Reads it.
    pub(super) fn load(&self) -> Result<Head, Failure> {
        if !matches!(self.origin, Origin::Service(_)) {
            return Ok(Head::load(&self.path)?);
        }
        // In service every head has the same file name; events are told with its own.
        let bytes = std::fs::read(&self.path).map_err(|error| Failure::file(&self.path, &error))?;
        Ok(Head::parse(&self.name, &bytes)?)
    }

    /// Its name and where it was found.
    pub(super) fn told(&self) -> String {
        match &self.origin {
            Origin::Typed => self.path.display().to_string(),
            Origin::Setting => format!("{} (the setting speech.wake_head)", self.path.display()),
            Origin::Service(since) => format!("{} (in service since {since})", self.name),
            Origin::Shipped => format!("{} (the shipped head)", self.name),
        }
    }

    /// Its threshold as it is printed.
    pub(super) fn threshold_told(&self) -> String {
        self.threshold.map_or_else(|| "0.5".to_owned(), |threshold| format!("{threshold:.3}"))
    }
}

/// The heads that were typed, or the one that is meant without any.
pub(super) fn heads(context: &Context, typed: &[PathBuf]) -> Result<Vec<ChosenHead>, Failure> {
    if typed.is_empty() {
        return Ok(vec![head(context, None)?]);
    }
    Ok(typed.iter().map(|path| ChosenHead::new(path, Origin::Typed)).collect())
}

/// The head that was typed, or the one that is meant without it.
pub(super) fn head(context: &Context, typed: Option<&Path>) -> Result<ChosenHead, Failure> {
    head_of(context, &Places::new(context, None), typed)
}

/// The same with another folder of the head in service.
pub(super) fn head_of(context: &Context, places: &Places, typed: Option<&Path>) -> Result<ChosenHead, Failure> {
    if let Some(path) = typed {
        return Ok(ChosenHead::new(path, Origin::Typed));
    }
    if let Some(path) = &context.resolved.settings.speech.wake_head {
        return Ok(ChosenHead::new(path, Origin::Setting));
    }
    if let Some(head) = in_service(places)? {
        return Ok(head);
    }
    shipped(context, places)?.ok_or_else(|| {
        Failure::backend("no wake word is set up: no head is named, in service or shipped").hint(
            "train one: `tenpass train wake --word kora`; then name it with --head or the setting speech.wake_head, or put \
             it into service: `tenpass promote accept wake --candidate kora.onnx --despite \"the first\"`",
        )
    })
}

/// The head in service, if there is one.
pub(super) fn in_service(places: &Places) -> Result<Option<ChosenHead>, Failure> {
    let service = places.service()?;
    let Some((path, head)) = service.head().zip(service.current()?) else { return Ok(None) };
    let name = head.name.strip_suffix(".onnx").unwrap_or(&head.name).to_owned();
    Ok(Some(ChosenHead { name, path, threshold: head.threshold, origin: Origin::Service(head.since.to_string()) }))
}

/// The shipped head: the project's, or the program's own, which is written into the data folder, where whatever takes a
/// file finds it.
fn shipped(context: &Context, places: &Places) -> Result<Option<ChosenHead>, Failure> {
    let project = context.home.project.as_ref().map(|project| project.join(SHIPPED)).filter(|path| path.is_file());
    if let Some(path) = project {
        return Ok(Some(ChosenHead::new(&path, Origin::Shipped)));
    }
    let Some((head, record)) = EMBEDDED else { return Ok(None) };
    let path = places.folder.join("shipped").join("kora.onnx");
    write_if_other(&path, head)?;
    write_if_other(&Record::path(&path), record)?;
    Ok(Some(ChosenHead::new(&path, Origin::Shipped)))
}

/// Writes a file in one rename, unless it is there with these bytes.
fn write_if_other(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if std::fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let failed = |error: std::io::Error| Failure::file(path, &error);
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    std::io::Write::write_all(&mut file, bytes).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// The threshold that a head brings in the file beside it: the record of a training, or `service.json`.
pub(super) fn threshold_beside(head: &Path) -> Option<f32> {
    let text = std::fs::read_to_string(Record::path(head)).ok()?;
    let beside: serde_json::Value = serde_json::from_str(&text).ok()?;
    beside["threshold"].as_f64().map(|threshold| threshold as f32).filter(|on| *on > 0.0 && *on <= 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_read_beside_the_head_and_nonsense_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let head = folder.path().join("kora.onnx");
        assert_eq!(threshold_beside(&head), None);
        for (text, expected) in [
            (r#"{"threshold": 0.71}"#, Some(0.71)),
            (r#"{"threshold": 7}"#, None),
            (r#"{"threshold": 0}"#, None),
            (r#"{"word": "kora"}"#, None),
            ("{", None),
        ] {
            std::fs::write(folder.path().join("kora.json"), text).unwrap();
            assert_eq!(threshold_beside(&head), expected, "{text}");
        }
        let chosen = ChosenHead::new(&head, Origin::Shipped);
        assert_eq!((chosen.name.as_str(), chosen.threshold_told().as_str()), ("kora", "0.5"));
        assert_eq!(chosen.told(), "kora (the shipped head)");
    }

    #[test]
    fn a_file_is_written_once_and_again_when_it_differs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shipped/kora.onnx");
        write_if_other(&path, b"one").unwrap();
        write_if_other(&path, b"one").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        write_if_other(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path().join("shipped")).unwrap().count(), 1);
    }
}
