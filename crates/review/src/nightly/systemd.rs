//! Units for systemd's user manager.

/// What the units are made of.
#[derive(Debug, Clone)]
pub struct Unit<'a> {
    /// The program, with its whole path.
    pub program: &'a str,
    /// Arguments after `nightly`, and global ones.
    pub arguments: &'a [String],
    /// The folder it runs in.
    pub folder: &'a str,
}

/// The service and its timer: the name and the text of each file.
pub fn units(unit: &Unit<'_>) -> [(&'static str, String); 2] {
    let mut command = vec![quoted(unit.program), "nightly".to_owned()];
    command.extend(unit.arguments.iter().map(|argument| quoted(argument)));
    let (command, folder) = (command.join(" "), path(unit.folder));
    let service = format!(
        "\
[Unit]
Description=tenpass: the nightly benches
After=network-online.target

[Service]
Type=oneshot
WorkingDirectory={folder}
ExecStart={command}
# 1 is a result, not a fault of the service: something regressed.
SuccessExitStatus=1
Nice=10
IOSchedulingClass=idle
"
    );
    let timer = "\
[Unit]
Description=tenpass: every night

[Timer]
OnCalendar=*-*-* 03:00:00
RandomizedDelaySec=10m
# A night that the machine slept through is caught up with.
Persistent=true

[Install]
WantedBy=timers.target
";
    [("tenpass-nightly.service", service), ("tenpass-nightly.timer", timer.to_owned())]
}

/// A word of a command line: systemd splits at blanks, and reads `%`, `$` and `\\` itself.
fn quoted(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    let plain =
        !word.is_empty() && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-:=,#@+".contains(letter));
    if plain { escaped } else { format!("\"{escaped}\"") }
}

/// A path of `WorkingDirectory`, which takes the rest of the line.
fn path(path: &str) -> String {
    path.replace('\\', "\\\\").replace('%', "%%")
}
