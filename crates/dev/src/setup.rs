//! What a machine needs beside Rust, and getting it.

use std::process::Command;

use crate::shell::{Stop, step, succeeds};

/// Something the build or the tests need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Need {
    /// What it is, for people.
    name: &'static str,
    /// Why.
    reason: &'static str,
    /// Any of these calls shows that it is there.
    probes: &'static [(&'static str, &'static [&'static str])],
    /// Its packages for each manager of [`MANAGERS`], in that order.
    packages: [&'static [&'static str]; 4],
}

const NEEDS: &[Need] = &[
    Need {
        name: "a C compiler",
        reason: "SQLite and the TLS library are built from C",
        probes: &[("cc", &["--version"]), ("gcc", &["--version"]), ("clang", &["--version"])],
        packages: [&["gcc", "libc6-dev"], &["gcc", "glibc-devel"], &["gcc"], &["llvm"]],
    },
    Need {
        name: "a C++ compiler",
        reason: "whisper.cpp is built from C++",
        probes: &[("c++", &["--version"]), ("g++", &["--version"]), ("clang++", &["--version"])],
        packages: [&["g++"], &["gcc-c++"], &["gcc"], &["llvm"]],
    },
    Need {
        name: "CMake",
        reason: "whisper.cpp is built with it",
        probes: &[("cmake", &["--version"])],
        packages: [&["cmake", "make"], &["cmake", "make"], &["cmake", "make"], &["cmake"]],
    },
    Need {
        name: "python3 with pip",
        reason: "models come from package registries where Hugging Face cannot be reached",
        probes: &[("python3", &["-m", "pip", "--version"]), ("pip3", &["--version"]), ("pip", &["--version"])],
        packages: [&["python3", "python3-pip"], &["python3", "python3-pip"], &["python", "python-pip"], &["python"]],
    },
];

/// What single tests need. Where it cannot be installed the others run, and those tests fail and say so.
const TEST_NEEDS: &[Need] = &[
    Need {
        name: "Slurm",
        reason: "the job files for it are tested on a cluster of one machine",
        probes: &[("slurmctld", &["-V"]), ("/usr/sbin/slurmctld", &["-V"])],
        packages: [&["slurm-wlm", "munge"], &[], &[], &[]],
    },
    Need {
        name: "espeak-ng",
        reason: "it gives the voices their phonemes, and is one itself",
        probes: &[("espeak-ng", &["--version"])],
        packages: [&["espeak-ng"], &["espeak-ng"], &["espeak-ng"], &["espeak-ng"]],
    },
    Need {
        name: "flite",
        reason: "more synthetic voices make a fairer test of what listens",
        probes: &[("flite", &["-lv"])],
        packages: [&["flite"], &["flite"], &["flite"], &[]],
    },
];

/// A package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Manager {
    program: &'static str,
    /// Run before, so that names are known; its failure is not one.
    refresh: &'static [&'static str],
    install: &'static [&'static str],
    /// False for one that refuses to run as root.
    as_root: bool,
}

const MANAGERS: [Manager; 4] = [
    Manager {
        program: "apt-get",
        refresh: &["update", "-q"],
        install: &["install", "-y", "-q", "--no-install-recommends"],
        as_root: true,
    },
    Manager { program: "dnf", refresh: &[], install: &["install", "-y"], as_root: true },
    Manager { program: "pacman", refresh: &[], install: &["-S", "--needed", "--noconfirm"], as_root: true },
    Manager { program: "brew", refresh: &[], install: &["install"], as_root: false },
];

/// How a command gets the rights it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rights {
    Own,
    Sudo,
    None,
}

/// Installs what is missing, or says the one line to run and stops.
pub(crate) fn run() -> anyhow::Result<()> {
    let missing: Vec<Need> = NEEDS.iter().filter(|need| !is_there(need)).copied().collect();
    if missing.is_empty() {
        eprintln!("==> set-up: {} are there", names(NEEDS));
        return Ok(());
    }
    for need in &missing {
        eprintln!("==> set-up: missing {}: {}", need.name, need.reason);
    }
    let Some(index) = MANAGERS.iter().position(|manager| succeeds(manager.program, &["--version"])) else {
        return Err(Stop::user(format!("install {}, and run this again", names(&missing))).into());
    };
    let manager = MANAGERS[index];
    let packages = packages(&missing, index);
    match rights(manager) {
        Rights::None => {
            let line = line(manager, &packages, true);
            Err(Stop::user(format!("run this line, then the same command again:\n  {line}")).into())
        }
        rights => {
            install(manager, rights, &packages)?;
            match missing.iter().find(|need| !is_there(need)) {
                Some(need) => Err(Stop::user(format!("{} is still missing after the installation", need.name)).into()),
                None => Ok(()),
            }
        }
    }
}

/// Installs what single tests need where the package manager has it; a failure is told and is no end.
pub(crate) fn for_tests() {
    let Some(index) = MANAGERS.iter().position(|manager| succeeds(manager.program, &["--version"])) else { return };
    let wanted = |need: &&Need| !need.packages[index].is_empty() && !is_there(need);
    let missing: Vec<Need> = TEST_NEEDS.iter().filter(wanted).copied().collect();
    if missing.is_empty() {
        return;
    }
    let (manager, packages) = (MANAGERS[index], packages(&missing, index));
    eprintln!("==> set-up for tests: missing {}: {}", names(&missing), missing[0].reason);
    let installed = match rights(manager) {
        Rights::None => Err(anyhow::anyhow!("run: {}", line(manager, &packages, true))),
        rights => install(manager, rights, &packages),
    };
    if let Err(error) = installed {
        eprintln!("==> set-up for tests: {error:#}; the tests that need it will fail");
    }
}

fn is_there(need: &Need) -> bool {
    need.probes.iter().any(|(program, arguments)| succeeds(program, arguments))
}

fn names(needs: &[Need]) -> String {
    needs.iter().map(|need| need.name).collect::<Vec<_>>().join(" and ")
}

/// The packages of all needs for a manager, each once.
fn packages(needs: &[Need], manager: usize) -> Vec<&'static str> {
    let mut packages: Vec<&str> = Vec::new();
    for package in needs.iter().flat_map(|need| need.packages[manager]) {
        if !packages.contains(package) {
            packages.push(package);
        }
    }
    packages
}

fn rights(manager: Manager) -> Rights {
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    match (manager.as_root, root) {
        (true, true) | (false, false) => Rights::Own,
        (true, false) if succeeds("sudo", &["-n", "true"]) => Rights::Sudo,
        _ => Rights::None,
    }
}

/// The line that a person runs.
fn line(manager: Manager, packages: &[&str], sudo: bool) -> String {
    let sudo = if sudo && manager.as_root { "sudo " } else { "" };
    let words = |words: &[&str]| words.join(" ");
    let refresh = match manager.refresh {
        [] => String::new(),
        refresh => format!("{sudo}{} {} && ", manager.program, words(refresh)),
    };
    format!("{refresh}{sudo}{} {} {}", manager.program, words(manager.install), words(packages))
}

fn install(manager: Manager, rights: Rights, packages: &[&str]) -> anyhow::Result<()> {
    let command = |arguments: &[&str]| {
        let mut command = match rights {
            Rights::Sudo => {
                let mut command = Command::new("sudo");
                command.args(["-n", manager.program]);
                command
            }
            Rights::Own | Rights::None => Command::new(manager.program),
        };
        command.env("DEBIAN_FRONTEND", "noninteractive").args(arguments);
        command
    };
    if !manager.refresh.is_empty() {
        // Old lists may do: the installation itself decides.
        let _ = command(manager.refresh).status();
    }
    let title = format!("set-up: {}", line(manager, packages, rights == Rights::Sudo));
    step(&title, command(manager.install).args(packages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_holds_everything_once() {
        assert_eq!(
            line(MANAGERS[0], &packages(NEEDS, 0), true),
            "sudo apt-get update -q && sudo apt-get install -y -q --no-install-recommends gcc libc6-dev g++ cmake make python3 python3-pip"
        );
        assert_eq!(line(MANAGERS[3], &packages(NEEDS, 3), true), "brew install llvm cmake python");
        let python = NEEDS[NEEDS.len() - 1];
        assert_eq!(packages(&[python, python], 0), ["python3", "python3-pip"]);
    }

    #[test]
    fn tests_need_packages_of_debian_only() {
        assert_eq!(packages(TEST_NEEDS, 0), ["slurm-wlm", "munge", "espeak-ng", "flite"]);
        assert!((1..4).all(|manager| packages(TEST_NEEDS, manager).contains(&"espeak-ng")));
    }

    #[test]
    fn a_need_is_there_when_any_probe_succeeds() {
        let need = |probes| Need { probes, ..NEEDS[0] };
        assert!(is_there(&need(&[("no-such-program", &[]), ("rustc", &["--version"])])));
        assert!(!is_there(&need(&[("no-such-program", &[])])));
    }
}
