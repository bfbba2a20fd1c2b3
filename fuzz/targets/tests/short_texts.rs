//! Every short text, scanned beside another reader.

use mcp_fuzz_targets::json_scan;

/// The parts of a text: those that mean something, and one of each kind that does not.
const SYMBOLS: [&str; 14] = [
    "{", "}", "[", "]", "\"", ":", ",", "\\", "u00e9", "0", "-", ".", "e", "true",
];

/// `SHORT_TEXTS` is the number of symbols of the longest text; with 8, which are 1.6 * 10^9 texts, it takes minutes with `--release`.
#[test]
fn every_short_text() {
    let longest = std::env::var("SHORT_TEXTS").map_or(4, |most| most.parse().expect("a number"));
    let count = scan(&mut Vec::new(), longest);
    println!("{count} texts");
}

/// Scans a text and all that begin with it and have so many more symbols at most. Returns their number.
fn scan(text: &mut Vec<u8>, more: u32) -> u64 {
    json_scan(text);
    if more == 0 {
        return 1;
    }
    let length = text.len();
    let mut count = 1;
    for symbol in SYMBOLS {
        text.extend_from_slice(symbol.as_bytes());
        count += scan(text, more - 1);
        text.truncate(length);
    }
    count
}
