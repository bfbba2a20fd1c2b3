//! Ctrl-C, and the end of the time that the program has.

use core::future::{Future, pending};
use core::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::exit::{Exit, Failure};
use super::screen::Screen;

/// The first Ctrl-C ends the wait of the program, the second the program. The rest of a server then
/// ends by itself: its watchdog notices the end of this process.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    pressed: watch::Receiver<bool>,
    /// The end of the time.
    end: Option<Instant>,
}

impl Interrupt {
    /// Takes over Ctrl-C for the whole program, which has so much time.
    pub(crate) fn install(screen: &Screen, limit: Option<Duration>) -> Self {
        let screen = screen.clone();
        let (sender, pressed) = watch::channel(false);
        // Without a handler Ctrl-C ends the program at once, which is no worse than before.
        let _ = ctrlc::set_handler(move || {
            if sender.send_replace(true) {
                screen.release();
                std::process::exit(i32::from(Exit::Interrupted as u8));
            }
        });
        Self {
            pressed,
            end: limit.and_then(|limit| Instant::now().checked_add(limit)),
        }
    }

    /// Returns the output of the future; Ctrl-C and the end of the time drop it, which cancels a
    /// request.
    pub(crate) async fn or<T>(&self, future: impl Future<Output = T>) -> Result<T, Failure> {
        let mut pressed = self.pressed.clone();
        let late = async {
            match self.end {
                Some(end) => sleep_until(end).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            value = future => Ok(value),
            // An error means that there is no handler.
            Ok(_) = pressed.wait_for(|pressed| *pressed) => Err(Failure::interrupted()),
            () = late => Err(Failure::late()),
        }
    }
}
