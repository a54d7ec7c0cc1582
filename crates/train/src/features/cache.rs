//! What was computed once, on disk: one file that only grows.
//!
//! `features.bin` begins with `TPFEAT01`. Then records follow: 32 bytes of key, the number of values as
//! `u32`, the first 8 bytes of the SHA-256 of the values, and the values as `f32`, everything little-endian.
//! A record that a kill cut off is dropped when the file is opened again. One process at a time writes.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::FeatureError;

const MAGIC: &[u8; 8] = b"TPFEAT01";
const HEAD: u64 = 32 + 4 + 8;
/// The values of one record at most: ten hours of stream.
const MOST_VALUES: u32 = 96 * 450_000;

/// A key: the SHA-256 of everything that the values depend on.
pub(crate) type Key = [u8; 32];

/// The file and what is where in it.
#[derive(Debug)]
pub(crate) struct Cache {
    path: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: File,
    places: HashMap<Key, (u64, u32)>,
    end: u64,
}

impl Cache {
    /// Opens the cache of a folder, or begins one.
    pub(crate) fn open(folder: &Path) -> Result<Self, FeatureError> {
        let path = folder.join("features.bin");
        let failed = |source| FeatureError::File { path: path.clone(), source };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        if file.try_lock().is_err() {
            return Err(FeatureError::Busy { path });
        }
        let length = file.metadata().map_err(failed)?.len();
        if length < MAGIC.len() as u64 {
            file.set_len(0).map_err(failed)?;
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            file.write_all(MAGIC).map_err(failed)?;
            let inner = Inner { file, places: HashMap::new(), end: MAGIC.len() as u64 };
            return Ok(Self { path, inner: Mutex::new(inner) });
        }
        let mut magic = [0; 8];
        file.seek(SeekFrom::Start(0)).and_then(|_| file.read_exact(&mut magic)).map_err(failed)?;
        if &magic != MAGIC {
            return Err(FeatureError::Format { path, problem: "it is no file of features".into() });
        }
        let (places, end) = scan(&mut file, length).map_err(failed)?;
        file.set_len(end).map_err(failed)?;
        Ok(Self { path, inner: Mutex::new(Inner { file, places, end }) })
    }

    /// The values under a key; `None` when there are none, or damaged ones.
    pub(crate) fn get(&self, key: &Key) -> Result<Option<Vec<f32>>, FeatureError> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((place, count)) = inner.places.get(key).copied() else { return Ok(None) };
        let read = |file: &mut File| -> io::Result<([u8; 8], Vec<u8>)> {
            let mut sum = [0; 8];
            file.seek(SeekFrom::Start(place - 8))?;
            file.read_exact(&mut sum)?;
            let mut bytes = vec![0; count as usize * 4];
            file.read_exact(&mut bytes)?;
            Ok((sum, bytes))
        };
        let (sum, bytes) =
            read(&mut inner.file).map_err(|source| FeatureError::File { path: self.path.clone(), source })?;
        if checksum(&bytes) != sum {
            inner.places.remove(key);
            return Ok(None);
        }
        Ok(Some(bytes.as_chunks::<4>().0.iter().map(|value| f32::from_le_bytes(*value)).collect()))
    }

    /// Keeps values under a key.
    pub(crate) fn put(&self, key: &Key, values: &[f32]) -> Result<(), FeatureError> {
        let failed = |source| FeatureError::File { path: self.path.clone(), source };
        let count = u32::try_from(values.len()).ok().filter(|count| *count <= MOST_VALUES);
        let count = count.ok_or_else(|| failed(io::Error::other("too many values for one record")))?;
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let mut record = Vec::with_capacity(bytes.len() + HEAD as usize);
        record.extend_from_slice(key);
        record.extend_from_slice(&count.to_le_bytes());
        record.extend_from_slice(&checksum(&bytes));
        record.extend_from_slice(&bytes);
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let end = inner.end;
        inner.file.seek(SeekFrom::Start(end)).map_err(failed)?;
        inner.file.write_all(&record).map_err(failed)?;
        inner.places.insert(*key, (end + HEAD, count));
        inner.end = end + record.len() as u64;
        Ok(())
    }
}

/// Where the whole records are, and where they end.
fn scan(file: &mut File, length: u64) -> io::Result<(HashMap<Key, (u64, u32)>, u64)> {
    let mut places = HashMap::new();
    let mut at = MAGIC.len() as u64;
    while at + HEAD <= length {
        let mut head = [0; HEAD as usize];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut head)?;
        let mut key = [0; 32];
        key.copy_from_slice(&head[..32]);
        let count = u32::from_le_bytes([head[32], head[33], head[34], head[35]]);
        let end = at + HEAD + u64::from(count) * 4;
        if count > MOST_VALUES || end > length {
            break;
        }
        places.insert(key, (at + HEAD, count));
        at = end;
    }
    Ok((places, at))
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    let digest = Sha256::digest(bytes);
    std::array::from_fn(|at| digest[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_there_again_and_a_cut_record_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("features.bin");
        {
            let cache = Cache::open(folder.path()).unwrap();
            cache.put(&[1; 32], &[1.5, -2.0]).unwrap();
            cache.put(&[2; 32], &[3.0; 96]).unwrap();
            assert_eq!(cache.get(&[1; 32]).unwrap(), Some(vec![1.5, -2.0]));
            assert!(matches!(Cache::open(folder.path()), Err(FeatureError::Busy { .. })));
        }
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 5]).unwrap();
        {
            let cache = Cache::open(folder.path()).unwrap();
            assert_eq!(cache.get(&[2; 32]).unwrap(), None);
            cache.put(&[3; 32], &[7.0]).unwrap();
        }
        let cache = Cache::open(folder.path()).unwrap();
        assert_eq!(cache.get(&[1; 32]).unwrap(), Some(vec![1.5, -2.0]));
        assert_eq!(cache.get(&[3; 32]).unwrap(), Some(vec![7.0]));
    }

    #[test]
    fn damage_is_noticed_and_a_foreign_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("features.bin");
        Cache::open(folder.path()).unwrap().put(&[1; 32], &[1.0; 8]).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 3;
        bytes[last] ^= 0x40;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(Cache::open(folder.path()).unwrap().get(&[1; 32]).unwrap(), None);
        std::fs::write(&path, b"something else").unwrap();
        assert!(matches!(Cache::open(folder.path()), Err(FeatureError::Format { .. })));
    }
}
