//! SHA-256 of files and folders.

use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// SHA-256 of everything a reader gives, as lower-case hex, and the number of bytes.
pub fn reader(mut source: impl Read) -> io::Result<(String, u64)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    let mut size = 0;
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok((hex(&hasher.finalize()), size)),
            Ok(count) => {
                hasher.update(&buffer[..count]);
                size += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// SHA-256 of a file, as lower-case hex, and its size in bytes.
pub fn file(path: &Path) -> io::Result<(String, u64)> {
    reader(std::fs::File::open(path)?)
}

/// SHA-256 of a folder: of the lines `SHA256  PATH\n` of its files in the byte order of their paths,
/// which are relative and use `/`. The same as
/// `find * -type f | LC_ALL=C sort | xargs sha256sum | sha256sum` inside it.
pub fn tree<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut lines: Vec<(&str, &str)> = files.into_iter().collect();
    lines.sort_unstable();
    let mut hasher = Sha256::new();
    for (path, sha256) in lines {
        hasher.update(format!("{sha256}  {path}\n"));
    }
    hex(&hasher.finalize())
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf abc | sha256sum`
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn known_answers() {
        assert_eq!(reader(&b"abc"[..]).unwrap(), (ABC.to_owned(), 3));
        // printf 'ba78…  a\nba78…  b/c\n' | sha256sum
        assert_eq!(
            tree([("b/c", ABC), ("a", ABC)]),
            "8660b792718f83a4ec3df1bcbcd0661de766514ce428218d2441f3bf547809c0"
        );
    }
}
