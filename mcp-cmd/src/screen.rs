//! Standard error: messages, progress and questions.

use core::time::Duration;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::OwnedMutexGuard;

use super::plain::line;
use super::secrets::Secrets;
use super::terminal::Terminal;

/// Standard error, shared by all who write there: lines, the progress bar and questions.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    inner: Arc<Inner>,
}

/// The right to show a question, until it is dropped.
pub(crate) type Turn = OwnedMutexGuard<()>;

#[derive(Debug)]
struct Inner {
    terminal: bool,
    quiet: bool,
    secrets: Secrets,
    /// Held while a question is shown: one at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    bar: Option<ProgressBar>,
    /// The terminal as it was before the question that is being asked.
    asking: Option<Terminal>,
    /// Lines that wait for the end of a question.
    held: Vec<String>,
}

impl Screen {
    /// Without progress if it shall be quiet.
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            inner: Arc::new(Inner {
                terminal: std::io::stderr().is_terminal(),
                quiet,
                secrets: Secrets::default(),
                turn: Arc::default(),
                state: Mutex::default(),
            }),
        }
    }

    /// Returns the texts that [`say`](Self::say) does not show.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.inner.secrets
    }

    /// Writes a line without [`secrets`](Self::secrets), above the progress bar and not into a question.
    pub(crate) fn say(&self, line: impl AsRef<str>) {
        self.say_whole(self.inner.secrets.mask(line.as_ref()));
    }

    /// Writes a line as [`say`](Self::say) does, but as it is.
    pub(crate) fn say_whole(&self, line: impl Into<String>) {
        let line = line.into();
        let mut state = self.state();
        if state.asking.is_some() {
            if state.held.len() < HELD {
                state.held.push(line);
            }
            return;
        }
        match &state.bar {
            Some(bar) => bar.suspend(|| write(&line)),
            None => write(&line),
        }
    }

    /// Moves the progress bar, if there is a terminal to show it on.
    pub(crate) fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let mut state = self.state();
        if !self.inner.terminal || self.inner.quiet || state.asking.is_some() {
            return;
        }
        let bar = state.bar.get_or_insert_with(|| ProgressBar::new(STEPS));
        let message = line(message.unwrap_or_default());
        let message = self.inner.secrets.mask(&message).into_owned();
        match total.filter(|total| *total > 0.0) {
            Some(total) => {
                bar.set_style(style("{bar:30.cyan/blue} {percent:>3}% {wide_msg}"));
                let part = (progress / total).clamp(0.0, 1.0);
                bar.set_message(message);
                bar.set_position((part * STEPS as f64) as u64);
            }
            None => {
                bar.set_style(style("{spinner:.cyan} {wide_msg}"));
                bar.enable_steady_tick(Duration::from_millis(120));
                bar.set_message(format!("{progress} {message}"));
            }
        }
    }

    /// Takes the progress bar away.
    pub(crate) fn clear(&self) {
        if let Some(bar) = self.state().bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Returns whether a person can be asked: standard input and standard error are a terminal.
    pub(crate) fn can_ask(&self) -> bool {
        self.inner.terminal && std::io::stdin().is_terminal()
    }

    /// Waits until no question is shown. The next one waits until the turn is dropped.
    pub(crate) async fn turn(&self) -> Turn {
        Arc::clone(&self.inner.turn).lock_owned().await
    }

    /// Asks a person, alone on the screen. Blocks; see [`background`](super::background).
    pub(crate) fn ask<T>(&self, _: Turn, question: impl FnOnce() -> T) -> T {
        self.clear();
        self.state().asking = Some(Terminal::now());
        let answer = question();
        self.release_lines();
        answer
    }

    /// Ends a question that was not answered in time, and takes the progress bar away:
    /// the terminal is as it was.
    pub(crate) fn release(&self) {
        self.clear();
        if let Some(terminal) = self.release_lines() {
            terminal.restore();
        }
    }

    fn release_lines(&self) -> Option<Terminal> {
        let mut state = self.state();
        core::mem::take(&mut state.held)
            .iter()
            .for_each(|line| write(line));
        state.asking.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.inner
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Errors of standard error are ignored: there is no other output to report them.
fn write(line: &str) {
    use std::io::Write;
    let _ = writeln!(anstream::stderr(), "{line}");
}

fn style(template: &str) -> ProgressStyle {
    let bar = ProgressStyle::with_template(template);
    bar.unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// The bar's resolution.
const STEPS: u64 = 1000;

/// The number of lines that wait at most while a question is shown.
const HELD: usize = 1000;
