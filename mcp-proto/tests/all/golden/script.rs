//! The language of the scripts: what both roles and both transports have in common.
//!
//! ```text
//! # heading              begins a scenario with a new player
//! open, opened           an ordinary opening, with transcript and without
//! command rest           is handed to the player
//! [a b] command rest     only for one of these revisions, eras or transports
//! ```
//!
//! `REVISION` in a line stands for the revision that the script is played in.

use mcp_proto::Revision;
use mcp_proto::json::Raw;

use super::transcript::Transcript;

/// Whoever takes the commands of a script.
pub(crate) trait Player {
    fn new(revision: Revision) -> Self;

    /// Does what a line says, writes down what comes of it, and comes to rest.
    fn command(&mut self, verb: &str, rest: &str, transcript: &mut Transcript);
}

/// Plays one script in one revision.
pub(crate) fn play<P: Player>(
    script: &str,
    transport: &str,
    revision: Revision,
    transcript: &mut Transcript,
) {
    let mut player = P::new(revision);
    let mut plays = true;
    for line in script.lines().map(str::trim_end) {
        transcript.step();
        let line = line.replace("REVISION", revision.as_str());
        if let Some(heading) = line.strip_prefix("# ") {
            let heading = selected(heading, transport, revision);
            plays = heading.is_some();
            if let Some(heading) = heading {
                transcript.line("#", heading);
                player = P::new(revision);
            }
        } else if let Some(command) = selected(&line, transport, revision)
            && plays
        {
            let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
            // What opens a connection is written down once.
            transcript.muted = verb == "opened";
            let verb = if transcript.muted { "open" } else { verb };
            player.command(verb, rest, transcript);
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

/// The parameters with members added to their `_meta`, and what they are about.
pub(crate) fn with_meta(params: &str, meta: &str) -> String {
    if meta.is_empty() {
        return params.to_owned();
    }
    let inner = params.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    let inner = inner.unwrap_or_default();
    let comma = if inner.is_empty() { "" } else { "," };
    format!(r#"{{{inner}{comma}"_meta":{{{meta}}}}}"#)
}

/// A request; without parameters if they are empty.
pub(crate) fn request(id: &str, method: &str, params: &str) -> String {
    let params = members(params);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#)
}

pub(crate) fn notification(method: &str, params: &str) -> String {
    let params = members(params);
    format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#)
}

fn members(params: &str) -> String {
    match params {
        "" => String::new(),
        params => format!(r#","params":{params}"#),
    }
}

/// The text of a member of a message, wherever the message is an object that has it.
pub(crate) fn member(message: &str, name: &str) -> Option<String> {
    let raw = Raw::parse(message.as_bytes(), 128).ok()?;
    Some(raw.object()?.get(name)?.as_str().to_owned())
}
