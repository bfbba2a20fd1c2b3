//! Sessions that are polled while a test does something else.

use core::cell::Cell;
use std::rc::Rc;

use mcp_async::server::{Context, ServerBuilder};

use crate::scripted::HttpClient;

/// A call of the tool `busy`, in short.
pub(crate) const CALL: &str = r#"9000 tools/call {"name":"busy","arguments":{}}"#;

std::thread_local! {
    static WORK: Cell<Option<Box<dyn FnOnce()>>> = const { Cell::new(None) };
}

/// Adds the tool `busy`.
pub(crate) fn with_busy(server: ServerBuilder) -> ServerBuilder {
    server.tool("busy", "", |(): (), _: Context| async {
        if let Some(work) = WORK.take() {
            work();
        }
        Ok("busy")
    })
}

/// Does this while a handler of the session runs, as other threads do at such a time.
pub(crate) fn busy<T: 'static>(session: &HttpClient, work: impl FnOnce() -> T + 'static) -> T {
    while_called(|| drop(session.post(CALL)), work)
}

/// Does this while the handler of the tool `busy` runs, which `call` calls by [`CALL`].
pub(crate) fn while_called<T: 'static>(
    call: impl FnOnce(),
    work: impl FnOnce() -> T + 'static,
) -> T {
    let result = Rc::new(Cell::new(None));
    let kept = Rc::clone(&result);
    WORK.set(Some(Box::new(move || kept.set(Some(work())))));
    call();
    result.take().unwrap()
}
