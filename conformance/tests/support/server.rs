//! A fixture that serves over HTTP in a process of its own.

use core::time::Duration;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::thread;

pub(crate) const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture");

/// A server that lives as long as this.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
}

impl Server {
    /// Starts the fixture with these arguments before and after the port.
    pub(crate) fn start(
        runtime: &str,
        before: &[&str],
        after: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr());
        let port = free.unwrap().port();
        let child = Command::new(FIXTURE)
            .args(["--runtime", runtime])
            .args(before)
            .arg(port.to_string())
            .args(after)
            .env_remove("MCP_AUTH_ISSUER")
            .env_remove("MCP_AUTH_DPOP")
            .envs(variables.iter().copied())
            .spawn()
            .expect("the fixture runs");
        let mut server = Self { child, port };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(server.child.try_wait().unwrap().is_none(), "it ended");
            thread::sleep(Duration::from_millis(5));
        }
        server
    }

    /// Returns the whole response to a request with this head, to which `connection` and `content-length` are added.
    pub(crate) fn send(&self, head: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        write!(
            stream,
            "{head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
