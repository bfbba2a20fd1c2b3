//! A Redis of a test, on a loopback port.

use core::time::Duration;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;

/// It ends with this value.
pub(crate) struct RedisServer {
    child: Option<Child>,
    port: u16,
    folder: PathBuf,
    options: Vec<String>,
}

impl RedisServer {
    /// A store without TLS.
    pub(crate) fn start(name: &str, options: &[&str]) -> Self {
        let port = free_port();
        let mut all = vec!["--port".to_owned(), port.to_string()];
        all.extend(options.iter().map(|option| (*option).to_owned()));
        Self::on(port, &folder(name, port), all)
    }

    /// A server on this port, which the options say as well.
    pub(crate) fn on(port: u16, folder: &Path, options: Vec<String>) -> Self {
        let mut server = Self {
            child: None,
            port,
            folder: folder.to_owned(),
            options,
        };
        server.resume();
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts it again, on the same port and with what it has on disk.
    pub(crate) fn resume(&mut self) {
        let child = Command::new("redis-server")
            .args(&self.options)
            .args(["--bind", "127.0.0.1", "--save", "", "--dir"])
            .arg(&self.folder)
            .stdout(Stdio::null())
            .spawn()
            .expect("`apt-get install redis-server` provides the program that this test starts");
        self.child = Some(child);
        wait_for(|| TcpStream::connect(("127.0.0.1", self.port)).is_ok());
    }

    /// Sends a signal to it.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.as_ref().unwrap().id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// The reply to a command of its own client.
    pub(crate) fn ask(&self, command: &[&str]) -> String {
        ask(self.port, command)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn ask(port: u16, command: &[&str]) -> String {
    let client = Command::new("redis-cli")
        .args(["--no-auth-warning", "-p", &port.to_string()])
        .args(command)
        .output()
        .unwrap();
    String::from_utf8_lossy(&client.stdout).into_owned()
}

/// Waits until it is so.
pub(crate) fn wait_for(mut is_so: impl FnMut() -> bool) {
    for _ in 0..400 {
        if is_so() {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    panic!("it does not become so");
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A folder of its own.
pub(crate) fn folder(name: &str, port: u16) -> PathBuf {
    let folder = format!("mcp-redis-{name}-{port}-{}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
