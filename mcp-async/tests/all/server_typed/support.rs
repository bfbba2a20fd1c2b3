//! A server and some ways to offer it.

use core::future::{Pending, Ready, pending, ready};

use mcp_async::Server;
use mcp_async::server::{Context, HandlerError, ServerBuilder};
use mcp_proto::{Revision, RevisionSet};

/// Every revision that is published.
pub(crate) fn revisions() -> impl Iterator<Item = Revision> {
    RevisionSet::all().iter()
}

/// A server, built or not.
pub(crate) trait Offer {
    type State: Send + Sync + 'static;

    fn server(&self) -> Server<Self::State>;
}

impl<S: Send + Sync + 'static> Offer for Server<S> {
    type State = S;

    fn server(&self) -> Self {
        self.clone()
    }
}

impl<S: Send + Sync + 'static> Offer for ServerBuilder<S> {
    type State = S;

    fn server(&self) -> Server<S> {
        self.clone().build().unwrap()
    }
}

/// A handler of tools and prompts that says this.
pub(crate) fn says<S>(
    text: &'static str,
) -> impl Fn((), Context<S>) -> Ready<Result<&'static str, HandlerError>> + Send + Sync + 'static {
    move |_, _| ready(Ok(text))
}

/// A handler that does not end.
pub(crate) fn never<S>((): (), _: Context<S>) -> Pending<Result<&'static str, HandlerError>> {
    pending()
}
