//! Child processes, real ones, on whichever adapter includes this.

use core::panic::AssertUnwindSafe;
use core::pin::pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Waker};
use core::time::Duration;
use std::io::{self, Read, Write};
use std::panic::catch_unwind;
use std::process::{Command as Program, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;

use super::adapter::{self, Command, Grace, Process};
use super::block_on;
use super::script::{
    LONG, Roll, Script, call_in, command, linger, program, read_some, read_to_end, write_all,
};

pub(crate) const SCRIPTS: &[Script] = &[
    ("a polite child ends with its input", polite),
    ("a deaf child is terminated", deaf),
    #[cfg(unix)]
    ("a child that ignores the termination is killed", stubborn),
    ("a child that exits leaves no grandchild", grandchild_left),
    ("a grandchild goes with its deaf parent", family_shutdown),
    ("dropping kills the family", || end_of_family(drop)),
    ("a shutdown cut short kills the family", || {
        end_of_family(|process| {
            drop((process.stdin, process.stdout));
            let mut shutdown = pin!(process.child.shutdown());
            let mut task = Context::from_waker(Waker::noop());
            assert!(shutdown.as_mut().poll(&mut task).is_pending());
        });
    }),
    ("a panic kills the family", || {
        end_of_family(|process| {
            let unwound = catch_unwind(AssertUnwindSafe(move || {
                let _inside = process;
                std::panic::resume_unwind(Box::new("on purpose"));
            }));
            assert!(unwound.is_err());
        });
    }),
    ("a killed host leaves no family", || end_of_host("stay")),
    ("an aborting host leaves no family", || end_of_host("abort")),
    ("an exiting host leaves no family", || end_of_host("exit")),
    ("a child that dies at once is described", dies_at_once),
    (
        "last words without an end are quoted",
        last_words_without_an_end,
    ),
    ("a child that closes its output is killed", closes_output),
    ("a flood of standard error stops nobody", flood),
    ("the environment is short", environment),
    ("a function in the environment is left out", shell_function),
    ("the directory is the caller's", directory),
    ("a launcher is found by its bare name", launcher_by_name),
    ("a program that is not there is an error", not_there),
    ("without a runtime there is no panic", without_runtime),
];

/// ST-08, ST-09.
fn polite() {
    block_on(async {
        let roll = Roll::open();
        let mut process = start("cat", &[&roll.address()]);
        let [child] = roll.expect(["cat"]);
        for text in ["one", "two"] {
            write_all(&mut process.stdin, text.as_bytes())
                .await
                .unwrap();
            assert_eq!(
                read_some(&mut process.stdout).await.unwrap(),
                text.as_bytes()
            );
        }
        let status = shutdown(process).await;
        assert_eq!(status.code(), Some(0));
        child.dies();
    });
}

/// ST-08, ST-09.
fn deaf() {
    block_on(async {
        let roll = Roll::open();
        let command = command("deaf", &[&roll.address()]).grace(SHORT);
        let process = command.spawn(adapter::Runtime).unwrap();
        let [child] = roll.expect(["deaf"]);
        let status = shutdown(process).await;
        check_signal(status, 15);
        child.dies();
    });
}

/// ST-08, ST-09.
#[cfg(unix)]
fn stubborn() {
    block_on(async {
        let roll = Roll::open();
        let command = Command::new("sh")
            .args(["-c", "trap '' TERM; exec \"$0\" role:deaf \"$1\""])
            .args([program(), roll.address()])
            .grace(SHORT);
        let process = command.spawn(adapter::Runtime).unwrap();
        let [child] = roll.expect(["deaf"]);
        check_signal(shutdown(process).await, 9);
        child.dies();
    });
}

fn grandchild_left() {
    block_on(async {
        let roll = Roll::open();
        let mut process = start("launcher", &[&roll.address()]);
        let [child, mut grandchild] = roll.expect(["launcher", "deaf"]);
        assert_eq!(process.child.wait().await.unwrap().code(), Some(0));
        child.dies();
        grandchild.lives();
        assert_eq!(shutdown(process).await.code(), Some(0));
        grandchild.dies();
    });
}

fn family_shutdown() {
    block_on(async {
        let roll = Roll::open();
        let command = command("family", &[&roll.address()]).grace(SHORT);
        let process = command.spawn(adapter::Runtime).unwrap();
        let [child, grandchild] = roll.expect(["family", "deaf"]);
        check_signal(shutdown(process).await, 15);
        child.dies();
        grandchild.dies();
    });
}

fn end_of_family(end: fn(Process)) {
    block_on(async {
        let roll = Roll::open();
        let process = start("family", &[&roll.address()]);
        let [mut child, mut grandchild] = roll.expect(["family", "deaf"]);
        child.lives();
        grandchild.lives();
        end(process);
        child.dies();
        grandchild.dies();
    });
}

fn end_of_host(way: &str) {
    let roll = Roll::open();
    let mut host = Program::new(program())
        .args(["role:host", way, &roll.address()])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let [mut child, mut grandchild] = roll.expect(["family", "deaf"]);
    child.lives();
    grandchild.lives();
    match way {
        "stay" => host.kill().unwrap(),
        _ => drop(host.stdin.take()),
    }
    assert!(!host.wait().unwrap().success());
    child.dies();
    grandchild.dies();
}

fn dies_at_once() {
    block_on(async {
        let mut process = start("die", &[]);
        assert_eq!(read_to_end(&mut process.stdout).await.unwrap(), b"");
        let died = process.child.exited_early().await;
        assert_eq!(died.status.and_then(|status| status.code()), Some(3));
        assert_eq!(died.lines, ["cannot find the key", "giving up"]);
        let text = died.to_string();
        assert!(text.contains('3') && text.contains("giving up"), "{text}");
        assert!(
            !format!("{died:?}").contains("giving up"),
            "Debug tells what a child wrote"
        );
    });
}

/// A process outside of the child's group keeps standard error open, so that it does not end.
#[cfg(unix)]
fn last_words_without_an_end() {
    block_on(async {
        let script = "setsid sleep 1 & printf 'cannot find the key\\ngiving up' >&2; exit 3";
        let command = Command::new("sh").args(["-c", script]).grace(SHORT);
        let mut process = command.spawn(adapter::Runtime).unwrap();
        process.child.wait().await.unwrap();
        let died = process.child.exited_early().await;
        assert_eq!(died.lines, ["cannot find the key", "giving up"]);
    });
}

/// Nothing outlives its job there.
#[cfg(windows)]
const fn last_words_without_an_end() {}

#[cfg(unix)]
fn closes_output() {
    block_on(async {
        let roll = Roll::open();
        let command = Command::new("sh")
            .args(["-c", "exec >&-; exec \"$0\" role:deaf \"$1\""])
            .args([program(), roll.address()])
            .grace(SHORT);
        let mut process = command.spawn(adapter::Runtime).unwrap();
        let [child] = roll.expect(["deaf"]);
        assert_eq!(read_to_end(&mut process.stdout).await.unwrap(), b"");
        assert_eq!(process.child.exited_early().await.status, None);
        child.dies();
    });
}

/// Nothing there closes an output early but a program that ends.
#[cfg(windows)]
const fn closes_output() {}

/// ST-05, ST-06.
fn flood() {
    block_on(async {
        let lines = Arc::new(AtomicUsize::new(0));
        let longest = Arc::new(AtomicUsize::new(0));
        let sinks = (Arc::clone(&lines), Arc::clone(&longest));
        let command = command("flood", &[])
            .stderr_limits(100, 3)
            .on_stderr(move |line| {
                sinks.0.fetch_add(1, Ordering::Relaxed);
                sinks.1.fetch_max(line.len(), Ordering::Relaxed);
            });
        let mut process = command.spawn(adapter::Runtime).unwrap();
        drop(process.stdin);
        assert_eq!(process.child.wait().await.unwrap().code(), Some(0));
        assert_eq!(read_to_end(&mut process.stdout).await.unwrap(), b"done");
        let died = process.child.exited_early().await;
        assert_eq!(died.lines, ["9998", "9999", "the end"]);
        assert_eq!(lines.load(Ordering::Relaxed), 10_002);
        assert_eq!(longest.load(Ordering::Relaxed), 100);
    });
}

fn environment() {
    block_on(async {
        let command = command("environment", &[])
            .env("API_KEY", "1")
            .env("PATH", "replaced");
        let text = output(&command).await;
        let mut expected: Vec<_> = mcp_async::process::inherited()
            .map(|(name, value)| match name {
                "PATH" => "PATH=replaced".to_owned(),
                _ => format!("{name}={}", value.to_string_lossy()),
            })
            .chain(["API_KEY=1".to_owned()])
            .collect();
        let mut got: Vec<_> = text.lines().map(str::to_owned).collect();
        if cfg!(windows) {
            // Names have no case there, and the system adds some of its own.
            expected
                .iter_mut()
                .for_each(|line| line.make_ascii_uppercase());
            got.iter_mut().for_each(|line| line.make_ascii_uppercase());
            got.retain(|line| expected.contains(line));
        }
        check_same(got, expected);
        assert!(!format!("{command:?}").contains("API_KEY"));
    });
}

/// Sets the variable for a host of its own, since a program cannot safely change itself.
fn shell_function() {
    let seen = Program::new(program())
        .args(["role:host-environment"])
        .env("USER", "() { :; }")
        .env("HOME", "/here")
        .env("USERNAME", "() { :; }")
        .env("USERPROFILE", "/here")
        .output()
        .unwrap();
    let text = String::from_utf8(seen.stdout).unwrap();
    assert!(text.contains("=/here"), "{text}");
    assert!(!text.contains("()"), "{text}");
}

fn directory() {
    block_on(async {
        let directory = std::env::temp_dir().canonicalize().unwrap();
        let text = output(&command("directory", &[]).current_dir(&directory)).await;
        assert_eq!(
            std::path::PathBuf::from(text).canonicalize().unwrap(),
            directory
        );
    });
}

/// As `npx` is: in `PATH`, and on Windows a script with an extension that nobody writes.
fn launcher_by_name() {
    let directory = std::env::temp_dir().join(format!("mcp-launcher-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(program(), directory.join("mcp-shim")).unwrap();
    #[cfg(windows)]
    {
        let text = format!("@\"{}\" %*\r\n", program());
        std::fs::write(directory.join("mcp-shim.cmd"), text).unwrap();
    }
    block_on(async {
        let roll = Roll::open();
        let command = Command::new("mcp-shim").args(["role:cat", &roll.address()]);
        let command = command.env("PATH", &directory).grace(LONG);
        let mut process = command.spawn(adapter::Runtime).unwrap();
        let [child] = roll.expect(["cat"]);
        write_all(&mut process.stdin, b"through").await.unwrap();
        assert_eq!(read_some(&mut process.stdout).await.unwrap(), b"through");
        assert_eq!(shutdown(process).await.code(), Some(0));
        child.dies();
    });
    std::fs::remove_dir_all(&directory).unwrap();
}

fn not_there() {
    block_on(async {
        let error = Command::new("no-such-server-anywhere")
            .spawn(adapter::Runtime)
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    });
}

fn without_runtime() {
    let roll = Roll::open();
    let started = command("deaf", &[&roll.address()]).spawn(adapter::Runtime);
    // One runtime has a reactor everywhere, the other says that it is not here.
    drop(started);
}

/// What this program does when it was started as a child; false for a role of others.
pub(crate) fn play(role: &str, arguments: &[&str]) -> bool {
    match (role, arguments) {
        ("cat", [address]) => {
            call_in("cat", address);
            let (mut stdin, mut stdout) = (io::stdin().lock(), io::stdout().lock());
            let mut block = [0; 4096];
            while let Ok(len @ 1..) = stdin.read(&mut block) {
                stdout.write_all(&block[..len]).unwrap();
                stdout.flush().unwrap();
            }
        }
        ("deaf", [address]) => {
            call_in("deaf", address);
            linger();
        }
        ("launcher", [address]) => {
            call_in("launcher", address);
            launch("deaf", address);
        }
        ("family", [address]) => {
            call_in("family", address);
            launch("deaf", address);
            linger();
        }
        ("die", []) => {
            eprint!("cannot find the key\ngiving up");
            std::process::exit(3);
        }
        ("flood", []) => {
            let mut stderr = io::stderr().lock();
            stderr.write_all("x".repeat(1 << 20).as_bytes()).unwrap();
            for line in 0..10_000 {
                write!(stderr, "\n{line}").unwrap();
            }
            write!(stderr, "\nthe end").unwrap();
            print!("done");
        }
        ("environment", []) => {
            for (name, value) in std::env::vars_os() {
                println!("{}={}", name.to_string_lossy(), value.to_string_lossy());
            }
        }
        ("directory", []) => print!("{}", std::env::current_dir().unwrap().display()),
        ("host", [way, address]) => block_on(async {
            let process = start("family", &[address]);
            io::stdin().read_to_end(&mut Vec::new()).unwrap();
            match *way {
                "abort" => std::process::abort(),
                "exit" => std::process::exit(1),
                _ => drop(process),
            }
        }),
        ("host-environment", []) => block_on(async {
            print!("{}", output(&command("environment", &[])).await);
        }),
        _ => return false,
    }
    true
}

/// A grandchild that shares nothing with the wire.
fn launch(role: &str, address: &str) {
    let mut grandchild = Program::new(program());
    grandchild.args([&format!("role:{role}"), address]);
    grandchild
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut running = grandchild.spawn().unwrap();
    thread::spawn(move || running.wait());
}

fn start(role: &str, arguments: &[&str]) -> Process {
    command(role, arguments).spawn(adapter::Runtime).unwrap()
}

async fn shutdown(process: Process) -> ExitStatus {
    drop((process.stdin, process.stdout));
    process.child.shutdown().await.unwrap()
}

async fn output(command: &Command) -> String {
    let mut process = command.spawn(adapter::Runtime).unwrap();
    let text = read_to_end(&mut process.stdout).await.unwrap();
    assert!(shutdown(process).await.success());
    String::from_utf8(text).unwrap()
}

fn check_same(mut one: Vec<String>, mut other: Vec<String>) {
    one.sort();
    other.sort();
    assert_eq!(one, other);
}

#[cfg(unix)]
fn check_signal(status: ExitStatus, signal: i32) {
    use std::os::unix::process::ExitStatusExt;

    assert_eq!(status.signal(), Some(signal));
}

/// A job that ends does not tell how its members did.
#[cfg(windows)]
const fn check_signal(_: ExitStatus, _: i32) {}

/// For those who never end by themselves.
const SHORT: Grace = Grace {
    close: Duration::from_millis(100),
    terminate: Duration::from_millis(100),
};
