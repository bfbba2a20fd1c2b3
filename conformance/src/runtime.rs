//! The two runtimes, chosen on the command line.

use core::future::{Future, pending};
use core::time::Duration;
use std::io;

use mcp_async::runtime::{RuntimeHandle, within};

/// What a server or a client runs on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Runtime {
    Tokio,
    Smol,
}

impl Runtime {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "tokio" => Some(Self::Tokio),
            "smol" => Some(Self::Smol),
            _ => None,
        }
    }

    /// Runs a program to its end.
    pub(crate) fn run<F>(self, program: impl FnOnce(RuntimeHandle) -> F) -> io::Result<()>
    where
        F: Future<Output = io::Result<()>>,
    {
        match self {
            Self::Tokio => {
                let program = program(mcp_tokio::Runtime.into());
                let mut runtime = tokio::runtime::Builder::new_current_thread();
                runtime.enable_all().build()?.block_on(program)
            }
            Self::Smol => smol::block_on(program(mcp_smol::Runtime.into())),
        }
    }
}

/// Waits so long.
pub(crate) async fn sleep(runtime: &RuntimeHandle, time: Duration) {
    within(runtime, time, pending::<()>()).await;
}
