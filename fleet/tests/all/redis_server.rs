//! A Redis of a test, on a loopback port.

use core::time::Duration;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;

/// It ends with this value.
pub(crate) struct RedisServer {
    child: Option<Child>,
    port: u16,
    folder: PathBuf,
    options: Vec<&'static str>,
}

impl RedisServer {
    pub(crate) fn start(name: &str, options: &[&'static str]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let folder = std::env::temp_dir().join(format!("mcp-redis-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut server = Self {
            child: None,
            port,
            folder,
            options: options.to_vec(),
        };
        server.resume();
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
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
            .args(["--bind", "127.0.0.1", "--save", "", "--port"])
            .arg(self.port.to_string())
            .arg("--dir")
            .arg(&self.folder)
            .args(&self.options)
            .stdout(Stdio::null())
            .spawn()
            .expect("`apt-get install redis-server` provides the program that this test starts");
        self.child = Some(child);
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            sleep(Duration::from_millis(25));
        }
        panic!("redis-server does not listen");
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
