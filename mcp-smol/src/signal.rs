use core::future::pending;
use std::io;

use async_signal::{Signal, Signals};
use smol::stream::StreamExt as _;

/// Done at the next signal that asks the process to end; never, where none can be heard of.
pub(crate) async fn interrupted() {
    if wait().await.is_err() {
        pending::<()>().await;
    }
}

async fn wait() -> io::Result<()> {
    // Windows has Ctrl-C alone.
    let asked: &[Signal] = if cfg!(windows) {
        &[Signal::Int]
    } else {
        &[Signal::Int, Signal::Term]
    };
    match Signals::new(asked)?.next().await {
        Some(signal) => signal.map(|_| ()),
        None => pending().await,
    }
}
