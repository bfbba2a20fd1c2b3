//! Scripts that are played in every revision and recorded: what they have in addition to other
//! scripts, for both roles and both transports.
//!
//! ```text
//! # heading              begins a scenario with a new connection
//! config small           of this scenario; each role has its own options
//! open, opened {}        an ordinary opening, with transcript and without
//! > message, < message   the peer writes it; a server hears the revision in each modern request
//! $label                 in a message: the id of the request that has this label, or of the
//!                        `$question` of the server; nothing is written where it was not sent
//! on label < message     the server writes it on the stream of this request
//! [a b] command rest     only for one of these revisions, eras or transports
//! ```
//!
//! `REVISION` in a line stands for the revision that the script is played in.

use mcp_proto::Revision;
use mcp_proto::json::Raw;

use super::transcript::Transcript;

/// Takes the commands of a script.
pub(crate) trait Driver {
    fn new(revision: Revision) -> Self;

    /// Does what a line says, writes down what comes of it, and comes to rest.
    fn command(&mut self, verb: &str, rest: &str, transcript: &mut Transcript);
}

/// Plays one script in one revision.
pub(crate) fn play<P: Driver>(
    script: &str,
    transport: &str,
    revision: Revision,
    transcript: &mut Transcript,
) {
    let mut driver = P::new(revision);
    let mut plays = true;
    for line in script.lines().map(str::trim_end) {
        transcript.step();
        let line = line.replace("REVISION", revision.as_str());
        if let Some(heading) = line.strip_prefix("# ") {
            let heading = selected(heading, transport, revision);
            plays = heading.is_some();
            if let Some(heading) = heading {
                transcript.line("#", heading);
                driver = P::new(revision);
            }
        } else if let Some(command) = selected(&line, transport, revision)
            && plays
        {
            let (verb, rest) = word(command);
            // What opens a connection is written down once.
            transcript.muted = verb == "opened";
            let verb = if transcript.muted { "open" } else { verb };
            driver.command(verb, rest, transcript);
            transcript.muted = false;
        }
    }
}

/// The command of a line, if the line is for this transport and revision.
fn selected<'l>(line: &'l str, transport: &str, revision: Revision) -> Option<&'l str> {
    if line.is_empty() {
        return None;
    }
    let Some(line) = line.strip_prefix('[') else {
        return Some(line);
    };
    let (words, command) = line.split_once("] ").expect("a selection ends with ]");
    words
        .split(' ')
        .any(|word| match word {
            "legacy" => revision.is_legacy(),
            "modern" => revision.is_modern(),
            "pipe" | "http" => word == transport,
            name => name == revision.as_str(),
        })
        .then_some(command)
}

/// Splits off the first word.
pub(crate) fn word(text: &str) -> (&str, &str) {
    text.split_once(' ').unwrap_or((text, ""))
}

/// The text with each `$label` replaced; `None` if a label stands for nothing.
///
/// A label begins with a letter, which `$/cancelRequest` does not.
pub(crate) fn fill<'i>(text: &str, id: impl Fn(&str) -> Option<&'i str>) -> Option<String> {
    let mut filled = String::new();
    let mut parts = text.split('$');
    filled.push_str(parts.next().unwrap_or_default());
    for part in parts {
        if !part.starts_with(|char: char| char.is_ascii_alphabetic()) {
            filled.push('$');
            filled.push_str(part);
            continue;
        }
        let end = part.find(|char: char| !char.is_ascii_alphanumeric() && char != '/');
        let (label, rest) = part.split_at(end.unwrap_or(part.len()));
        filled.push_str(id(label)?);
        filled.push_str(rest);
    }
    Some(filled)
}

/// The text of a member of a message, wherever the message is an object that has it.
pub(crate) fn member(message: &str, name: &str) -> Option<String> {
    let raw = Raw::parse(message.as_bytes(), 128).ok()?;
    Some(raw.object()?.get(name)?.as_str().to_owned())
}
