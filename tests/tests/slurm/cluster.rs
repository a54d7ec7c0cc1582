//! A real Slurm cluster of one machine: controller and node on loopback, everything they write in one
//! temporary folder, started as the current user and stopped by process id.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tenpass_tests::free_port;

/// Cores that the node claims, so that all parts run at once wherever the test runs.
const CORES: u32 = 4;

/// The cluster; it stops when it is dropped.
pub(crate) struct Cluster {
    folder: tempfile::TempDir,
    /// In the order in which they are stopped.
    daemons: Vec<Child>,
}

/// A program of Slurm's, which Debian keeps where ordinary users do not look.
fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let found = folders.map(|folder| folder.join(name)).find(|program| program.is_file());
    found.unwrap_or_else(|| {
        panic!("this test needs Slurm, and {name} is not here; get it with `cargo dev test`, or: apt-get install slurm-wlm munge")
    })
}

/// Whether this build of Slurm can do without an authentication service.
fn can_do_without_munge() -> bool {
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib"];
    let plugins = folders.iter().flat_map(|folder| {
        let below = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        below.chain([PathBuf::from(folder)]).flat_map(|path| [path.join("slurm-wlm"), path.join("slurm")])
    });
    let mut plugins = plugins.filter(|folder| folder.is_dir());
    plugins.any(|folder| folder.join("auth_none.so").is_file() && folder.join("cred_none.so").is_file())
}

fn text(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl Cluster {
    /// Starts it and waits until its node is idle.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for name in ["state", "spool", "socket"] {
            fs::create_dir(path.join(name)).unwrap();
        }
        let mut cluster = Self { daemons: Vec::new(), folder };
        let munge = (!can_do_without_munge()).then(|| cluster.start_munge());
        fs::write(cluster.configuration(), cluster.slurm_conf(munge.as_deref())).unwrap();
        // Stopped first: the node, then the controller, then what both of them ask.
        for (name, arguments) in [("slurmctld", &["-D"][..]), ("slurmd", &["-D", "-N", "localhost"])] {
            cluster.start_daemon(Command::new(program(name)).args(arguments), name);
        }
        cluster.wait_for("the node to be idle", Duration::from_mins(1), || {
            let states = cluster.ask("sinfo", &["-h", "-o", "%T"]);
            states.status.success() && states.stdout.trim_ascii() == b"idle"
        });
        cluster
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn configuration(&self) -> PathBuf {
        self.path().join("slurm.conf")
    }

    fn start_daemon(&mut self, command: &mut Command, name: &str) {
        let log = || fs::File::create(self.path().join(format!("{name}.out"))).unwrap();
        command.env("SLURM_CONF", self.configuration()).stdin(Stdio::null()).stdout(log()).stderr(log());
        let child = command.spawn().unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        self.daemons.insert(0, child);
    }

    /// A munge service of our own, with a key of our own; returns its socket.
    fn start_munge(&mut self) -> PathBuf {
        let key = self.path().join("munge.key");
        let mut random = [0_u8; 64];
        std::io::Read::read_exact(&mut fs::File::open("/dev/urandom").unwrap(), &mut random).unwrap();
        fs::write(&key, random).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        let at = |name: &str| self.path().join(name).display().to_string();
        let socket = self.path().join("socket/munge");
        let mut command = Command::new(program("munged"));
        command.args(["--foreground", "--force"]).arg(format!("--key-file={}", at("munge.key")));
        command.arg(format!("--socket={}", socket.display())).arg(format!("--pid-file={}", at("munged.pid")));
        command.arg(format!("--log-file={}", at("munged.log"))).arg(format!("--seed-file={}", at("munged.seed")));
        self.start_daemon(&mut command, "munged");
        self.wait_for("munged to listen", Duration::from_secs(20), || socket.exists());
        socket
    }

    fn slurm_conf(&self, munge: Option<&Path>) -> String {
        let user = text(Command::new("id").arg("-un"));
        let host = text(&mut Command::new("hostname"));
        let at = |name: &str| self.path().join(name).display().to_string();
        let authentication = match munge {
            Some(socket) => {
                format!("AuthType=auth/munge\nCredType=cred/munge\nAuthInfo=socket={}", socket.display())
            }
            None => "AuthType=auth/none\nCredType=cred/none".to_owned(),
        };
        format!(
            "\
ClusterName=tenpass
SlurmctldHost=localhost(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller}
SlurmdPort={node}
{authentication}
StateSaveLocation={state}
SlurmdSpoolDir={spool}
SlurmctldPidFile={controller_pid}
SlurmdPidFile={node_pid}
SlurmctldLogFile={controller_log}
SlurmdLogFile={node_log}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=2
ReturnToService=2
KillWait=2
NodeName=localhost NodeAddr=127.0.0.1 NodeHostname={host} Port={node} CPUs={CORES} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
",
            controller = free_port(),
            node = free_port(),
            state = at("state"),
            spool = at("spool"),
            controller_pid = at("slurmctld.pid"),
            node_pid = at("slurmd.pid"),
            controller_log = at("slurmctld.log"),
            node_log = at("slurmd.log"),
        )
    }

    /// A command that talks to this cluster.
    pub(crate) fn command(&self, mut command: Command) -> Command {
        command.env("SLURM_CONF", self.configuration());
        command
    }

    /// What one of Slurm's own commands says.
    pub(crate) fn ask(&self, name: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(program(name));
        command.args(arguments).stdin(Stdio::null());
        self.command(command).output().unwrap()
    }

    /// Waits for something that the cluster brings about; when it does not, fails with the logs.
    pub(crate) fn wait_for(&self, what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
        let deadline = Instant::now() + limit;
        while !holds() {
            assert!(Instant::now() < deadline, "waited {limit:?} for {what}\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The ends of all logs.
    pub(crate) fn logs(&self) -> String {
        let mut all = String::new();
        for name in ["munged.out", "munged.log", "slurmctld.out", "slurmctld.log", "slurmd.out", "slurmd.log"] {
            let Ok(text) = fs::read_to_string(self.path().join(name)) else { continue };
            let lines: Vec<&str> = text.lines().collect();
            let end = lines[lines.len().saturating_sub(15)..].join("\n");
            all.push_str(&format!("── {name}\n{end}\n"));
        }
        all.push_str(&String::from_utf8_lossy(&self.ask("squeue", &[]).stdout));
        all
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // What still runs is ended by the node that started it.
        if !self.daemons.is_empty() {
            let user = text(Command::new("id").arg("-un"));
            drop(self.ask("scancel", &["--full", "--signal=KILL", "-u", &user]));
        }
        for daemon in &mut self.daemons {
            // By process id, politely first: the controller stops a helper of its own.
            drop(Command::new("kill").arg(daemon.id().to_string()).status());
            let deadline = Instant::now() + Duration::from_secs(10);
            while matches!(daemon.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(50));
            }
            drop(daemon.kill());
            drop(daemon.wait());
        }
    }
}
