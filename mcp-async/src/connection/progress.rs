//! The progress of a call.

use core::fmt::{self, Write as _};
use core::ops::Range;

use mcp_proto::json::{Number, Str};

/// The progress of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'p> {
    /// Larger each time.
    pub progress: f64,
    /// The total, at which the progress ends, if the server knows it.
    pub total: Option<f64>,
    /// A message about the progress, for a person to read.
    pub message: Option<&'p str>,
}

impl Progress<'_> {
    /// Returns the share of the work that is done, from 0 to 1, if the server stated the total.
    pub fn fraction(&self) -> Option<f64> {
        let total = self.total.filter(|total| *total > 0.0)?;
        Some((self.progress / total).clamp(0.0, 1.0))
    }
}

/// The progress of one call since its future was polled last.
///
/// It stays with the call's place, so in the long run it costs no allocation. When it is full,
/// what came before the newest is forgotten: the newest says all that still matters.
#[derive(Debug, Default)]
pub(crate) struct ReceivedProgress {
    steps: Vec<Step>,
    /// The messages, one after the other.
    text: Text,
}

#[derive(Debug)]
struct Step {
    progress: f64,
    total: Option<f64>,
    message: Option<Range<usize>>,
}

/// Takes so much text as there is room for, and drops the rest.
#[derive(Debug, Default)]
struct Text(String);

impl ReceivedProgress {
    pub(crate) const fn new() -> Self {
        Self {
            steps: Vec::new(),
            text: Text(String::new()),
        }
    }

    pub(crate) fn push(
        &mut self,
        progress: Number<'_>,
        total: Option<Number<'_>>,
        message: Option<Str<'_>>,
    ) {
        if self.steps.len() >= STEPS || self.text.0.len() >= TEXT {
            self.clear();
        }
        let start = self.text.0.len();
        if let Some(message) = message {
            let _ = write!(self.text, "{message}");
        }
        self.steps.push(Step {
            progress: progress.to_f64(),
            total: total.map(Number::to_f64),
            message: message.map(|_| start..self.text.0.len()),
        });
    }

    /// Hands all of it over, oldest first.
    pub(crate) fn tell(&mut self, on_progress: &mut dyn FnMut(Progress<'_>)) {
        for step in &self.steps {
            on_progress(Progress {
                progress: step.progress,
                total: step.total,
                message: step
                    .message
                    .as_ref()
                    .and_then(|range| self.text.0.get(range.clone())),
            });
        }
        self.clear();
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.text.0.clear();
    }

    /// Keeps the larger of two allocations.
    pub(crate) fn keep(&mut self, other: Self) {
        if other.steps.capacity() > self.steps.capacity() {
            *self = other;
        }
        self.clear();
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = TEXT.saturating_sub(self.0.len());
        let end = text.floor_char_boundary(room);
        self.0.push_str(text.get(..end).unwrap_or_default());
        Ok(())
    }
}

/// More than a person sees between two looks.
const STEPS: usize = 64;

/// Bytes of messages; one is a line on a screen.
const TEXT: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use mcp_proto::json::Raw;

    use super::*;

    fn push(received: &mut ReceivedProgress, progress: &str, message: Option<&str>) {
        let progress = Raw::parse(progress.as_bytes(), 1).unwrap();
        received.push(progress.number().unwrap(), None, message.map(Str::from));
    }

    fn told(received: &mut ReceivedProgress) -> Vec<(f64, Option<String>)> {
        let mut told = Vec::new();
        received.tell(&mut |step| told.push((step.progress, step.message.map(str::to_owned))));
        told
    }

    #[test]
    fn steps_are_told_once_and_in_order() {
        let mut received = ReceivedProgress::default();
        push(&mut received, "1", Some("one"));
        push(&mut received, "2.5", None);
        push(&mut received, "3", Some("three"));
        let expected = [
            (1.0, Some("one".to_owned())),
            (2.5, None),
            (3.0, Some("three".to_owned())),
        ];
        assert_eq!(told(&mut received), expected);
        assert_eq!(told(&mut received), []);
    }

    #[test]
    fn a_full_queue_keeps_the_newest() {
        let mut received = ReceivedProgress::default();
        for step in 0..=STEPS {
            push(&mut received, &step.to_string(), None);
        }
        assert_eq!(told(&mut received), [(STEPS as f64, None)]);

        push(&mut received, "1", Some(&"ä".repeat(TEXT)));
        let told_once = told(&mut received);
        assert_eq!(told_once[0].1.as_ref().unwrap().len(), TEXT);
        push(&mut received, "2", Some(&"x".repeat(TEXT)));
        push(&mut received, "3", Some("y"));
        assert_eq!(told(&mut received), [(3.0, Some("y".to_owned()))]);
    }
}
