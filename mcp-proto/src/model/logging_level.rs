//! The severity of a log message.

use super::open::closed_enum;

closed_enum! {
    /// The severity of a log message, in ascending order (RFC 5424).
    #[derive(PartialOrd, Ord)]
    pub enum LoggingLevel {
        /// Details for who looks for a fault.
        Debug = "debug",
        /// An informational message.
        Info = "info",
        /// A normal but significant condition.
        Notice = "notice",
        /// Something may go wrong.
        Warning = "warning",
        /// Something went wrong.
        Error = "error",
        /// A part has failed.
        Critical = "critical",
        /// Action must be taken immediately.
        Alert = "alert",
        /// Nothing works.
        Emergency = "emergency",
    }
}
