//! Opens a log of either form and reads its parts, within limits.
//!
//! An entry is read whole and never grows beyond [`ENTRY_BYTES`]; all entries together not beyond
//! [`GROWTH`] times the file. `.json` logs are read sample by sample.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use zip::{CompressionMethod, ZipArchive};

use super::finite::Finite;
use super::header::LOG_VERSION;
use super::log::{Header, Sample};
use crate::ExchangeError;

/// Bytes of one entry, unpacked.
const ENTRY_BYTES: u64 = 512 << 20;
/// Entries of a log: a million samples with their journal.
const ENTRIES: u64 = 1_200_000;
/// How much larger than the file everything in it may be; text of a conversation packs 20 to 50 to 1.
const GROWTH: u64 = 200;
/// What may be unpacked of a file of any size.
const UNPACKED_BYTES: u64 = 1 << 30;

/// How much is read of an archive.
#[derive(Debug, Clone, Copy)]
struct Limits {
    entries: u64,
    /// Of one entry.
    entry_bytes: u64,
    /// Of all that are still to come.
    left_bytes: u64,
}

impl Limits {
    fn of(file_bytes: u64) -> Self {
        let left_bytes = UNPACKED_BYTES.max(file_bytes.saturating_mul(GROWTH));
        Self { entries: ENTRIES, entry_bytes: ENTRY_BYTES, left_bytes }
    }
}

const FORMAT: &str = "an Inspect log";
/// What a `.json` log is called in messages: it has no entries.
const WHOLE: &str = "the log";

/// A log, open for reading.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Archive { archive: Box<ZipArchive<BufReader<File>>>, limits: Limits },
    Json,
}

impl LogFile {
    pub(crate) fn open(path: &Path) -> Result<Self, ExchangeError> {
        Self::open_within(path, Limits::of)
    }

    /// Opens it within limits that depend on the file's size.
    fn open_within(path: &Path, limits: impl Fn(u64) -> Limits) -> Result<Self, ExchangeError> {
        let failed = |error| ExchangeError::read(path, error);
        let mut file = File::open(path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let mut first = [0; 2];
        let count = read_up_to(&mut file, &mut first).map_err(failed)?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let bad = |reason: String| ExchangeError::Format { path: path.to_owned(), format: FORMAT, reason };
        let form = match first {
            [b'P', b'K'] if count == 2 => {
                let archive = ZipArchive::new(BufReader::new(file)).map_err(|error| bad(error.to_string()))?;
                let limits = limits(size);
                if archive.len() as u64 > limits.entries {
                    let limit = limits.entries;
                    let entry = "the archive".to_owned();
                    return Err(ExchangeError::TooLarge { path: path.to_owned(), entry, limit, unit: "entries" });
                }
                Form::Archive { archive: Box::new(archive), limits }
            }
            [b'{' | b' ' | b'\n' | b'\r' | b'\t', _] if count == 2 => Form::Json,
            _ => return Err(bad("it is neither a ZIP archive nor JSON".to_owned())),
        };
        Ok(Self { path: path.to_owned(), form })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The log without its samples.
    pub(crate) fn header(&mut self) -> Result<Header, ExchangeError> {
        let header: Header = match &mut self.form {
            Form::Archive { archive, .. } => {
                // A log that is being written, or was never finished, has only its beginning.
                let names = ["header.json", "_journal/start.json"];
                let Some(name) = names.into_iter().find(|name| archive.index_for_name(name).is_some()) else {
                    let reason = "it has neither header.json nor _journal/start.json".to_owned();
                    return Err(ExchangeError::Format { path: self.path.clone(), format: FORMAT, reason });
                };
                let bytes = self.entry(name)?;
                parse(&self.path, name, &bytes)?
            }
            Form::Json => parse_with(&self.path, WHOLE, &mut serde_json::Deserializer::from_reader(self.reader()?))?,
        };
        match header.version {
            Some(version) if version > LOG_VERSION => Err(ExchangeError::Format {
                path: self.path.clone(),
                format: FORMAT,
                reason: format!("it has format {version}, this program reads up to {LOG_VERSION}"),
            }),
            _ => Ok(header),
        }
    }

    /// Hands every sample to `each`, with the name of its entry.
    pub(crate) fn samples(
        &mut self,
        mut each: impl FnMut(&str, Sample) -> Result<(), ExchangeError>,
    ) -> Result<(), ExchangeError> {
        let names: Vec<String> = match &self.form {
            Form::Json => return self.json_samples(each),
            Form::Archive { archive, .. } => {
                let is_sample = |name: &str| Some(name.strip_prefix("samples/")?.strip_suffix(".json")?.len());
                archive.file_names().filter(|name| is_sample(name).is_some()).map(str::to_owned).collect()
            }
        };
        for name in names {
            let bytes = self.entry(&name)?;
            each(&name, parse(&self.path, &name, &bytes)?)?;
        }
        Ok(())
    }

    /// The lines of an entry as records; `None` when the log has none of this name.
    pub(crate) fn lines<T: DeserializeOwned>(
        &mut self,
        name: &str,
        mut each: impl FnMut(T) -> Result<(), ExchangeError>,
    ) -> Result<Option<()>, ExchangeError> {
        let limits = match &self.form {
            Form::Archive { archive, limits } if archive.index_for_name(name).is_some() => *limits,
            _ => return Ok(None),
        };
        let path = self.path.clone();
        self.unpack(name, limits.left_bytes, |entry| {
            let mut line = Vec::new();
            for number in 1_u64.. {
                line.clear();
                let place = format!("{name}:{number}");
                let count = entry.take(limits.entry_bytes).read_until(b'\n', &mut line);
                if count.map_err(|error| ExchangeError::entry(&path, &place, error.to_string()))? == 0 {
                    break;
                }
                if !line.trim_ascii().is_empty() {
                    each(parse(&path, &place, &line)?)?;
                }
            }
            Ok(())
        })?;
        Ok(Some(()))
    }

    fn reader(&self) -> Result<BufReader<Finite<File>>, ExchangeError> {
        let file = File::open(&self.path).map_err(|error| ExchangeError::read(&self.path, error))?;
        Ok(BufReader::new(Finite::new(file)))
    }

    fn json_samples(&self, each: impl FnMut(&str, Sample) -> Result<(), ExchangeError>) -> Result<(), ExchangeError> {
        let mut samples = Samples { path: &self.path, each, failed: None };
        let mut input = serde_json::Deserializer::from_reader(self.reader()?);
        let read = (&mut samples).deserialize(&mut input).and_then(|()| input.end());
        match (samples.failed, read) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(ExchangeError::entry(&self.path, WHOLE, error.to_string())),
            (None, Ok(())) => Ok(()),
        }
    }

    /// One entry, unpacked.
    fn entry(&mut self, name: &str) -> Result<Vec<u8>, ExchangeError> {
        let limit = match &self.form {
            Form::Archive { limits, .. } => limits.entry_bytes.min(limits.left_bytes),
            Form::Json => 0,
        };
        let path = self.path.clone();
        self.unpack(name, limit, |entry| {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(|error| ExchangeError::entry(&path, name, error.to_string()))?;
            Ok(bytes)
        })
    }

    /// Hands an entry to `read`, which gets an error once more than `limit` bytes have come out of it.
    fn unpack<T>(
        &mut self,
        name: &str,
        limit: u64,
        read: impl FnOnce(&mut dyn BufRead) -> Result<T, ExchangeError>,
    ) -> Result<T, ExchangeError> {
        let path = self.path.clone();
        let bad = |reason: &dyn fmt::Display| ExchangeError::entry(&path, name, reason.to_string());
        let Form::Archive { archive, limits } = &mut self.form else {
            return Err(bad(&"a JSON log has no entries"));
        };
        let place = archive.index_for_name(name).ok_or_else(|| bad(&"it is not there"))?;
        let raw = archive.by_index_raw(place).map_err(|error| bad(&error))?;
        let (method, crc32) = (raw.compression(), raw.crc32());
        // Inspect packs with zstd, which the archive's own reader does not know, nor the checksum then.
        let is_zstd = method == CompressionMethod::ZSTD;
        let input: Box<dyn Read + '_> = if is_zstd {
            Box::new(zstd::stream::read::Decoder::new(raw).map_err(|error| bad(&error))?)
        } else {
            drop(raw);
            Box::new(archive.by_index(place).map_err(|error| bad(&error))?)
        };
        let mut counted =
            BufReader::new(Counted { input, left: limit, is_over: false, crc32: crc32fast::Hasher::new() });
        let result = read(&mut counted);
        let is_whole = io::copy(&mut counted, &mut io::sink());
        let Counted { left, is_over, crc32: found, .. } = counted.into_inner();
        if is_over {
            return Err(ExchangeError::TooLarge { path, entry: name.to_owned(), limit, unit: "bytes" });
        }
        let result = result?;
        is_whole.map_err(|error| bad(&error))?;
        if is_zstd && found.finalize() != crc32 {
            return Err(bad(&"its checksum is wrong"));
        }
        limits.left_bytes = limits.left_bytes.saturating_sub(limit - left);
        Ok(result)
    }
}

/// Counts what is unpacked, and stops when it is too much.
struct Counted<'a> {
    input: Box<dyn Read + 'a>,
    left: u64,
    is_over: bool,
    crc32: crc32fast::Hasher,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        if count as u64 > self.left {
            self.is_over = true;
            return Err(io::Error::other("more than is read of it"));
        }
        self.left -= count as u64;
        self.crc32.update(&buffer[..count]);
        Ok(count)
    }
}

fn read_up_to(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < buffer.len() {
        match file.read(&mut buffer[count..])? {
            0 => break,
            more => count += more,
        }
    }
    Ok(count)
}

/// Reads JSON, or names the entry and the field.
fn parse<T: DeserializeOwned>(path: &Path, entry: &str, bytes: &[u8]) -> Result<T, ExchangeError> {
    let has = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
    if !has(b"NaN") && !has(b"Infinity") {
        return parse_with(path, entry, &mut serde_json::Deserializer::from_slice(bytes));
    }
    let mut finite = Vec::with_capacity(bytes.len());
    Finite::new(bytes)
        .read_to_end(&mut finite)
        .map_err(|error| ExchangeError::entry(path, entry, error.to_string()))?;
    parse_with(path, entry, &mut serde_json::Deserializer::from_slice(&finite))
}

fn parse_with<'de, T: DeserializeOwned, R: serde_json::de::Read<'de>>(
    path: &Path,
    entry: &str,
    input: &mut serde_json::Deserializer<R>,
) -> Result<T, ExchangeError> {
    let value = serde_path_to_error::deserialize(&mut *input)
        .map_err(|error| ExchangeError::entry(path, entry, field_reason(&error)))?;
    input.end().map_err(|error| ExchangeError::entry(path, entry, error.to_string()))?;
    Ok(value)
}

/// `messages[2].role: unknown variant …`.
pub(crate) fn field_reason(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let field = error.path().to_string();
    if field == "." { error.inner().to_string() } else { format!("{field}: {}", error.inner()) }
}

/// Walks through a `.json` log and hands on its samples.
struct Samples<'a, F> {
    path: &'a Path,
    each: F,
    failed: Option<ExchangeError>,
}

impl<'de, F: FnMut(&str, Sample) -> Result<(), ExchangeError>> DeserializeSeed<'de> for &mut Samples<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: FnMut(&str, Sample) -> Result<(), ExchangeError>> Visitor<'de> for &mut Samples<'_, F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a log")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            if name == "samples" {
                map.next_value_seed(List(&mut *self))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// The list of samples.
struct List<'a, 'b, F>(&'a mut Samples<'b, F>);

impl<'de, F: FnMut(&str, Sample) -> Result<(), ExchangeError>> DeserializeSeed<'de> for List<'_, '_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(&str, Sample) -> Result<(), ExchangeError>> Visitor<'de> for List<'_, '_, F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of samples")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut samples: A) -> Result<(), A::Error> {
        let Samples { path, each, failed } = self.0;
        for number in 0.. {
            let name = format!("samples[{number}]");
            let mut refuse = |error: ExchangeError| {
                *failed = Some(error);
                Err(serde::de::Error::custom("refused"))
            };
            match samples.next_element::<Placed>() {
                Err(error) => return refuse(ExchangeError::entry(path, name, error.to_string())),
                Ok(None) => break,
                Ok(Some(Placed(Err(reason)))) => return refuse(ExchangeError::entry(path, name, reason)),
                Ok(Some(Placed(Ok(sample)))) => {
                    if let Err(error) = each(&name, *sample) {
                        return refuse(error);
                    }
                }
            }
        }
        Ok(())
    }
}

/// A sample, or the field that is wrong with it.
struct Placed(Result<Box<Sample>, String>);

impl<'de> Deserialize<'de> for Placed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_path_to_error::deserialize(deserializer) {
            Ok(sample) => Ok(Self(Ok(Box::new(sample)))),
            Err(error) => {
                let (field, reason) = (error.path().to_string(), error.into_inner());
                Ok(Self(Err(if field == "." { reason.to_string() } else { format!("{field}: {reason}") })))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::SimpleFileOptions;

    use super::*;

    fn archive(folder: &Path, entries: &[(&str, Vec<u8>)]) -> PathBuf {
        let path = folder.join("log.eval");
        let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
        for (name, bytes) in entries {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap();
        path
    }

    #[test]
    fn an_entry_that_unpacks_to_too_much_is_refused_before_it_is_all_there() {
        let folder = tempfile::tempdir().unwrap();
        let bomb = vec![b' '; 4 << 20];
        let path = archive(folder.path(), &[("header.json", bomb.clone()), ("samples/a_epoch_1.json", bomb)]);
        let size = std::fs::metadata(&path).unwrap().len();
        assert!(size < 20_000, "{size}");
        let limits = |entry_bytes, left_bytes| move |_| Limits { entries: 10, entry_bytes, left_bytes };
        let mut log = LogFile::open_within(&path, limits(1000, 1 << 30)).unwrap();
        let error = log.entry("header.json").unwrap_err();
        assert_eq!(error.to_string(), format!("{}, header.json: more than 1000 bytes", path.display()));
        // Each entry is small enough, and all together are not.
        let mut log = LogFile::open_within(&path, limits(5 << 20, 6 << 20)).unwrap();
        log.entry("header.json").unwrap();
        assert!(matches!(log.entry("samples/a_epoch_1.json"), Err(ExchangeError::TooLarge { .. })));
        let many = LogFile::open_within(&path, |_| Limits { entries: 1, ..Limits::of(0) }).unwrap_err();
        assert!(many.to_string().contains("more than 1 entries"), "{many}");
    }

    #[test]
    fn what_is_no_log_is_said_to_be_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = archive(folder.path(), &[("readme.txt", b"x".to_vec())]);
        let error = LogFile::open(&path).unwrap().header().unwrap_err().to_string();
        assert!(error.contains("is not an Inspect log: it has neither header.json"), "{error}");
        for bytes in [b"".as_slice(), b"{", b"id,epoch\n"] {
            std::fs::write(&path, bytes).unwrap();
            let error = LogFile::open(&path).unwrap_err().to_string();
            assert!(error.contains("neither a ZIP archive nor JSON"), "{error}");
        }
    }
}
