//! `info`: who the server is.

use crate::exit::Failure;
use crate::json::{Members, quoted};
use crate::out;
use crate::plain::{line, plain};
use crate::session::Session;
use crate::style::{BOLD, DIM, paint};
use mcp_tokio::json::{Raw, RawBuf};

/// Writes the server's identity, its capabilities and its instructions.
pub(crate) fn run(session: &Session<'_>) -> Result<(), Failure> {
    let info = session.client.info();
    let revision = info.revision.as_str();
    if session.common.json {
        let mut members = Members::default();
        members.put("revision", quoted(revision));
        if let Some(server) = &info.server {
            members.put("serverInfo", server.clone());
        }
        if let Some(capabilities) = &info.capabilities {
            members.put("capabilities", capabilities.clone());
        }
        if let Some(instructions) = &info.instructions {
            members.put("instructions", quoted(instructions));
        }
        return out::document(&members.object().unwrap_or_default());
    }
    let mut text = String::new();
    if let Some(server) = info.implementation() {
        let name = paint(BOLD, line(server.display_name()));
        text.push_str(&format!("{name} {}\n", line(&server.version)));
        for about in [&server.description, &server.website_url]
            .into_iter()
            .flatten()
        {
            text.push_str(&format!("{}\n", line(about)));
        }
    }
    text.push_str(&format!("{} {revision}\n", paint(DIM, "revision:")));
    let capabilities = info
        .capabilities
        .as_ref()
        .map(capabilities)
        .unwrap_or_default();
    let capabilities = if capabilities.is_empty() {
        "none".to_owned()
    } else {
        capabilities
    };
    text.push_str(&format!("{} {capabilities}\n", paint(DIM, "capabilities:")));
    if let Some(instructions) = &info.instructions {
        text.push_str(&format!("\n{}\n", plain(instructions)));
    }
    out::text(&text)
}

/// `tools (listChanged), logging`.
fn capabilities(capabilities: &RawBuf) -> String {
    let object = capabilities.as_raw().object().unwrap_or_default();
    let shown = object.members().map(|(name, details)| {
        let details = details.object().unwrap_or_default().members();
        let details = details.filter(|(_, value)| *value != Raw::FALSE);
        let details: Vec<String> = details.map(|(name, _)| name.to_string()).collect();
        let name = line(&name.to_cow()).into_owned();
        match details.join(", ") {
            none if none.is_empty() => name,
            details => format!("{name} ({})", line(&details)),
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}
