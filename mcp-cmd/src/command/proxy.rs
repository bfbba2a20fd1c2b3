//! `proxy`: one server for others.

use crate::exit::Failure;
use crate::find::find_target;
use crate::options::{Common, Server, Serving};
use crate::screen::Screen;
use crate::serve::{check, entry, serve};
use crate::target::label;
use mcp_tokio::Runtime;
use mcp_tokio::compose::{Naming, Proxy, UpstreamState};

/// Serves the server until the program is interrupted, or the end of standard input.
///
/// # Errors
/// The server cannot be reached, or the address cannot be bound.
pub(crate) async fn run(
    common: &Common,
    serving: &Serving,
    server: &Server,
    screen: &Screen,
) -> Result<(), Failure> {
    check(serving)?;
    let target = find_target(common, server)?;
    let name = label(&target, common);
    let proxy = Proxy::builder()
        .entry(entry(&name, target, common, screen))
        .naming(Naming::bare())
        .start(Runtime)
        .await;
    if let [(_, UpstreamState::Failed(reason))] = proxy.states().as_slice() {
        return Err(Failure::new(crate::exit::Exit::Connect, reason));
    }
    serve(&proxy, &name, common, serving).await
}
