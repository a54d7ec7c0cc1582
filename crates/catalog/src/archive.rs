//! Taking files out of packages: wheels (zip), npm packages (tar.gz), Debian packages.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use crate::SourceError;
use crate::tools::{Call, Tools};

/// Takes one file of an archive: its path inside, and its bytes.
pub(crate) type Visitor<'a> = dyn FnMut(&str, &mut dyn Read) -> Result<(), SourceError> + 'a;

/// Shows every regular file of an archive to `visit`; links and devices are passed over. Paths are
/// checked by the visitor, who alone decides where bytes go.
pub(crate) fn visit(archive: &Path, tools: &Tools, scratch: &Path, visit: &mut Visitor<'_>) -> Result<(), SourceError> {
    let open = |path: &Path| File::open(path).map_err(|error| SourceError::io(path, &error));
    let extension = archive.extension().and_then(OsStr::to_str).unwrap_or_default();
    match extension {
        "whl" | "zip" => visit_zip(BufReader::new(open(archive)?), visit),
        "tgz" | "gz" => visit_tar(flate2::read::GzDecoder::new(BufReader::new(open(archive)?)), visit),
        "deb" => {
            let arguments = [OsStr::new("--fsys-tarfile"), archive.as_os_str()];
            tools.run(&Call { program: "dpkg-deb", arguments: &arguments, folder: scratch }, &mut || 0)?;
            visit_tar(BufReader::new(open(&scratch.join("client.out"))?), visit)
        }
        _ => Err(SourceError::Content { reason: format!("{} is no archive known here", file_name(archive)) }),
    }
}

fn visit_zip(file: BufReader<File>, visit: &mut Visitor<'_>) -> Result<(), SourceError> {
    let mut archive = zip::ZipArchive::new(file).map_err(|error| damaged(&error))?;
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).map_err(|error| damaged(&error))?;
        if member.is_file() {
            let path = member.name().to_owned();
            visit(&path, &mut member)?;
        }
    }
    Ok(())
}

fn visit_tar(stream: impl Read, visit: &mut Visitor<'_>) -> Result<(), SourceError> {
    let mut archive = tar::Archive::new(stream);
    for member in archive.entries().map_err(|error| damaged(&error))? {
        let mut member = member.map_err(|error| damaged(&error))?;
        if member.header().entry_type().is_file() {
            let path = String::from_utf8_lossy(&member.path_bytes()).into_owned();
            visit(path.strip_prefix("./").unwrap_or(&path), &mut member)?;
        }
    }
    Ok(())
}

fn damaged(error: &dyn std::error::Error) -> SourceError {
    SourceError::Content { reason: format!("damaged archive: {error}") }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Copies at most `limit` bytes; more is an error, so that no archive can fill the disk.
pub(crate) fn copy_limited(
    from: &mut dyn Read,
    to: &mut dyn io::Write,
    limit: u64,
    place: &Path,
) -> Result<u64, SourceError> {
    let mut buffer = vec![0; 1 << 17];
    let mut copied = 0;
    loop {
        let count = from.read(&mut buffer).map_err(|error| damaged(&error))?;
        if count == 0 {
            return Ok(copied);
        }
        copied += count as u64;
        if copied > limit {
            return Err(SourceError::Content { reason: "the archive holds more bytes than the catalogue says".into() });
        }
        to.write_all(&buffer[..count]).map_err(|error| SourceError::io(place, &error))?;
    }
}

/// Matches a path with a pattern: `*` stands for any characters of one name, `**` for any at all.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    fn from(pattern: &[u8], path: &[u8]) -> bool {
        if let Some(rest) = pattern.strip_prefix(b"**") {
            return (0..=path.len()).any(|skip| from(rest, &path[skip..]));
        }
        match pattern.split_first() {
            None => path.is_empty(),
            Some((b'*', rest)) => {
                let name = path.iter().position(|byte| *byte == b'/').unwrap_or(path.len());
                (0..=name).any(|skip| from(rest, &path[skip..]))
            }
            Some((byte, rest)) => path.first() == Some(byte) && from(rest, &path[1..]),
        }
    }
    from(pattern.as_bytes(), path.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{script, wheel};

    #[test]
    fn patterns_stay_within_a_name_or_not() {
        for (pattern, path, expected) in [
            ("*.json", "a.json", true),
            ("*.json", "b/a.json", false),
            ("**.json", "b/a.json", true),
            ("bin/*.so.0", "bin/libx.so.0", true),
            ("bin/*.so.0", "bin/libx.so.0.1", false),
            ("a*b*c", "aXbYc", true),
            ("a", "ab", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    fn seen(archive: &Path, tools: &Tools, scratch: &Path) -> Result<Vec<(String, String)>, SourceError> {
        let mut seen = Vec::new();
        visit(archive, tools, scratch, &mut |path, bytes| {
            let mut text = String::new();
            bytes.read_to_string(&mut text).unwrap();
            seen.push((path.to_owned(), text));
            Ok(())
        })?;
        Ok(seen)
    }

    fn tar_bytes() -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (path, text) in [("./package/a", "one"), ("package/b", "two")] {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, path, text.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    #[test]
    fn every_kind_of_package_shows_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let tools = Tools::new(folder.path());
        let pairs = |list: &[(&str, &str)]| -> Vec<(String, String)> {
            list.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
        };

        let zipped = folder.path().join("a.whl");
        wheel(&zipped, &[("m/a", b"one"), ("m/b", b"two")]);
        assert_eq!(seen(&zipped, &tools, folder.path()).unwrap(), pairs(&[("m/a", "one"), ("m/b", "two")]));

        let packed = folder.path().join("a.tgz");
        let mut gzip = flate2::write::GzEncoder::new(File::create(&packed).unwrap(), flate2::Compression::fast());
        io::Write::write_all(&mut gzip, &tar_bytes()).unwrap();
        gzip.finish().unwrap();
        assert_eq!(seen(&packed, &tools, folder.path()).unwrap(), pairs(&[("package/a", "one"), ("package/b", "two")]));

        let debian = folder.path().join("a.deb");
        std::fs::write(&debian, tar_bytes()).unwrap();
        script(folder.path(), "dpkg-deb", "[ \"$1\" = --fsys-tarfile ] && exec /bin/cat \"$2\"");
        assert_eq!(seen(&debian, &tools, folder.path()).unwrap(), pairs(&[("package/a", "one"), ("package/b", "two")]));
    }

    #[test]
    fn damaged_and_unknown_archives_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.whl", "a.tgz", "a.exe"] {
            let path = folder.path().join(name);
            std::fs::write(&path, b"this is not an archive, whatever its name says, and it is longer than a header")
                .unwrap();
            let error = seen(&path, &Tools::new(""), folder.path()).unwrap_err();
            assert!(matches!(error, SourceError::Content { .. }), "{name}: {error}");
        }
    }

    #[test]
    fn an_archive_that_grows_past_its_size_is_stopped() {
        let mut out = Vec::new();
        let error = copy_limited(&mut io::repeat(7), &mut out, 1000, Path::new("x")).unwrap_err();
        assert!(matches!(error, SourceError::Content { .. }));
        assert!(out.len() <= 1000);
    }
}
