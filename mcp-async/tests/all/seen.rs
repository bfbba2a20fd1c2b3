//! A record of events, line by line.

use std::sync::{Arc, Mutex};

/// The notes of handlers and callbacks.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    pub(crate) fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        core::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Notes that it was dropped.
pub(crate) struct Guard(pub(crate) Seen, pub(crate) &'static str);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.note(self.1);
    }
}
