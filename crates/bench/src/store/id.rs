//! Names of runs: UTC time and a short random end, `20261130-142233-k3f9`.

use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

use crate::store::clock;

/// Letters of the random end: no `0 1 i l o`, which look alike.
const LETTERS: &[u8] = b"23456789abcdefghjkmnpqrstuvwxyz";
const RANDOM_LETTERS: usize = 4;

/// A fresh name. Two runs started in the same second differ in 31⁴ ways; whoever creates the
/// folder still has to refuse one that exists.
pub(crate) fn new_run_id(moment: SystemTime) -> String {
    // RandomState takes its keys from the system's random source: no other dependency is needed.
    let mut random = RandomState::new().hash_one((std::process::id(), moment));
    let mut id = clock::compact(moment);
    id.push('-');
    for _ in 0..RANDOM_LETTERS {
        id.push(char::from(LETTERS[(random % LETTERS.len() as u64) as usize]));
        random /= LETTERS.len() as u64;
    }
    id
}

/// A name that is safe as a folder's: letters, digits, `-` and `_` only.
pub(crate) fn is_run_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_valid_and_differ_within_a_second() {
        let moment = SystemTime::UNIX_EPOCH;
        let ids: std::collections::HashSet<String> = (0..50).map(|_| new_run_id(moment)).collect();
        assert!(ids.len() > 45, "{ids:?}");
        for id in &ids {
            assert!(is_run_id(id) && id.starts_with("19700101-000000-") && id.len() == 20, "{id}");
        }
        for bad in ["", "../x", "a/b", "a.b", "latest run"] {
            assert!(!is_run_id(bad), "{bad}");
        }
    }
}
