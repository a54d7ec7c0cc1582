//! Puts the shipped wake word's head and its record into the program, where the source tree has them.

use std::path::{Path, PathBuf};

#[allow(clippy::unnecessary_debug_formatting, reason = "a path as a literal of the source")]
fn main() -> std::io::Result<()> {
    let root = variable("CARGO_MANIFEST_DIR").join("..");
    let (head, record) = (root.join("corpora/wake/kora.onnx"), root.join("corpora/wake/kora.json"));
    let there = head.is_file() && record.is_file();
    let text = if there {
        for path in [&head, &record] {
            rerun(path);
        }
        format!("Some((include_bytes!({head:?}), include_bytes!({record:?})))")
    } else {
        // A missing file would run this again at every build: the folder tells when it comes.
        rerun(&root.join("corpora"));
        "None".to_owned()
    };
    let text = format!("const EMBEDDED: Option<(&[u8], &[u8])> = {text};\n");
    std::fs::write(variable("OUT_DIR").join("shipped_head.rs"), text)
}

fn variable(name: &str) -> PathBuf {
    std::env::var_os(name).map_or_else(PathBuf::new, PathBuf::from)
}

#[allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]
fn rerun(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}
