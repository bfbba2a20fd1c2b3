//! Standard input and output, of every kind, on whichever adapter includes this.

use core::future::pending;
use core::time::Duration;
use std::io::{self, Read, Write};
use std::process::{Child, Command as Program, Stdio};
use std::thread;

use mcp_async::tasks::server::{TaskPolicy, Tasks};
use mcp_async::tasks::store::{MemoryTaskStore, TaskStore};

use super::adapter::server::{HandlerError, Tool};
use super::adapter::{self, Input, Output, StdioMode};
use super::block_on;
use super::script::{Script, program, read_some, read_to_end, write_all};

pub(crate) const SCRIPTS: &[Script] = &[
    ("an exclusive wire is clean", exclusive),
    ("a shared wire is not", shared),
    ("a wire is taken once", taken_once),
    ("much passes in both directions", much),
    ("much passes through threads", much_through_threads),
    ("a file and its end", file),
    ("the end of input ends the tasks of a server", tasks),
    #[cfg(unix)]
    (
        "every kind of descriptor, unchanged for others",
        unix::kinds,
    ),
    #[cfg(unix)]
    ("much passes through sockets", unix::much_through_sockets),
    #[cfg(unix)]
    ("an output that was closed before", unix::closed_before),
    #[cfg(unix)]
    ("an output that is closed meanwhile", unix::closed_meanwhile),
];

/// ST-03.
fn exclusive() {
    let mut server = start("exclusive", Stdio::piped(), Stdio::piped());
    server.stdin.take().unwrap().write_all(b"hello").unwrap();
    let (wire, log) = finish(server);
    assert_eq!(wire, "hello");
    assert!(
        log.contains("stray") && log.contains("found 0 bytes"),
        "{log}"
    );
}

fn shared() {
    let mut server = start("shared", Stdio::piped(), Stdio::piped());
    server.stdin.take().unwrap().write_all(b"hello").unwrap();
    let (wire, _) = finish(server);
    assert!(wire.contains("stray") && wire.ends_with("hello"), "{wire}");
}

fn taken_once() {
    let server = start("twice", Stdio::null(), Stdio::piped());
    assert!(finish(server).1.contains("AlreadyExists"));
}

fn much() {
    let mut server = start("exclusive", Stdio::piped(), Stdio::piped());
    let input = server.stdin.take().unwrap();
    let output = server.stdout.take().unwrap();
    check_much(input, output);
    finish(server);
}

/// What no runtime can watch, which here is nothing: the threads take pipes as well.
fn much_through_threads() {
    let (reader, mut far_writer) = io::pipe().unwrap();
    let (mut far_reader, writer) = io::pipe().unwrap();
    let mut input = Input::from_reader(reader).unwrap();
    let mut output = Output::from_writer(writer).unwrap();
    let much: Vec<u8> = (0..1_u32 << 20).map(|at| ((at * 31) >> 3) as u8).collect();
    let expected = much.clone();
    let sender = thread::spawn(move || far_writer.write_all(&much).unwrap());
    let receiver = thread::spawn(move || {
        let mut all = Vec::new();
        far_reader.read_to_end(&mut all).unwrap();
        all
    });
    block_on(async {
        let all = read_to_end(&mut input).await.unwrap();
        assert!(all == expected, "bytes were lost or mixed on the way in");
        assert!(
            read_some(&mut input).await.unwrap().is_empty(),
            "the end lasts"
        );
        write_all(&mut output, &all).await.unwrap();
    });
    drop(output);
    sender.join().unwrap();
    assert!(
        receiver.join().unwrap() == expected,
        "bytes were lost or mixed on the way out"
    );
}

fn file() {
    let path = std::env::temp_dir().join(format!("mcp-stdio-{}", std::process::id()));
    std::fs::write(&path, "from a file").unwrap();
    let input = std::fs::File::open(&path).unwrap();
    let (wire, _) = finish(start("exclusive", input.into(), Stdio::piped()));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(wire, "from a file");
}

/// TK-60: the program ends after the store has the end of its tasks.
fn tasks() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}"#;
    let mut server = start("tasks", Stdio::piped(), Stdio::piped());
    let mut input = server.stdin.take().unwrap();
    writeln!(input, "{call}").unwrap();
    drop(input);
    let (wire, log) = finish(server);
    assert!(wire.contains("taskId"), "{wire}");
    assert!(log.contains("Failed the server is shutting down"), "{log}");
}

async fn serve_tasks() {
    let store = MemoryTaskStore::new();
    let wait = Tool::new("wait")
        .task(TaskPolicy::Required)
        .handler(|(): (), _| pending::<Result<String, HandlerError>>());
    let server = adapter::Server::builder("s", "1")
        .with(wait)
        .tasks(Tasks::new().store(store.clone()))
        .shutdown_timeout(Duration::from_millis(100));
    server.serve(adapter::stdio()).await.unwrap();
    for record in store.expired(u64::MAX, 9).await.unwrap() {
        let message = record.status_message().unwrap_or_default();
        eprintln!("{:?} {message}", record.status());
    }
}

/// Four megabytes, far more than all buffers on the way hold together.
fn check_much(mut input: impl Write + Send + 'static, mut output: impl Read) {
    let much: Vec<u8> = (0..4_u32 << 20).map(|at| ((at * 31) >> 3) as u8).collect();
    let expected = much.clone();
    let writer = thread::spawn(move || input.write_all(&much).unwrap());
    let mut got = vec![0; expected.len()];
    output.read_exact(&mut got).unwrap();
    writer.join().unwrap();
    assert!(got == expected, "bytes were lost or mixed");
}

/// What this program does when it was started as a child; false for a role of others.
pub(crate) fn play(role: &str) -> bool {
    match role {
        "exclusive" => block_on(echo(StdioMode::Exclusive)),
        "shared" => block_on(echo(StdioMode::Shared)),
        "twice" => block_on(async {
            let _wire = adapter::stdio::open(&adapter::Runtime, StdioMode::Exclusive).unwrap();
            let again = adapter::stdio::open(&adapter::Runtime, StdioMode::Exclusive).unwrap_err();
            eprintln!("{:?}", again.kind());
        }),
        "tasks" => block_on(serve_tasks()),
        "child" => {
            let mut read = Vec::new();
            io::stdin().read_to_end(&mut read).unwrap();
            println!("the child found {} bytes", read.len());
        }
        _ => return false,
    }
    true
}

async fn echo(mode: StdioMode) {
    let (mut input, mut output) = adapter::stdio::open(&adapter::Runtime, mode).unwrap();
    eprintln!("{} {}", input.mode(), output.mode());
    println!("stray");
    if mode == StdioMode::Exclusive {
        let child = Program::new(program()).arg("role:child").status().unwrap();
        assert!(child.success());
    }
    loop {
        let block = read_some(&mut input).await.unwrap();
        if block.is_empty() {
            break;
        }
        if let Err(error) = write_all(&mut output, &block).await {
            eprintln!("write: {:?}", error.kind());
            break;
        }
    }
}

fn start(role: &str, stdin: Stdio, stdout: Stdio) -> Child {
    let mut server = Program::new(program());
    server
        .arg(format!("role:{role}"))
        .stdin(stdin)
        .stdout(stdout);
    server.stderr(Stdio::piped()).spawn().unwrap()
}

/// Its remaining output and its log; it ends by itself.
fn finish(server: Child) -> (String, String) {
    let output = server.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let log = text(output.stderr);
    assert_eq!(output.status.code(), Some(0), "{log}");
    (text(output.stdout), log)
}

#[cfg(unix)]
mod unix {
    use core::time::Duration;
    use std::fs::{File, OpenOptions};
    use std::io::{BufRead, BufReader};
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::net::UnixStream;

    use rustix::fs::{OFlags, fcntl_getfl};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    /// One end for the server, the other for the script.
    struct Ends {
        theirs: OwnedFd,
        ours: File,
    }

    pub(super) fn kinds() {
        // Linux reopens; elsewhere a thread does it.
        let reopened = if cfg!(target_os = "linux") {
            "watched"
        } else {
            "thread"
        };
        let null = if cfg!(target_os = "linux") {
            "direct"
        } else {
            "thread"
        };
        check_input(pipe_in(), "hello", reopened);
        check_input(socket(), "hello", "watched");
        check_input(terminal(), "hello\n", reopened);
        check_input(null_device(), "", null);
        check_output(pipe_out(), "hello", reopened);
        check_output(socket(), "hello", "watched");
        check_output(terminal(), "hello", reopened);
        check_output(null_device(), "", null);
        check_output(file(), "", "direct");
    }

    pub(super) fn much_through_sockets() {
        let (input, output) = (socket(), socket());
        let server = start("exclusive", input.theirs.into(), output.theirs.into());
        check_much(input.ours, output.ours);
        finish(server);
    }

    pub(super) fn closed_before() {
        let Ends { theirs, ours } = pipe_out();
        drop(ours);
        let mut server = start("exclusive", Stdio::piped(), theirs.into());
        server.stdin.take().unwrap().write_all(b"hello").unwrap();
        assert!(finish(server).1.contains("write: BrokenPipe"));
    }

    pub(super) fn closed_meanwhile() {
        let mut server = start("exclusive", Stdio::piped(), Stdio::piped());
        let mut input = server.stdin.take().unwrap();
        let mut output = server.stdout.take().unwrap();
        input.write_all(b"one").unwrap();
        output.read_exact(&mut [0; 3]).unwrap();
        drop(output);
        // A process that another script starts right now may hold its other end a moment longer.
        while server.try_wait().unwrap().is_none() {
            let _ = input.write_all(b"two");
            thread::sleep(Duration::from_millis(10));
        }
        assert!(finish(server).1.contains("write: BrokenPipe"));
    }

    fn check_input(ends: Ends, text: &str, mode: &str) {
        let Ends { theirs, mut ours } = ends;
        let terminal = rustix::termios::isatty(&theirs);
        let twin = theirs.try_clone().unwrap();
        let mut server = start("exclusive", theirs.into(), Stdio::piped());
        let mut log = BufReader::new(server.stderr.take().unwrap());
        let mut modes = String::new();
        log.read_line(&mut modes).unwrap();
        assert_eq!(modes.split_whitespace().next(), Some(mode));
        check_unchanged(&twin);
        ours.write_all(text.as_bytes()).unwrap();
        if terminal {
            ours.write_all(b"\x04").unwrap();
        }
        // A master that closes hangs its terminal up before the line is read.
        let kept = terminal.then_some(ours);
        let (wire, _) = finish(server);
        assert_eq!(wire, text);
        check_unchanged(&twin);
        drop((kept, log));
    }

    fn check_output(ends: Ends, text: &str, mode: &str) {
        let Ends { theirs, mut ours } = ends;
        let twin = theirs.try_clone().unwrap();
        let mut server = start("exclusive", Stdio::piped(), theirs.into());
        server.stdin.take().unwrap().write_all(b"hello").unwrap();
        let (_, log) = finish(server);
        let modes = log.lines().next().unwrap();
        assert_eq!(modes.split_whitespace().last(), Some(mode));
        check_unchanged(&twin);
        let mut wire = vec![0; text.len()];
        ours.read_exact(&mut wire).unwrap();
        assert_eq!(String::from_utf8(wire).unwrap(), text);
    }

    fn check_unchanged(descriptor: impl AsFd) {
        let flags = fcntl_getfl(descriptor).unwrap();
        assert!(
            !flags.contains(OFlags::NONBLOCK),
            "O_NONBLOCK on a shared descriptor"
        );
    }

    fn pipe_in() -> Ends {
        let (theirs, ours) = io::pipe().unwrap();
        Ends {
            theirs: theirs.into(),
            ours: OwnedFd::from(ours).into(),
        }
    }

    fn pipe_out() -> Ends {
        let (ours, theirs) = io::pipe().unwrap();
        Ends {
            theirs: theirs.into(),
            ours: OwnedFd::from(ours).into(),
        }
    }

    fn socket() -> Ends {
        let (theirs, ours) = UnixStream::pair().unwrap();
        Ends {
            theirs: theirs.into(),
            ours: OwnedFd::from(ours).into(),
        }
    }

    fn terminal() -> Ends {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let theirs = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).unwrap();
        Ends {
            theirs,
            ours: master.into(),
        }
    }

    fn null_device() -> Ends {
        let null = || {
            OpenOptions::new()
                .read(true)
                .write(true)
                .open("/dev/null")
                .unwrap()
        };
        Ends {
            theirs: null().into(),
            ours: null(),
        }
    }

    fn file() -> Ends {
        let path = std::env::temp_dir().join(format!("mcp-output-{}", std::process::id()));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path);
        let ours = file.unwrap();
        std::fs::remove_file(path).unwrap();
        Ends {
            theirs: ours.try_clone().unwrap().into(),
            ours,
        }
    }
}
