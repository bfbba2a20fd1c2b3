//! Checks of texts, and of the rows of tables.

pub(crate) const INTERNAL_ERROR: &str = "Internal error";
pub(crate) const SHUTTING_DOWN: &str = "the server is shutting down";
pub(crate) const UNKNOWN_TASK: &str = "Unknown task";

/// The member `error` of a response, with the code of internal errors.
pub(crate) fn internal(message: &str) -> String {
    format!(r#""error":{{"code":-32603,"message":"{message}"}}"#)
}

/// Fails if a text does not contain each of these parts.
#[track_caller]
pub(crate) fn has<const N: usize>(text: &str, parts: [&str; N]) {
    for part in parts {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

/// Returns the rows of a table, whose cells are separated by `|`, and prints each when it is read.
#[track_caller]
pub(crate) fn rows<const N: usize>(table: &str) -> impl Iterator<Item = [&str; N]> {
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| {
        println!("{line}");
        let cells: Vec<_> = line.split(" |").map(str::trim).collect();
        cells.try_into().expect("the cells of a row")
    })
}
