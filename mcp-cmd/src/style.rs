//! Colours for people. The writer leaves them out for files, pipes and `--no-color`.

use clap::builder::styling::{AnsiColor, Style};

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const BLUE: Style = AnsiColor::Blue.on_default();
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default();

/// The text in this style.
pub(crate) fn paint(style: Style, text: impl core::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}
