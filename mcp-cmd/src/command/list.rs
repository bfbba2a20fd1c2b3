//! `list`: what the server offers.

use crate::bytes::bytes;
use crate::exit::{Exit, Failure};
use crate::fields::Fields;
use crate::json::Members;
use crate::options::Kind;
use crate::out;
use crate::plain::line;
use crate::session::Session;
use crate::style::{BOLD, CYAN, DIM, paint};
use mcp_tokio::client::{Listed, Pages};
use mcp_tokio::code;
use mcp_tokio::json::RawBuf;
use mcp_tokio::mcp_async::model::{Prompt, Resource, ResourceTemplate, Tool};
use mcp_tokio::model::ServerFeatures;

/// Lists one kind of things, or all that the server has.
pub(crate) async fn run(session: &Session<'_>, kind: Kind) -> Result<(), Failure> {
    let features = session.client.info().features;
    let wanted = |one, feature| kind == one || (kind == Kind::All && features.contains(feature));
    let mut lists = Lists::default();
    if wanted(Kind::Tools, ServerFeatures::TOOLS) {
        lists.add(
            "tools",
            "Tools",
            all(session, session.client.tools()).await?,
        )?;
    }
    if wanted(Kind::Resources, ServerFeatures::RESOURCES) {
        lists.add(
            "resources",
            "Resources",
            all(session, session.client.resources()).await?,
        )?;
    }
    if wanted(Kind::Templates, ServerFeatures::RESOURCES) {
        match all(session, session.client.resource_templates()).await {
            // A server may support resources but not templates.
            Err(Failure {
                reply: Some(reply), ..
            }) if kind == Kind::All && reply.code == code::METHOD_NOT_FOUND => {}
            templates => lists.add("resourceTemplates", "Resource templates", templates?)?,
        }
    }
    if wanted(Kind::Prompts, ServerFeatures::PROMPTS) {
        lists.add(
            "prompts",
            "Prompts",
            all(session, session.client.prompts()).await?,
        )?;
    }
    if session.common.json {
        out::document(&lists.document.object().unwrap_or_default())
    } else if lists.text.is_empty() {
        out::text("The server offers nothing")
    } else {
        out::text(lists.text.trim_end())
    }
}

/// All items of a list.
pub(crate) async fn all<T: Listed + Send>(
    session: &Session<'_>,
    pages: Pages<'_, T>,
) -> Result<Vec<T>, Failure> {
    session.wait(pages.all()).await
}

/// The lists that were found, as JSON and as text.
#[derive(Default)]
struct Lists {
    document: Members,
    text: String,
}

impl Lists {
    fn add<T: Entry + serde::Serialize>(
        &mut self,
        member: &str,
        heading: &str,
        items: Vec<T>,
    ) -> Result<(), Failure> {
        let list = RawBuf::encode(&items);
        self.document.put(
            member,
            list.map_err(|error| Failure::new(Exit::Other, error))?,
        );
        let heading = paint(BOLD, format_args!("{heading} ({})", items.len()));
        self.text.push_str(&format!("{heading}\n"));
        for item in items {
            let (name, facts, title, description) = item.parts();
            let entry = format!("  {} {}", paint(CYAN, line(&name)), line(&facts));
            self.text.push_str(&format!("{}\n", entry.trim_end()));
            for about in [title, description].into_iter().flatten() {
                self.text
                    .push_str(&format!("    {}\n", paint(DIM, line(&about))));
            }
        }
        self.text.push('\n');
        Ok(())
    }
}

/// Something in a list: what it is addressed by, facts, a title if it is another, a description.
trait Entry {
    fn parts(self) -> (String, String, Option<String>, Option<String>);
}

impl Entry for Tool {
    fn parts(self) -> (String, String, Option<String>, Option<String>) {
        let usage = Fields::of(self.input_schema.as_raw()).usage();
        (self.name, usage, self.title, self.description)
    }
}

impl Entry for Resource {
    fn parts(self) -> (String, String, Option<String>, Option<String>) {
        let facts = [self.mime_type, self.size.map(bytes)].into_iter().flatten();
        let facts = facts.collect::<Vec<_>>().join(", ");
        (
            self.uri,
            facts,
            self.title.or(Some(self.name)),
            self.description,
        )
    }
}

impl Entry for ResourceTemplate {
    fn parts(self) -> (String, String, Option<String>, Option<String>) {
        let facts = self.mime_type.unwrap_or_default();
        (
            self.uri_template,
            facts,
            self.title.or(Some(self.name)),
            self.description,
        )
    }
}

impl Entry for Prompt {
    fn parts(self) -> (String, String, Option<String>, Option<String>) {
        let usage = usage(&self);
        (self.name, usage, self.title, self.description)
    }
}

/// The arguments of a prompt in a line: `language=TEXT [style=TEXT]`.
pub(crate) fn usage(prompt: &Prompt) -> String {
    let words = prompt
        .arguments
        .iter()
        .map(|argument| match argument.required {
            true => format!("{}=TEXT", argument.name),
            false => format!("[{}=TEXT]", argument.name),
        });
    words.collect::<Vec<_>>().join(" ")
}
