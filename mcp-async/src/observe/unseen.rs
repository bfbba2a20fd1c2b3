//! Errors that no log receives, because the program has no subscriber of `tracing` that wants them.

use core::error::Error;
use core::sync::atomic::{AtomicBool, Ordering};
use std::io::Write as _;

use crate::error::{ErrorChain, Printable};

/// Writes the first such error of the process to standard error, with a hint how to see the others.
/// A server over standard streams does not write there, so its host can show it.
pub(super) fn print_first(what: &str, error: &(dyn Error + 'static)) {
    static PRINTED: AtomicBool = AtomicBool::new(false);
    if PRINTED.load(Ordering::Relaxed) || is_seen() || PRINTED.swap(true, Ordering::Relaxed) {
        return;
    }
    let text = ErrorChain(error).to_string();
    let shown = Printable {
        text: &text,
        longest: LONGEST,
    };
    let lines = format!("mcp-async: {what}: {shown}\nmcp-async: {HINT}\n");
    // Without a standard error the text is lost.
    let _ = std::io::stderr().write_all(lines.as_bytes());
}

/// Returns whether a subscriber receives the errors.
#[cfg(feature = "tracing")]
fn is_seen() -> bool {
    tracing::enabled!(target: super::span::TARGET, tracing::Level::ERROR)
}

#[cfg(not(feature = "tracing"))]
const fn is_seen() -> bool {
    false
}

#[cfg(feature = "tracing")]
const HINT: &str = "no peer sees it. No further error is printed here: a \
    subscriber of the crate `tracing` receives them all, for example that of `tracing-subscriber`";

#[cfg(not(feature = "tracing"))]
const HINT: &str = "no peer sees it. No further error is printed here: with \
    the cargo feature `tracing` a subscriber of that crate receives them all";

/// The characters of an error that are printed at most.
const LONGEST: usize = 1000;
