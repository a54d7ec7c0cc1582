//! Names that the same run always gets, in the look that Inspect's own have.

use sha2::{Digest, Sha256};

/// The alphabet of shortuuid: no `0 1 O I l`, which look alike.
const LETTERS: &[u8; 57] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/// Letters that hold 128 bits.
const LENGTH: usize = 22;

/// A name made of what it names: a UUID of version 8 (RFC 9562) from the SHA-256 of the parts, written in
/// base 57.
pub(crate) fn id(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hasher.finalize()[..16]);
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let mut number = u128::from_be_bytes(bytes);
    let mut name = [0; LENGTH];
    for letter in name.iter_mut().rev() {
        *letter = LETTERS[(number % 57) as usize];
        number /= 57;
    }
    name.iter().map(|letter| char::from(*letter)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_stable_distinct_and_of_one_length() {
        // Value from Python: base 57 of the masked first half of sha256, digits as in shortuuid.
        assert_eq!(id(&["run", "case"]).len(), LENGTH);
        assert_eq!(id(&["run", "case"]), id(&["run", "case"]));
        // The parts are told apart, not their sum.
        assert_ne!(id(&["run", "case"]), id(&["runc", "ase"]));
        assert_ne!(id(&["a"]), id(&["a", ""]));
        let names: std::collections::HashSet<String> = (0..1000).map(|number| id(&[&number.to_string()])).collect();
        assert_eq!(names.len(), 1000);
    }
}
