//! HTTP on real sockets, with whichever adapter includes this, and clients that send bytes by hand.

mod client;
mod faults;
#[cfg(feature = "auth")]
mod login;
mod mcp;
mod server;
mod service;
mod shared;

use core::net::SocketAddr;
use core::time::Duration;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;

use mcp_async::net::{HttpListener, Identity, RootCertificates};
use mcp_async::runtime::Task;

use super::adapter::tcp;
use super::block_on;
use service::{Gate, Tested};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);
/// A limit that a test runs into on purpose.
const SOON: Duration = Duration::from_millis(200);
/// The same where something has to happen before it, however busy the machine.
const LATER: Duration = Duration::from_secs(2);

/// A server in a thread of its own.
struct Running {
    address: SocketAddr,
    end: Gate,
    ended: mpsc::Receiver<io::Result<()>>,
}

fn start(listen: HttpListener, service: Tested) -> Running {
    let address = listen.address().unwrap();
    run(address, |until| listen.serve(service, until))
}

/// Runs what ends with the future that it is given.
fn run<F>(address: SocketAddr, serve: impl FnOnce(Task) -> F + Send + 'static) -> Running
where
    F: Future<Output = io::Result<()>>,
{
    let (result, ended) = mpsc::channel();
    let end = Gate::default();
    let gate = end.clone();
    thread::spawn(move || {
        let until = Box::pin(async move { gate.passed().await });
        let _ = result.send(block_on(serve(until)));
    });
    Running {
        address,
        end,
        ended,
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

impl Running {
    fn connect(&self) -> Raw {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Raw(stream)
    }

    /// Asks it to end.
    fn end(&self) {
        self.end.open();
    }

    fn has_ended(&self) {
        self.end();
        self.ended.recv_timeout(PATIENCE).unwrap().unwrap();
    }
}

/// A client that says what it is told.
struct Raw(TcpStream);

impl Raw {
    fn say(&mut self, text: &str) -> &mut Self {
        self.0.write_all(text.as_bytes()).unwrap();
        self
    }

    fn get(&mut self, path: &str) -> &mut Self {
        self.say(&format!("GET {path} HTTP/1.1\r\nHost: here\r\n\r\n"))
    }

    /// Begins HTTP/2 with so much credit for each stream (RFC 9113 3.4, 6.5.2).
    fn begin_http2(&mut self, credit: u32) {
        self.say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        let [a, b, c, d] = credit.to_be_bytes();
        let settings = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, a, b, c, d];
        self.0.write_all(&settings).unwrap();
    }

    /// A GET in one frame, whose fields stand in the static table or as they are (RFC 7541 6).
    fn get_http2(&mut self, stream: u32, path: &str) -> &mut Self {
        let mut fields = vec![0x82, 0x86, 4, u8::try_from(path.len()).unwrap()];
        fields.extend_from_slice(path.as_bytes());
        fields.extend_from_slice(b"\x01\x04here");
        self.frame(1, 5, stream, &fields).unwrap();
        self
    }

    /// A frame of HTTP/2, which a server that had enough does not take any more (RFC 9113 4.1).
    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        let len = u8::try_from(payload.len()).unwrap();
        let [a, b, c, d] = stream.to_be_bytes();
        let head = [0, 0, len, kind, flags, a, b, c, d];
        self.0.write_all(&[&head[..], payload].concat())
    }

    /// What one read brings.
    fn hear(&mut self) -> String {
        let mut bytes = [0; 16 * 1024];
        let len = self.0.read(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..len]).into_owned()
    }

    /// Everything until the end of the connection; a reset is an end.
    fn hear_out(&mut self) -> String {
        let mut heard = Vec::new();
        let mut bytes = [0; 16 * 1024];
        loop {
            match self.0.read(&mut bytes) {
                Ok(0) => break,
                Ok(len) => heard.extend_from_slice(&bytes[..len]),
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset, "{error}");
                    break;
                }
            }
        }
        String::from_utf8_lossy(&heard).into_owned()
    }
}

fn local() -> HttpListener {
    tcp("127.0.0.1:0").plain_http2()
}

/// A certificate for `server.example` and this machine, and who trusts it.
fn certificate() -> (Identity, RootCertificates) {
    let names = ["server.example", "localhost", "127.0.0.1"].map(str::to_owned);
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    (
        Identity::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap(),
        RootCertificates::from_pem(certificate.as_bytes()).unwrap(),
    )
}
