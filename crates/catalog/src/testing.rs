//! What the tests of this crate share: a server on loopback, fake clients, small wheels.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// What the server does with a request; the last behaviour repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    /// Serves the file, ranges too.
    Good,
    /// Announces everything, and closes after this many bytes.
    CutAfter(usize),
    /// Serves the whole file whatever range is asked.
    IgnoresRange,
    /// Serves the range from 7 whatever range is asked.
    WrongRange,
    /// Answers with this status.
    Status(u16),
    /// Takes the request and says nothing.
    Silent,
}

/// A real HTTP server on loopback, one thread, ended on drop.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(content: Vec<u8>, behaviours: &[Behaviour]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let behaviours = behaviours.to_vec();
        let (seen, stopped) = (requests.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            // Connections that are kept silent stay open until the end.
            let mut silent = Vec::new();
            while let Ok((stream, _)) = listener.accept() {
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                let head = read_head(&stream);
                let count = {
                    let mut seen = seen.lock().unwrap();
                    seen.push(head.clone());
                    seen.len()
                };
                let behaviour = behaviours[(count - 1).min(behaviours.len() - 1)];
                if behaviour == Behaviour::Silent {
                    silent.push(stream);
                } else {
                    // A client that hangs up early is part of the tests.
                    let _ = answer(stream, &head, behaviour, &content);
                }
            }
        });
        Self { address, requests, stop, thread: Some(thread) }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The heads of the requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read_head(stream: &TcpStream) -> String {
    let mut head = String::new();
    let mut reader = BufReader::new(stream);
    while reader.read_line(&mut head).is_ok_and(|count| count > 2) {}
    head
}

fn answer(mut stream: TcpStream, head: &str, behaviour: Behaviour, content: &[u8]) -> std::io::Result<()> {
    let asked = head
        .to_lowercase()
        .lines()
        .find_map(|line| line.strip_prefix("range: bytes=")?.trim().strip_suffix('-')?.parse::<usize>().ok());
    let start = match behaviour {
        Behaviour::Status(status) => {
            return write!(stream, "HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
        Behaviour::IgnoresRange => None,
        Behaviour::WrongRange => Some(7),
        _ => asked,
    };
    let body = &content[start.unwrap_or(0).min(content.len())..];
    let total = content.len();
    match start {
        Some(start) => {
            write!(stream, "HTTP/1.1 206 x\r\ncontent-range: bytes {start}-{}/{total}\r\n", total.saturating_sub(1))?;
        }
        None => write!(stream, "HTTP/1.1 200 x\r\n")?,
    }
    write!(stream, "content-length: {}\r\nconnection: close\r\n\r\n", body.len())?;
    match behaviour {
        Behaviour::CutAfter(count) => stream.write_all(&body[..count.min(body.len())]),
        _ => stream.write_all(body),
    }
}

/// Bytes that differ from each other.
pub(crate) fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|index| (index * 31 + index / 251) as u8).collect()
}

/// Writes a shell script that plays a client program. Another process writes it: were it open for writing
/// here while another test forks, the child would hold it open and the script could not be started.
pub(crate) fn script(folder: &Path, name: &str, body: &str) {
    let mut child = Command::new("/bin/sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(folder.join(name))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    write!(child.stdin.take().unwrap(), "#!/bin/sh\n{body}\n").unwrap();
    assert!(child.wait().unwrap().success());
}

/// Writes a wheel with these members.
pub(crate) fn wheel(path: &Path, members: &[(&str, &[u8])]) {
    let mut writer = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, content) in members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap();
}
