//! The terminal as it was before a question.

use dialoguer::console::Term;

/// Questions read key by key and hide the cursor. One that is left in the middle, because what
/// it was for is over, leaves the terminal like that.
#[derive(Debug)]
pub(crate) struct Terminal {
    #[cfg(unix)]
    settings: Option<rustix::termios::Termios>,
}

impl Terminal {
    pub(crate) fn now() -> Self {
        Self {
            #[cfg(unix)]
            settings: rustix::termios::tcgetattr(std::io::stdin()).ok(),
        }
    }

    pub(crate) fn restore(&self) {
        #[cfg(unix)]
        if let Some(settings) = &self.settings {
            use rustix::termios::{OptionalActions, tcsetattr};
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, settings);
        }
        let _ = Term::stderr().show_cursor();
    }
}
