//! What the scripts share: a program that starts itself again in another role, and a line to
//! everyone it started, which breaks when they die.

use core::future::poll_fn;
use core::pin::Pin;
use core::time::Duration;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use futures_io::{AsyncRead, AsyncWrite};

use super::adapter::{Command, Grace};

/// A script and its name.
pub(crate) type Script = (&'static str, fn());

/// Runs the scripts whose name contains the first argument, side by side.
pub(crate) fn run(scripts: &[Script]) {
    let filter = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let chosen = scripts.iter().filter(|(name, _)| {
        filter
            .as_ref()
            .is_none_or(|filter| name.contains(filter.as_str()))
    });
    let running: Vec<_> = chosen
        .map(|(name, script)| {
            let thread = thread::Builder::new().name((*name).to_owned());
            (name, thread.spawn(*script).unwrap())
        })
        .collect();
    let mut failed = 0;
    for (name, thread) in running {
        let verdict = if thread.join().is_ok() {
            "ok"
        } else {
            "FAILED"
        };
        failed += usize::from(verdict != "ok");
        println!("script {name} ... {verdict}");
    }
    assert_eq!(failed, 0, "scripts failed");
}

/// The role that this process was started in, with what belongs to it. Whatever goes wrong in
/// it, nothing stays behind.
pub(crate) fn role() -> Option<(String, Vec<String>)> {
    let mut arguments = std::env::args().skip(1);
    let role = arguments.next()?.strip_prefix("role:")?.to_owned();
    thread::spawn(|| {
        thread::sleep(PATIENCE * 20);
        std::process::exit(9);
    });
    Some((role, arguments.collect()))
}

/// The time for children that end by themselves, however busy the machine.
pub(crate) const LONG: Grace = Grace {
    close: PATIENCE,
    terminate: PATIENCE,
};

/// This program in another role.
pub(crate) fn command(role: &str, arguments: &[&str]) -> Command {
    Command::new(program())
        .arg(format!("role:{role}"))
        .args(arguments)
        .grace(LONG)
}

/// This program.
pub(crate) fn program() -> String {
    std::env::current_exe()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned()
}

/// Where everyone who is started calls in, and stays on the line until death.
pub(crate) struct Roll {
    listener: TcpListener,
}

/// Somebody who called in.
pub(crate) struct Alive {
    name: String,
    line: BufReader<TcpStream>,
}

impl Roll {
    pub(crate) fn open() -> Self {
        Self {
            listener: TcpListener::bind("127.0.0.1:0").unwrap(),
        }
    }

    pub(crate) fn address(&self) -> String {
        self.listener.local_addr().unwrap().to_string()
    }

    /// Waits until these have called in, in any order.
    pub(crate) fn expect<const N: usize>(&self, names: [&str; N]) -> [Alive; N] {
        let mut here: Vec<Alive> = names.iter().map(|_| self.next()).collect();
        names.map(|name| {
            let at = here.iter().position(|alive| alive.name == name);
            here.swap_remove(at.unwrap_or_else(|| panic!("{name} did not call in")))
        })
    }

    fn next(&self) -> Alive {
        let (line, _) = self.listener.accept().unwrap();
        line.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut line = BufReader::new(line);
        let mut name = String::new();
        line.read_line(&mut name).unwrap();
        Alive {
            name: name.trim_end().to_owned(),
            line,
        }
    }
}

impl Alive {
    /// Waits until the line breaks.
    pub(crate) fn dies(mut self) {
        match self.listen() {
            Ok(0) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
            other => panic!("{} is alive: {other:?}", self.name),
        }
    }

    /// Whether it still lives a moment later.
    pub(crate) fn lives(&mut self) {
        let stream = self.line.get_ref();
        stream
            .set_read_timeout(Some(Duration::from_millis(50)))
            .unwrap();
        let read = self.listen();
        self.line
            .get_ref()
            .set_read_timeout(Some(PATIENCE))
            .unwrap();
        let kind = read.map_err(|error| error.kind());
        let waiting = [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut];
        assert!(
            matches!(kind, Err(kind) if waiting.contains(&kind)),
            "{} died: {kind:?}",
            self.name
        );
    }

    /// A read with a timeout is not resumed after a signal, not even after one that is ignored.
    fn listen(&mut self) -> io::Result<usize> {
        loop {
            match self.line.read(&mut [0]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}

/// Calls in; the line lasts as long as the process.
pub(crate) fn call_in(name: &str, address: &str) {
    let mut line = TcpStream::connect(address).unwrap();
    line.write_all(format!("{name}\n").as_bytes()).unwrap();
    core::mem::forget(line);
}

/// Does nothing for longer than any script lasts.
pub(crate) fn linger() {
    thread::sleep(PATIENCE * 2);
}

pub(crate) async fn read_some(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut block = [0; 4096];
    let len = poll_fn(|task| Pin::new(&mut *from).poll_read(task, &mut block)).await?;
    Ok(block[..len].to_vec())
}

pub(crate) async fn read_to_end(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let block = read_some(from).await?;
        if block.is_empty() {
            return Ok(all);
        }
        all.extend(block);
    }
}

pub(crate) async fn write_all(
    to: &mut (impl AsyncWrite + Unpin),
    mut bytes: &[u8],
) -> io::Result<()> {
    while !bytes.is_empty() {
        let len = poll_fn(|task| Pin::new(&mut *to).poll_write(task, bytes)).await?;
        bytes = &bytes[len..];
    }
    poll_fn(|task| Pin::new(&mut *to).poll_flush(task)).await
}

/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
