use core::fmt;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use super::child::{Grace, Process};
use super::environment::inherited;
use super::stderr::{Sink, Stderr};
use crate::runtime::RuntimeHandle;

/// A server to be started as a child process, in the manner of [`std::process::Command`].
///
/// Unlike there, the child's environment is a [short list](inherited) and what is added here;
/// its three standard streams are always pipes, and it gets a process group of its own.
///
/// On Windows the program is looked for with the extensions of `PATHEXT`, so that `npx` finds
/// `npx.cmd`.
///
/// `Debug` shows the program, never arguments or environment: they carry secrets.
///
/// ```
/// use mcp_async::process::Command;
///
/// let command = Command::new("uvx")
///     .args(["some-server", "--quiet"])
///     .env("API_KEY", "secret")
///     .on_stderr(|line| eprintln!("some-server: {line}"));
/// assert!(!format!("{command:?}").contains("secret"));
/// ```
#[derive(Clone)]
pub struct Command {
    program: OsString,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    directory: Option<PathBuf>,
    sink: Option<Sink>,
    line: usize,
    keep: usize,
    grace: Grace,
    watchdog: bool,
}

impl Command {
    /// The program, by path or by name to be found in `PATH`.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            variables: Vec::new(),
            directory: None,
            sink: None,
            line: 8 * 1024,
            keep: 20,
            grace: Grace::default(),
            watchdog: true,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds several arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        let arguments = arguments
            .into_iter()
            .map(|argument| argument.as_ref().to_owned());
        self.arguments.extend(arguments);
        self
    }

    /// Adds an environment variable, or replaces one of the [short list](inherited).
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let variable = (name.as_ref().to_owned(), value.as_ref().to_owned());
        self.variables.push(variable);
        self
    }

    /// Adds several environment variables; `std::env::vars_os()` for all that this program has.
    #[must_use]
    pub fn envs<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        variables
            .into_iter()
            .fold(self, |command, (name, value)| command.env(name, value))
    }

    /// The child's working directory; without it this program's. A relative path of the program
    /// may be resolved before or after the change: give an absolute one.
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Hands each line that the child writes to its standard error to `sink`, from the task that
    /// waits for the child: it must not block. A line is text of the peer, escape sequences
    /// included, and no sign of an error.
    #[must_use]
    pub fn on_stderr(mut self, sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.sink = Some(Arc::new(sink));
        self
    }

    /// Sets the bytes of a line of standard error that are taken (default 8 KiB, the longest line
    /// of common log formats), and the number of last lines that are kept for
    /// [`ExitedEarly`](super::ExitedEarly) (default 20).
    #[must_use]
    pub const fn stderr_limits(mut self, line: usize, keep: usize) -> Self {
        self.line = line;
        self.keep = keep;
        self
    }

    /// Sets the time that a shutdown waits before each of its steps.
    #[must_use]
    pub const fn grace(mut self, grace: Grace) -> Self {
        self.grace = grace;
        self
    }

    /// Sets whether a watchdog ends the child and all processes it started when this program ends
    /// without having done so itself, by `SIGKILL` too (default: yes).
    ///
    /// It is a shell in the child's group that waits for the end of a pipe, about 1 MB of
    /// memory. Without `/bin/sh` there is none; a well-behaved server still ends with its input.
    /// On Windows the job does that, and this changes nothing.
    #[must_use]
    pub const fn watchdog(mut self, watchdog: bool) -> Self {
        self.watchdog = watchdog;
        self
    }

    /// Returns the program.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// Starts the child.
    ///
    /// # Errors
    ///
    /// The program does not exist or cannot be executed, which the text names; its pipes cannot be watched, or what
    /// else the operating system says. Nothing is left running then.
    pub fn spawn(&self, runtime: impl Into<RuntimeHandle>) -> io::Result<Process> {
        let lines = Stderr::new(self.line, self.keep, self.sink.clone());
        let program = self.resolve().map_err(|error| self.named(&error))?;
        let mut command = std::process::Command::new(program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(inherited())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let started = Process::start(runtime.into(), command, lines, self.grace, self.watchdog);
        started.map_err(|error| self.named(&error))
    }

    /// Adds the program or the directory to the error, which the operating system does not name.
    fn named(&self, error: &io::Error) -> io::Error {
        let text = match &self.directory {
            Some(directory) if !directory.is_dir() => {
                format!("the directory {directory:?} does not exist")
            }
            _ => format!("{:?}: {error}", self.program),
        };
        io::Error::new(error.kind(), text)
    }

    #[cfg(not(windows))]
    fn resolve(&self) -> io::Result<&OsStr> {
        Ok(&self.program)
    }

    /// The full path: only with its extension is a `.cmd` recognised, and its arguments quoted
    /// for the command interpreter.
    #[cfg(windows)]
    fn resolve(&self) -> io::Result<PathBuf> {
        let path = self
            .variables
            .iter()
            .rfind(|(name, _)| name.eq_ignore_ascii_case("PATH"))
            .map(|(_, value)| value.clone())
            .or_else(|| std::env::var_os("PATH"));
        let directory = match &self.directory {
            Some(directory) => directory.clone(),
            None => std::env::current_dir()?,
        };
        which::which_in(&self.program, path, directory)
            .map_err(|error| io::Error::new(io::ErrorKind::NotFound, error))
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("arguments", &self.arguments.len())
            .field("variables", &self.variables.len())
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}
