//! What was said in all revisions, and its comparison with what was recorded.

use core::fmt::Write as _;
use std::collections::VecDeque;
use std::path::Path;

/// What was said in one revision, step by step.
#[derive(Default)]
pub(crate) struct Transcript {
    steps: Vec<Vec<String>>,
    /// Nothing is written down.
    pub(crate) muted: bool,
}

impl Transcript {
    /// Begins what follows from one line of the script.
    pub(crate) fn step(&mut self) {
        self.steps.push(Vec::new());
    }

    /// Appends a line of text.
    pub(crate) fn line(&mut self, mark: &str, text: &str) {
        self.bytes(mark, text.as_bytes());
    }

    /// Appends bytes as one line; what is not printable in them is escaped.
    pub(crate) fn bytes(&mut self, mark: &str, bytes: &[u8]) {
        if self.muted {
            return;
        }
        let mut text = mark.to_owned();
        if !bytes.is_empty() {
            text.push(' ');
        }
        for chunk in bytes.utf8_chunks() {
            for char in chunk.valid().chars() {
                match char {
                    char if char.is_control() => text.extend(char.escape_default()),
                    char => text.push(char),
                }
            }
            for byte in chunk.invalid() {
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
        if self.steps.is_empty() {
            self.step();
        }
        if let Some(step) = self.steps.last_mut() {
            step.push(text);
        }
    }
}

/// Puts the transcripts of all revisions into one text, in which each line begins with the
/// letters of the revisions that it is for.
///
/// In a line for a revision, its name is replaced by `REVISION`.
pub(crate) fn merge(all: &[(char, &str, Transcript)]) -> String {
    let mut text = String::new();
    let steps = all.iter().map(|(.., it)| it.steps.len()).max();
    for step in 0..steps.unwrap_or_default() {
        let mut queues: Vec<VecDeque<String>> = Vec::new();
        for (_, revision, transcript) in all {
            let lines = transcript.steps.get(step).into_iter().flatten();
            queues.push(lines.map(|it| it.replace(revision, "REVISION")).collect());
        }
        while let Some(line) = next(&queues).cloned() {
            if line.starts_with("# ") && !text.is_empty() {
                text.push('\n');
            }
            for ((letter, ..), queue) in all.iter().zip(&mut queues) {
                let here = queue.front() == Some(&line);
                text.push(if here { *letter } else { '.' });
                if here {
                    queue.pop_front();
                }
            }
            let _ = writeln!(text, " {line}");
        }
    }
    text
}

/// The next line: one that no other revision has after its own next line.
fn next(queues: &[VecDeque<String>]) -> Option<&String> {
    let fronts = || queues.iter().filter_map(VecDeque::front);
    let later = |line: &String| {
        let behind = |queue: &VecDeque<String>| {
            queue.front() != Some(line) && queue.iter().any(|other| other == line)
        };
        queues.iter().any(behind)
    };
    fronts()
        .find(|line| !later(line))
        .or_else(|| fronts().next())
}

/// Compares with the file, or writes it.
pub(crate) fn check(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let path = folder.join(name);
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "write") {
        std::fs::write(&path, text).expect("the folder is there");
        return;
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    let (mut found, mut expected) = (text.lines(), recorded.lines());
    let mut before: Vec<&str> = Vec::new();
    loop {
        let (found, expected) = (found.next(), expected.next());
        if found != expected {
            let context = before[before.len().saturating_sub(12)..].join("\n");
            panic!(
                "{name}, line {}:\n{context}\nrecorded: {}\nfound:    {}\n\
                 (GOLDEN=write records intended changes)",
                before.len() + 1,
                expected.unwrap_or("the end"),
                found.unwrap_or("the end"),
            );
        }
        let Some(line) = found else { return };
        before.push(line);
    }
}
