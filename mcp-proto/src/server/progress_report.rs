//! A report of the progress of a request.

/// The progress of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProgressReport<'a> {
    /// More than the time before; any unit.
    pub progress: f64,
    /// The value of `progress` at the end, if it is known.
    pub total: Option<f64>,
    /// A message for people (PG-05). 2024-11-05 has none: there it is left out.
    pub message: Option<&'a str>,
}

impl ProgressReport<'_> {
    /// A value and nothing else.
    pub const fn new(progress: f64) -> Self {
        Self {
            progress,
            total: None,
            message: None,
        }
    }
}
