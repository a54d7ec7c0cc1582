//! A request to a server of this machine, blocking and short.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long each step may take: a server of this machine answers at once, or is not there.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// Largest answer.
const LARGEST: u64 = 4 << 20;

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    body: String,
}

impl Answer {
    /// The body, or null where it is no JSON.
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// Asks. HTTP/1.0, so that the body is what follows the head.
pub(super) fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: &str,
) -> io::Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.0\r\nHost: {address}\r\n{token}Content-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    stream.take(LARGEST).read_to_end(&mut bytes)?;
    read(&String::from_utf8_lossy(&bytes))
}

fn read(answer: &str) -> io::Result<Answer> {
    let broken = || io::Error::new(io::ErrorKind::InvalidData, "no HTTP answer");
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(broken)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(broken)?;
    Ok(Answer { status, body: body.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read() {
        let answer = read("HTTP/1.0 200 OK\r\nA: b\r\n\r\n{\"url\":\"x\"}").unwrap();
        assert_eq!((answer.status, answer.json()["url"].as_str()), (200, Some("x")));
        assert!(read("nonsense").is_err() && read("HTTP/1.1\r\n\r\n").is_err());
    }
}
