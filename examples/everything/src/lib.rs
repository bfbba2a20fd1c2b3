//! A test server for clients, which the interoperability tests drive, and a reference for the typed
//! API: all kinds of tools, resources and prompts, questions, tasks and skills.
//!
//! | Module | Shows |
//! |---|---|
//! | `basics` | tools: arguments from types, structured results, cancellation, failures |
//! | `content` | every kind of content |
//! | `telling` | progress and log messages |
//! | `questions` | elicitation, sampling, roots |
//! | `rounds` | several questions in one call, in sequence and at once |
//! | `tasks` | calls that become tasks |
//! | `changes` | tools and prompts that are added and removed, resources that change |
//! | `resources` | text, bytes, templates, completion of their variables |
//! | `skills` | skills with files in folders |
//! | `prompts` | arguments and their completion, images and resources in messages |

mod basics;
mod changes;
mod content;
mod media;
mod prompts;
mod questions;
mod resources;
mod rounds;
mod skills;
mod tasks;
mod telling;

use core::time::Duration;

use mcp_async::Revision;
use mcp_async::Server;
use mcp_async::model::{CacheScope, Icon};
use mcp_async::server::ServerBuilder;

/// The server for these revisions; an empty list stands for all.
pub fn server(revisions: &[Revision]) -> ServerBuilder {
    let mut server = Server::builder("everything", env!("CARGO_PKG_VERSION"))
        .title("Everything")
        .description("A server with every feature")
        .website("https://modelcontextprotocol.io")
        .icon(Icon::new(media::ICON))
        .instructions("Every tool says what it does. Nothing here has lasting effects.")
        .logging()
        .change_notifications()
        .page_size(20)
        .cache(Duration::from_secs(300), CacheScope::Public);
    if !revisions.is_empty() {
        server = server.revisions(revisions.iter().copied().collect());
    }
    let server = basics::register(server);
    let server = content::register(server);
    let server = telling::register(server);
    let server = questions::register(server);
    let server = rounds::register(server);
    let server = tasks::register(server);
    let server = changes::register(server);
    let server = resources::register(server);
    let server = prompts::register(server);
    skills::register(server)
}
