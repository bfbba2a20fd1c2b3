//! The first server of the crate's landing page: small enough to be read at once.

use std::collections::BTreeSet;

#[test]
fn the_first_server_is_small() {
    let page = include_str!("../../src/lib.rs");
    let (_, code) = page.split_once("//! ```\n//! use ").expect("an example");
    let (server, _) = code.split_once("\n//! }\n").expect("a function");
    // The first import and the last brace were cut off.
    let lines = server.lines().count() + 1;
    assert!(lines <= 45, "{lines} lines");

    let imports = server.lines().filter_map(|line| {
        let path = line
            .trim_start_matches("//! ")
            .strip_prefix("use mcp_proto::")?;
        Some(
            path.trim_end_matches(';')
                .rsplit("::")
                .next()
                .unwrap_or(path),
        )
    });
    let names: BTreeSet<_> = imports
        .flat_map(|names| names.trim_matches(['{', '}']).split(", "))
        .collect();
    assert!(names.len() <= 12, "{names:?}");
}
