//! The severity of a log message.

use super::open::closed_enum;

closed_enum! {
    /// How severe a log message is, in ascending order (RFC 5424).
    #[derive(PartialOrd, Ord)]
    pub enum LoggingLevel {
        /// Details for who looks for a fault.
        Debug = "debug",
        /// What goes on.
        Info = "info",
        /// What goes on and matters.
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
