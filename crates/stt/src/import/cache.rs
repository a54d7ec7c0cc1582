//! Converted files, kept in the folder `converted` beside the source.
//!
//! The name of a file tells what is in it: the SHA-256 of weights and vocabulary, the importer's version, the
//! quantisation. A file appears whole or not at all, and one process at a time converts.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

use super::blocks::Quantisation;
use super::ggml::{self, GgmlModel};
use super::source::{Source, fault};
use crate::transcriber::SttError;
use crate::vocabulary::{WORDS, words_of};

/// Raised when the importer writes something else for the same source.
const VERSION: u32 = 1;

/// A step of an import: what is being done, how much of it, and of how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportStep {
    /// `reading` or `converting`.
    pub what: &'static str,
    /// Done so far, in the unit of `total`.
    pub done: u64,
    /// All of it.
    pub total: u64,
}

/// The folder of the converted files of a source.
pub(crate) fn folder(source: &Source) -> PathBuf {
    source.weights.with_file_name("converted")
}

/// SHA-256 of a source's weights. A note of it, with size and time of the file, saves reading 100 MB at every start.
pub(crate) fn digest(path: &Path, notes: &Path) -> Result<String, SttError> {
    let failed = |error: io::Error| fault(path, error);
    let about = fs::metadata(path).map_err(failed)?;
    let changed = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let changed = changed.map_or(0, |time| time.as_nanos());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (note, suffix) = (notes.join(format!("{name}.sha256")), format!(" {} {changed}\n", about.len()));
    if let Some(digest) = fs::read_to_string(&note).ok().and_then(|text| text.strip_suffix(&suffix).map(str::to_owned))
        && digest.len() == 64
    {
        return Ok(digest);
    }
    let digest = sha256(path).map_err(failed)?;
    if notes.is_dir() {
        // Only a short cut: where it cannot be written, the file is read again next time.
        let _ = fs::write(&note, format!("{digest}{suffix}"));
    }
    Ok(digest)
}

fn sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            count => hash.update(&buffer[..count]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The ggml file for a source, converted when it is not there or damaged.
pub(crate) fn converted(
    source: &Source,
    kind: Quantisation,
    progress: &mut dyn FnMut(ImportStep),
) -> Result<(PathBuf, GgmlModel, String), SttError> {
    let folder = folder(source);
    let failed = |error: io::Error| fault(&folder, error);
    let (tokenizer, json) = source.vocabulary()?;
    // A damaged source is refused before it leaves anything behind.
    let words = words_of(&json).map_err(|problem| fault(&tokenizer, problem))?;
    let digest = digest(&source.weights, &folder)?;
    let vocabulary = hex(&Sha256::digest(&json));
    let name = format!("{}-{}-v{VERSION}-{}.bin", &digest[..16], &vocabulary[..8], kind.name());
    let path = folder.join(&name);
    if let Ok(model) = ggml::check(&path) {
        return Ok((path, model, digest));
    }
    progress(ImportStep { what: "reading", done: 0, total: 1 });
    let weights = source.read()?;
    crate::vocabulary::Vocabulary::from_json(&json, weights.shape.vocabulary)
        .map_err(|problem| fault(&tokenizer, problem))?;
    debug_assert_eq!(words.len(), WORDS);
    fs::create_dir_all(&folder).map_err(failed)?;
    let lock = File::create(folder.join("lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    if let Ok(model) = ggml::check(&path) {
        return Ok((path, model, digest));
    }
    let part = folder.join(format!("{name}.part"));
    let mut write = || -> io::Result<()> {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&part)?);
        let mut step = |done, total| progress(ImportStep { what: "converting", done, total });
        ggml::write(&weights, &words, kind, &mut file, &mut step)?;
        file.flush()?;
        file.get_ref().sync_all()
    };
    let written = write();
    if let Err(error) = written.and_then(|()| fs::rename(&part, &path)) {
        let _ = fs::remove_file(&part);
        return Err(failed(error));
    }
    let model = ggml::check(&path).map_err(|problem| fault(&path, problem))?;
    let noted = self::digest(&source.weights, &folder)?;
    Ok((path, model, noted))
}

#[cfg(test)]
mod tests {
    use super::super::source::Form;
    use super::*;

    #[test]
    fn a_digest_is_noted_and_follows_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights");
        fs::write(&path, b"abc").unwrap();
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(&path, folder.path()).unwrap(), known);
        assert!(fs::read_to_string(folder.path().join("weights.sha256")).unwrap().starts_with(known));
        assert_eq!(digest(&path, folder.path()).unwrap(), known);
        fs::write(&path, b"abcd").unwrap();
        assert_ne!(digest(&path, folder.path()).unwrap(), known);
    }

    #[test]
    fn a_damaged_source_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let weights = folder.path().join("model.bin");
        fs::write(&weights, [6, 0, 0, 0, 12, 0, b'W']).unwrap();
        let tokenizer = folder.path().join("tokenizer.json");
        fs::write(&tokenizer, crate::vocabulary::tests::made_up(false)).unwrap();
        let source = Source { form: Form::Ct2, weights, tokenizer: Some(tokenizer.clone()) };
        let error = converted(&source, Quantisation::Q8, &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains("ends inside the specification"), "{error}");
        assert!(!folder.path().join("converted").exists());
        fs::write(&tokenizer, b"{}").unwrap();
        let error = converted(&source, Quantisation::Q8, &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains("tokenizer.json"), "{error}");
    }
}
