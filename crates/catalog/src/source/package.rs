//! Package registries, through their ordinary clients: pip, npm, apt. The client knows the registry,
//! its mirrors, certificates and credentials, and checks the archive against the registry's own hash;
//! only files are taken from the archive, nothing of the package is run.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::{Fetch, create_below};
use crate::archive::{self, copy_limited};
use crate::entry::Package;
use crate::tools::Call;
use crate::{SourceError, entry};

/// A registry's client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    Pip,
    Npm,
    Apt,
}

/// How pip is called, in the order tried.
const PIP: [(&str, &[&str]); 4] =
    [("python3", &["-m", "pip"]), ("python", &["-m", "pip"]), ("pip3", &[]), ("pip", &[])];

impl Client {
    /// The folder name under which an archive is kept until the pull is done.
    fn label(self) -> &'static str {
        match self {
            Self::Pip => "pypi",
            Self::Npm => "npm",
            Self::Apt => "debian",
        }
    }

    /// The arguments that fetch a package's archive into the working folder.
    fn arguments(self, package: &Package) -> Vec<String> {
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        match self {
            // Only wheels: building a source package would run its code. Its dependencies and the
            // Python version it wants do not matter: it is a box of files.
            Self::Pip => {
                let mut words = own(&["download", "--no-deps", "--only-binary", ":all:", "--ignore-requires-python"]);
                words.extend(own(&["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]));
                words.extend(own(&["--retries", "2", "--dest", "."]));
                words.push(format!("{}=={}", package.name, package.version));
                words
            }
            Self::Npm => {
                let mut words = own(&["pack", "--ignore-scripts", "--silent", "--pack-destination", "."]);
                words.push(format!("{}@{}", package.name, package.version));
                words
            }
            Self::Apt => {
                // Unpinned releases: Debian keeps one version of a package in each.
                let version = if package.version == "*" { String::new() } else { format!("={}", package.version) };
                own(&["download"]).into_iter().chain([format!("{}{version}", package.name)]).collect()
            }
        }
    }
}

impl Fetch<'_> {
    pub(super) fn packages(&self, client: Client, packages: &[Package]) -> Result<(), SourceError> {
        let mut archives = Vec::with_capacity(packages.len());
        let mut fetched = 0;
        for package in packages {
            let archive = self.archive(client, package, fetched)?;
            fetched += std::fs::metadata(&archive).map_or(0, |data| data.len());
            archives.push(archive);
        }
        let scratch = self.scratch("unpack")?;
        match &self.asset.file {
            Some(name) => self.unpack_file(name, packages, &archives, &scratch),
            None => self.unpack_folder(packages, &archives, &scratch),
        }
    }

    /// The archive of a package: that of an earlier attempt, or a new one.
    fn archive(&self, client: Client, package: &Package, before: u64) -> Result<PathBuf, SourceError> {
        let safe = package.name.replace(['/', '@'], "_");
        let kept = self.staging.join(format!("{}-{safe}-{}", client.label(), package.version));
        if let Some(archive) = archive_in(&kept) {
            return Ok(archive);
        }
        if self.means.offline {
            return Err(SourceError::Offline);
        }
        let scratch = self.scratch("client")?;
        self.call(client, package, &scratch, before)?;
        let Some(archive) = archive_in(&scratch) else {
            return Err(SourceError::Content {
                reason: format!("{} gave no archive of {}", client.label(), package.name),
            });
        };
        let target = kept.join(archive.file_name().unwrap_or_default());
        let keep = || {
            let _ = std::fs::remove_dir_all(&kept);
            std::fs::create_dir_all(&kept)?;
            std::fs::rename(&archive, &target)
        };
        keep().map_err(|error| SourceError::io(&target, &error))?;
        Ok(target)
    }

    fn call(&self, client: Client, package: &Package, folder: &Path, before: u64) -> Result<(), SourceError> {
        let (program, leading) = match client {
            Client::Pip => self.pip(folder)?,
            Client::Npm => ("npm", &[] as &[&str]),
            Client::Apt => ("apt-get", &[] as &[&str]),
        };
        let words = client.arguments(package);
        let arguments: Vec<&OsStr> =
            leading.iter().map(OsStr::new).chain(words.iter().map(|word| OsStr::new(word.as_str()))).collect();
        let mut shown = 0;
        self.means.tools.run(&Call { program, arguments: &arguments, folder }, &mut || {
            let bytes = largest_below(folder);
            if bytes > shown {
                shown = bytes;
                self.bytes(before + bytes);
            }
            bytes
        })?;
        Ok(())
    }

    /// The first way to call pip that works on this machine.
    fn pip(&self, folder: &Path) -> Result<(&'static str, &'static [&'static str]), SourceError> {
        let works = |(program, leading): &(&str, &[&str])| {
            let arguments: Vec<&OsStr> = leading.iter().chain(&["--version"]).map(OsStr::new).collect();
            self.means.tools.run(&Call { program, arguments: &arguments, folder }, &mut || 0).is_ok()
        };
        let missing = || SourceError::NoClient { program: "pip (neither python3 -m pip nor pip3)".into() };
        PIP.into_iter().find(works).ok_or_else(missing)
    }

    /// An empty folder of this pull.
    fn scratch(&self, name: &str) -> Result<PathBuf, SourceError> {
        let folder = self.staging.join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|error| SourceError::io(&folder, &error))?;
        Ok(folder)
    }

    /// The asset's file: the named members one after the other.
    fn unpack_file(
        &self,
        name: &str,
        packages: &[Package],
        archives: &[PathBuf],
        scratch: &Path,
    ) -> Result<(), SourceError> {
        let (mut out, path) = create_below(self.target, name)?;
        let mut room = self.asset.size;
        for (package, archive) in packages.iter().zip(archives) {
            let wanted = package.member.as_deref().unwrap_or_default();
            let mut found = false;
            archive::visit(archive, &self.means.tools, scratch, &mut |member, bytes| {
                if member == wanted && !found {
                    found = true;
                    room -= copy_limited(bytes, &mut out, room, &path)?;
                }
                Ok(())
            })?;
            if !found {
                return Err(SourceError::Content { reason: format!("{} has no member {wanted}", package.name) });
            }
        }
        out.sync_all().map_err(|error| SourceError::io(&path, &error))
    }

    /// The asset's folder: what the patterns take.
    fn unpack_folder(&self, packages: &[Package], archives: &[PathBuf], scratch: &Path) -> Result<(), SourceError> {
        let mut room = self.asset.size;
        for (package, archive) in packages.iter().zip(archives) {
            let mut count = 0;
            archive::visit(archive, &self.means.tools, scratch, &mut |member, bytes| {
                let Some(relative) = taken(package, member) else { return Ok(()) };
                let (mut file, path) = create_below(self.target, relative)?;
                room -= copy_limited(bytes, &mut file, room, &path)?;
                self.permit(&path, relative)?;
                count += 1;
                Ok(())
            })?;
            if count == 0 {
                return Err(SourceError::Content { reason: format!("{} has none of the files wanted", package.name) });
            }
        }
        Ok(())
    }

    /// Gives the permission to run to the files that are programs.
    #[cfg(unix)]
    fn permit(&self, path: &Path, relative: &str) -> Result<(), SourceError> {
        use std::os::unix::fs::PermissionsExt as _;
        if !self.asset.executable.iter().any(|pattern| archive::matches(pattern, relative)) {
            return Ok(());
        }
        let permissions = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, permissions).map_err(|error| SourceError::io(path, &error))
    }

    #[cfg(not(unix))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)] // the same signature as on Unix
    fn permit(&self, _: &Path, _: &str) -> Result<(), SourceError> {
        Ok(())
    }
}

/// The path below the asset's folder of a member that is wanted. A path that leaves it never is.
fn taken<'a>(package: &Package, member: &'a str) -> Option<&'a str> {
    let relative = match &package.folder {
        Some(folder) => member.strip_prefix(folder.as_str())?.strip_prefix('/')?,
        None => member,
    };
    let wanted =
        package.include.is_empty() || package.include.iter().any(|pattern| archive::matches(pattern, relative));
    (wanted && entry::is_inside(relative)).then_some(relative)
}

/// The archive in a folder.
fn archive_in(folder: &Path) -> Option<PathBuf> {
    let is_archive = |path: &PathBuf| {
        let extension = path.extension().and_then(OsStr::to_str);
        matches!(extension, Some("whl" | "zip" | "tgz" | "gz" | "deb")) && File::open(path).is_ok()
    };
    std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).find(is_archive)
}

/// Bytes of the largest file below a folder: what a client has fetched, wherever it keeps it. (pip
/// fetches into a folder of its own and copies at the end, so a sum would count twice.)
fn largest_below(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .filter_map(Result::ok)
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => largest_below(&entry.path()),
            Ok(data) => data.len(),
            Err(_) => 0,
        })
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn package(folder: Option<&str>, include: &[&str]) -> Package {
        Package {
            name: "p".into(),
            version: "1".into(),
            member: None,
            folder: folder.map(str::to_owned),
            include: include.iter().map(|pattern| (*pattern).to_owned()).collect(),
        }
    }

    #[test]
    fn members_are_taken_by_folder_and_pattern() {
        let bins = package(Some("pkg/bin"), &["*.so.0", "server"]);
        assert_eq!(taken(&bins, "pkg/bin/server"), Some("server"));
        assert_eq!(taken(&bins, "pkg/bin/libx.so.0"), Some("libx.so.0"));
        assert_eq!(taken(&bins, "pkg/bin/libx.so.0.1"), None);
        assert_eq!(taken(&bins, "pkg/binary/server"), None);
        assert_eq!(taken(&package(None, &[]), "../../evil"), None);
        assert_eq!(taken(&package(Some("pkg"), &[]), "pkg/../../evil"), None);
        assert_eq!(taken(&package(Some("pkg"), &[]), "pkg//evil"), None);
    }

    proptest! {
        #[test]
        fn nothing_taken_leaves_the_folder(member in "(\\.\\.|/|a|\\\\|\\.|:){0,12}") {
            if let Some(path) = taken(&package(None, &[]), &member) {
                prop_assert!(Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_))));
            }
        }
    }
}
