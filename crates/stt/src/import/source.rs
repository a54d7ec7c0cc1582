//! What lies at a path: a CTranslate2 file, a folder of Hugging Face's layout, or a ggml file.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::folder;
use super::weights::Weights;
use super::{ct2, ggml};
use crate::transcriber::SttError;

/// No model of the family is larger than about 3 GB; what is larger is something else.
const MAX_BYTES: u64 = 8 << 30;

/// The form of a model's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Ct2,
    Folder,
    Ggml,
}

/// A model's files.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) form: Form,
    /// The file with the weights.
    pub(crate) weights: PathBuf,
    /// The vocabulary; a ggml file brings its own.
    pub(crate) tokenizer: Option<PathBuf>,
}

pub(crate) fn fault(path: &Path, problem: impl ToString) -> SttError {
    SttError::Model { path: path.to_owned(), problem: problem.to_string() }
}

impl Source {
    /// Finds out what a path is. A vocabulary that is not named lies beside the weights as `tokenizer.json`.
    pub(crate) fn find(path: &Path, tokenizer: Option<&Path>) -> Result<Self, SttError> {
        let weights = if path.is_dir() { within(path)? } else { path.to_owned() };
        let beside = weights.with_file_name("tokenizer.json");
        let tokenizer = tokenizer.map(Path::to_owned).or_else(|| beside.is_file().then_some(beside));
        if weights.extension().is_some_and(|extension| extension == "safetensors") {
            return Ok(Self { form: Form::Folder, weights, tokenizer });
        }
        let mut head = Vec::new();
        let file = File::open(&weights).map_err(|error| fault(&weights, error))?;
        file.take(1024).read_to_end(&mut head).map_err(|error| fault(&weights, error))?;
        let form = if ggml::is_ggml(&head) {
            Form::Ggml
        } else if ct2::is_ct2(&head) {
            Form::Ct2
        } else {
            let known = "a CTranslate2 model.bin, a ggml .bin or a folder with model.safetensors";
            let problem = if head.is_empty() { "is empty" } else { "is no Whisper model" };
            return Err(fault(&weights, format!("{problem}; {known} is wanted")));
        };
        Ok(Self { form, weights, tokenizer })
    }

    /// The vocabulary's bytes.
    pub(crate) fn vocabulary(&self) -> Result<(PathBuf, Vec<u8>), SttError> {
        let Some(path) = &self.tokenizer else {
            return Err(fault(&self.weights, "its tokenizer.json is not beside it"));
        };
        let json = read_whole(path, 64 << 20)?;
        Ok((path.clone(), json))
    }

    /// All of the weights.
    pub(crate) fn read(&self) -> Result<Weights, SttError> {
        let weights = match self.form {
            Form::Ct2 => ct2::read(&read_whole(&self.weights, MAX_BYTES)?),
            Form::Folder => {
                let config = self.weights.with_file_name("config.json");
                let shape = folder::shape(&read_whole(&config, 1 << 20)?).map_err(|problem| fault(&config, problem))?;
                folder::read(&self.weights, shape)
            }
            Form::Ggml => Err("is a ggml file, which only whisper.cpp reads".to_owned()),
        };
        weights.map_err(|problem| fault(&self.weights, problem))
    }
}

fn within(folder: &Path) -> Result<PathBuf, SttError> {
    let names = ["model.safetensors", "model.bin"];
    let found = names.map(|name| folder.join(name)).into_iter().find(|path| path.is_file());
    found.ok_or_else(|| fault(folder, "has neither model.safetensors nor model.bin"))
}

fn read_whole(path: &Path, most: u64) -> Result<Vec<u8>, SttError> {
    let size = std::fs::metadata(path).map_err(|error| fault(path, error))?.len();
    if size > most {
        return Err(fault(path, format!("has {size} bytes, which is too large")));
    }
    std::fs::read(path).map_err(|error| fault(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_are_no_model_say_so() {
        let folder = tempfile::tempdir().unwrap();
        let of = |path: &Path| Source::find(path, None).unwrap_err().to_string();
        assert!(of(folder.path()).contains("neither model.safetensors nor model.bin"));
        assert!(of(&folder.path().join("absent.bin")).contains("absent.bin"));
        let path = folder.path().join("model.bin");
        std::fs::write(&path, b"").unwrap();
        assert!(of(folder.path()).contains("is empty"));
        std::fs::write(&path, b"RIFF and so on").unwrap();
        assert!(of(&path).contains("is no Whisper model"));
        std::fs::write(&path, [b"lmgg".as_slice(), &[0; 8]].concat()).unwrap();
        let found = Source::find(&path, None).unwrap();
        assert_eq!((found.form, found.tokenizer.is_none()), (Form::Ggml, true));
        assert!(found.vocabulary().unwrap_err().to_string().contains("tokenizer.json"));
        std::fs::write(folder.path().join("model.safetensors"), b"").unwrap();
        assert_eq!(Source::find(folder.path(), None).unwrap().form, Form::Folder);
    }
}
