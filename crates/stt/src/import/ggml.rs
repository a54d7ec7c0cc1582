//! whisper.cpp's model file: writing one, and checking one before whisper.cpp reads it.
//!
//! Little-endian 32-bit words: `ggml`, eleven dimensions, the mel filters, the vocabulary (length and bytes of each
//! token), then every tensor: rank, length of its name, type, dimensions innermost first, name, data.
//! whisper.cpp trusts what it reads: a bad vocabulary ends the process. So nothing reaches it that was not
//! checked here.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::blocks::{BLOCK, Quantisation};
use super::mel::{BINS, mel_filters};
use super::shape::{ModelShape, Role};
use super::weights::{Values, Weights};
use crate::vocabulary::{Special, WORDS};

const MAGIC: u32 = 0x6767_6d6c;

/// Longest token that is believed.
const MAX_TOKEN: u32 = 1024;

/// ggml's types that whisper.cpp computes with: number, name, values in a block, bytes of a block.
const TYPES: [(i32, &str, usize, usize); 7] = [
    (0, "f32", 1, 4),
    (1, "f16", 1, 2),
    (2, "q4_0", 32, 18),
    (3, "q4_1", 32, 20),
    (6, "q5_0", 32, 22),
    (7, "q5_1", 32, 24),
    (8, "q8_0", 32, 34),
];

/// ggml's number of a file type and that of the matrices in such a file.
const FILE_TYPES: [(i32, i32); 7] = [(0, 0), (1, 1), (2, 2), (3, 3), (7, 8), (8, 6), (9, 7)];

/// What a ggml file is.
#[derive(Debug)]
pub(crate) struct GgmlModel {
    pub(crate) shape: ModelShape,
    pub(crate) words: Vec<Vec<u8>>,
    /// ggml's name of the type of its matrices.
    pub(crate) quantisation: &'static str,
}

/// True for bytes that begin as such a file does.
pub(crate) fn is_ggml(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC.to_le_bytes())
}

/// Writes a model. `progress` is told bytes done and in all.
pub(crate) fn write(
    weights: &Weights,
    words: &[Vec<u8>],
    kind: Quantisation,
    into: &mut dyn Write,
    progress: &mut dyn FnMut(u64, u64),
) -> io::Result<()> {
    let shape = &weights.shape;
    let word = |value: usize| (value as i32).to_le_bytes();
    into.write_all(&MAGIC.to_le_bytes())?;
    for value in [shape.vocabulary, shape.audio_context, shape.state, shape.heads, shape.audio_layers] {
        into.write_all(&word(value))?;
    }
    for value in [shape.text_context, shape.state, shape.heads, shape.text_layers, shape.mels] {
        into.write_all(&word(value))?;
    }
    into.write_all(&kind.file_type().to_le_bytes())?;
    into.write_all(&[word(shape.mels), word(BINS)].concat())?;
    for filter in mel_filters(shape.mels) {
        into.write_all(&filter.to_le_bytes())?;
    }
    into.write_all(&word(words.len()))?;
    for token in words {
        into.write_all(&word(token.len()))?;
        into.write_all(token)?;
    }
    let parts = shape.parts();
    let total: u64 = parts.iter().map(|part| part.elements() as u64).sum();
    let mut done = 0;
    for part in &parts {
        let Some(values) = weights.values(part) else {
            return Err(io::Error::other(format!("no tensor {}", part.name)));
        };
        let number = match part.role {
            Role::Exact => 0,
            Role::Kernel => 1,
            Role::Matrix => kind.ggml_type(),
        };
        into.write_all(&[word(part.dims.len()), word(part.name.len()), number.to_le_bytes()].concat())?;
        for dim in part.dims.iter().rev() {
            into.write_all(&word(*dim))?;
        }
        into.write_all(part.name.as_bytes())?;
        into.write_all(&encoded(values, part.role, kind))?;
        done += part.elements() as u64;
        progress(done, total);
    }
    into.flush()
}

fn encoded(values: &Values, role: Role, kind: Quantisation) -> Vec<u8> {
    let mut bytes = Vec::new();
    match role {
        Role::Exact => bytes.extend(values.to_f32().iter().flat_map(|value| value.to_le_bytes())),
        Role::Kernel => Quantisation::F16.encode(&values.to_f32(), &mut bytes),
        Role::Matrix => match (values, kind) {
            (Values::Half(half), Quantisation::F16) => {
                bytes.extend(half.iter().flat_map(|value| value.to_le_bytes()));
            }
            _ => kind.encode(&values.to_f32(), &mut bytes),
        },
    }
    bytes
}

/// Reads everything but the weights of a file, and says what is wrong with it.
pub(crate) fn check(path: &Path) -> Result<GgmlModel, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let size = file.metadata().map_err(|error| error.to_string())?.len();
    Checker { file: BufReader::with_capacity(1 << 16, file), at: 0, size }.run()
}

struct Checker {
    file: BufReader<File>,
    at: u64,
    size: u64,
}

impl Checker {
    fn run(mut self) -> Result<GgmlModel, String> {
        if self.word("the mark")? != MAGIC {
            return Err("is no ggml file of Whisper".to_owned());
        }
        let mut dims = [0usize; 10];
        for dim in &mut dims {
            *dim = self.word("the dimensions")? as usize;
        }
        let [
            vocabulary,
            audio_context,
            state,
            heads,
            audio_layers,
            text_context,
            text_state,
            text_heads,
            text_layers,
            mels,
        ] = dims;
        let shape =
            ModelShape { vocabulary, audio_context, state, heads, audio_layers, text_context, text_layers, mels };
        shape.check()?;
        if (text_state, text_heads) != (state, heads) {
            return Err(format!("decoder {text_state} wide with {text_heads} heads, encoder {state} with {heads}"));
        }
        let file_type = self.word("the file type")? as i32 % 1000;
        let matrices = FILE_TYPES.iter().find(|(number, _)| *number == file_type).map(|(_, matrices)| *matrices);
        let matrices = matrices.ok_or_else(|| format!("weights of file type {file_type}, which are not supported"))?;
        let filters = (self.word("the mel filters")? as usize, self.word("the mel filters")? as usize);
        if filters != (mels, BINS) {
            return Err(format!("mel filters of {} × {} and not {mels} × {BINS}", filters.0, filters.1));
        }
        self.skip((mels * BINS * 4) as u64, "the mel filters")?;
        let words = self.words(&shape)?;
        self.tensors(&shape, matrices)?;
        let quantisation = TYPES.iter().find(|kind| kind.0 == matrices).map_or("f16", |kind| kind.1);
        Ok(GgmlModel { shape, words, quantisation })
    }

    /// The vocabulary. What the file leaves out, whisper.cpp names itself; it may not have too many.
    fn words(&mut self, shape: &ModelShape) -> Result<Vec<Vec<u8>>, String> {
        let count = self.word("the vocabulary")? as usize;
        if !(WORDS - 1..=shape.vocabulary).contains(&count) {
            return Err(format!("a vocabulary of {count} tokens; it should be {WORDS}"));
        }
        let mut words = Vec::with_capacity(count);
        for id in 0..count {
            let length = self.word("the vocabulary")?;
            if length > MAX_TOKEN {
                return Err(format!("token {id} has {length} bytes"));
            }
            words.push(self.bytes(length as usize, "the vocabulary")?);
        }
        if !words.iter().any(|word| word == b" ") {
            return Err("its vocabulary has no token for a blank".to_owned());
        }
        words.truncate(Special::of(shape.vocabulary).end as usize);
        Ok(words)
    }

    fn tensors(&mut self, shape: &ModelShape, matrices: i32) -> Result<(), String> {
        let mut expected: std::collections::HashMap<String, _> =
            shape.parts().into_iter().map(|part| (part.name.clone(), part)).collect();
        while self.at < self.size {
            let (rank, length, number) =
                (self.word("a tensor")?, self.word("a tensor")?, self.word("a tensor")? as i32);
            if rank > 4 || length > 256 {
                return Err(format!("a tensor of rank {rank} whose name has {length} bytes"));
            }
            let mut dims =
                (0..rank).map(|_| self.word("a tensor").map(|dim| dim as usize)).collect::<Result<Vec<_>, _>>()?;
            dims.reverse();
            let name = String::from_utf8(self.bytes(length as usize, "a tensor")?)
                .map_err(|_| "a tensor's name is no text")?;
            let part = expected.remove(&name).ok_or_else(|| format!("tensor {name} is unknown or there twice"))?;
            let wanted = match part.role {
                Role::Exact => 0,
                // whisper.cpp keeps kernels in 16 bits unless all is in 32.
                Role::Kernel => i32::from(matrices != 0),
                Role::Matrix => matrices,
            };
            if dims != part.dims || number != wanted {
                return Err(format!(
                    "tensor {name} is {dims:?} of type {number} and not {:?} of type {wanted}",
                    part.dims
                ));
            }
            let (_, _, block, bytes) = TYPES.iter().find(|kind| kind.0 == number).ok_or("a tensor of unknown type")?;
            debug_assert!(*block == 1 || *block == BLOCK);
            self.skip((part.elements() / block * bytes) as u64, &name)?;
        }
        let mut missing: Vec<_> = expected.into_keys().collect();
        missing.sort();
        match missing.first() {
            None => Ok(()),
            Some(first) => Err(format!("ends early: {} tensors are missing, {first} among them", missing.len())),
        }
    }

    fn bytes(&mut self, count: usize, what: &str) -> Result<Vec<u8>, String> {
        self.advance(count as u64, what)?;
        let mut bytes = vec![0; count];
        self.file.read_exact(&mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    fn word(&mut self, what: &str) -> Result<u32, String> {
        self.advance(4, what)?;
        let mut bytes = [0; 4];
        self.file.read_exact(&mut bytes).map_err(|error| error.to_string())?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn skip(&mut self, count: u64, what: &str) -> Result<(), String> {
        self.advance(count, what)?;
        self.file.seek(SeekFrom::Start(self.at)).map(drop).map_err(|error| error.to_string())
    }

    fn advance(&mut self, count: u64, what: &str) -> Result<(), String> {
        if count > self.size - self.at {
            return Err(format!("ends inside {what}: {} bytes are there, {count} are wanted", self.size - self.at));
        }
        self.at += count;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::weights::tests::small;
    use super::*;
    use crate::vocabulary::tests::made_up;
    use crate::vocabulary::words_of;

    fn written(kind: Quantisation) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut last = (0, 1);
        write(&small(), &words_of(&made_up(false)).unwrap(), kind, &mut bytes, &mut |done, total| last = (done, total))
            .unwrap();
        assert_eq!(last.0, last.1);
        bytes
    }

    fn checked(bytes: &[u8]) -> Result<GgmlModel, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        check(file.path())
    }

    #[test]
    fn what_is_written_passes_the_check() {
        for (kind, name) in [(Quantisation::F16, "f16"), (Quantisation::Q8, "q8_0"), (Quantisation::Q5, "q5_1")] {
            let model = checked(&written(kind)).unwrap();
            assert_eq!((model.quantisation, model.shape), (name, small().shape));
            assert_eq!(model.words.len(), 50_256);
            assert_eq!(model.words[usize::from(b'k')], b"k");
        }
    }

    #[test]
    fn damaged_files_are_named_by_what_is_wrong() {
        let whole = written(Quantisation::Q8);
        let of = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = whole.clone();
            change(&mut bytes);
            checked(&bytes).unwrap_err()
        };
        assert!(of(&|bytes| bytes[0] = b'x').contains("no ggml file"));
        assert!(of(&|bytes| bytes.truncate(2)).contains("ends inside the mark"));
        assert!(
            of(&|bytes| bytes[4] ^= 1).contains("vocabulary of 51865") || of(&|bytes| bytes[4] ^= 1).contains("tensor")
        );
        assert!(of(&|bytes| bytes.truncate(bytes.len() - 1)).contains("ends inside"));
        assert!(of(&|bytes| bytes.truncate(bytes.len() / 2)).contains("ends inside"));
        assert!(of(&|bytes| bytes.push(0)).contains("ends inside a tensor"));
        let vocabulary = 4 * 12 + 8 + 80 * BINS * 4;
        assert!(of(&|bytes| bytes[vocabulary + 1] = 0xff).contains("a vocabulary of"));
        assert!(of(&|bytes| bytes[vocabulary + 4..vocabulary + 8].fill(0xff)).contains("token 0 has"));
        assert!(of(&|bytes| bytes[44] = 99).contains("file type"));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn no_change_of_the_head_makes_it_panic(at in 0usize..48, value: u8, cut in 0usize..70_000) {
            static WHOLE: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| written(Quantisation::Q5));
            let mut bytes = WHOLE[..cut.max(48)].to_vec();
            bytes[at] = value;
            proptest::prop_assert!(checked(&bytes).is_err());
        }
    }
}
