//! File names, addresses and abbreviations: dots that end no sentence.

use crate::words::fold;

/// Abbreviations whose dot ends no sentence.
pub(super) fn abbreviation(chunk: &str) -> bool {
    let folded = fold(chunk);
    [
        "mr.", "mrs.", "ms.", "dr.", "m.", "mme.", "st.", "vs.", "e.g.", "i.e.", "eg.", "ie.", "p.", "ex.", "p.ex.",
        "env.", "approx.", "fig.", "no.", "cf.", "a.m.", "p.m.", "u.s.", "ca.",
    ]
    .contains(&folded.as_str())
}

/// Endings of file names and addresses that a model writes.
const EXTENSIONS: &[&str] = &[
    "txt", "md", "csv", "tsv", "json", "toml", "yaml", "yml", "xml", "html", "htm", "css", "js", "ts", "py", "rs", "c",
    "h", "cpp", "java", "go", "sh", "bat", "ps1", "ini", "conf", "cfg", "env", "log", "pdf", "doc", "docx", "xls",
    "xlsx", "ppt", "pptx", "odt", "ods", "rtf", "tex", "epub", "png", "jpg", "jpeg", "gif", "svg", "webp", "bmp",
    "mp3", "mp4", "wav", "ogg", "flac", "avi", "mkv", "mov", "zip", "tar", "gz", "rar", "7z", "iso", "exe", "dmg",
    "deb", "sql", "db", "sqlite", "ics", "eml", "bak", "tmp", "lock", "parquet", "ipynb", "gguf", "com", "org", "net",
    "fr", "io", "dev", "eu", "uk", "de", "ca", "ch", "be", "gov", "edu", "info", "app", "ai", "local", "test",
    "example",
];

/// A file name, a path, an address or a mail address.
pub(super) fn looks_like_name(chunk: &str) -> bool {
    if chunk.contains("://") || chunk.starts_with("www.") {
        return true;
    }
    if let Some((user, host)) = chunk.split_once('@') {
        return !user.is_empty() && host.contains('.');
    }
    if chunk.starts_with(['/', '~', '.']) && chunk.len() > 1 {
        return true;
    }
    let separators = chunk.bytes().filter(|byte| matches!(byte, b'/' | b'\\')).count();
    if chunk.get(1..3) == Some(":\\") || chunk.contains('\\') || separators >= 2 {
        return true;
    }
    let Some((stem, extension)) = chunk.rsplit_once('.') else {
        // A name with an underscore is a file's or an identifier's, not a word.
        return chunk.contains('_') && chunk.len() > 2 && !chunk.starts_with('_') && !chunk.ends_with('_');
    };
    let known = EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str());
    !stem.is_empty()
        && stem.chars().any(char::is_alphanumeric)
        && known
        && !extension.starts_with(|c: char| c.is_uppercase() && extension.len() == 1)
}

/// An address on the web, by its scheme or the ending of its host.
pub(super) fn is_address(name: &str) -> bool {
    const HOSTS: [&str; 10] = [".com", ".org", ".net", ".fr", ".io", ".dev", ".eu", ".gov", ".edu", ".example"];
    if name.contains('@') {
        return false;
    }
    let host = name.split("://").last().unwrap_or(name).split('/').next().unwrap_or(name);
    name.contains("://") || name.starts_with("www.") || HOSTS.iter().any(|ending| host.ends_with(ending))
}
