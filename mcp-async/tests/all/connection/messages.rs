//! A transport of whole messages: what a WebSocket would be.

use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use mcp_async::{MessageReader, MessageSink, MessageSource, MessageWriter, client, server};
use mcp_proto::client::ClientConfig;
use mcp_proto::json::RawBuf;
use mcp_proto::rpc::Method;

use crate::connection::support::Demo;
use crate::settings::with_tools;
use crate::sim::{Sim, run, settle, spawn};

/// One direction: at most one message on its way.
#[derive(Clone, Default)]
struct Slot(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    messages: VecDeque<Vec<u8>>,
    closed: bool,
    wakers: Vec<Waker>,
    /// Everything that went through.
    seen: usize,
}

impl Slot {
    fn change<T>(&self, cx: &Context<'_>, change: impl FnOnce(&mut State) -> Poll<T>) -> Poll<T> {
        let mut state = self.0.lock().unwrap();
        let changed = change(&mut state);
        if changed.is_pending() {
            state.wakers.push(cx.waker().clone());
            return changed;
        }
        let wakers = core::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        changed
    }
}

impl MessageSource for Slot {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<io::Result<bool>> {
        self.change(cx, |state| match state.messages.pop_front() {
            Some(message) => {
                into.extend(message);
                Poll::Ready(Ok(true))
            }
            None if state.closed => Poll::Ready(Ok(false)),
            None => Poll::Pending,
        })
    }
}

impl MessageSink for Slot {
    fn poll_send(&mut self, cx: &mut Context<'_>, message: &[u8]) -> Poll<io::Result<()>> {
        assert!(!message.contains(&b'\n'), "a message, not a line");
        self.change(cx, |state| {
            if !state.messages.is_empty() {
                return Poll::Pending;
            }
            state.messages.push_back(message.to_vec());
            state.seen += 1;
            Poll::Ready(Ok(()))
        })
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.change(cx, |state| {
            state.closed = true;
            Poll::Ready(Ok(()))
        })
    }
}

/// CT-02.
#[test]
fn whole_messages_are_a_transport() {
    let (up, down) = (Slot::default(), Slot::default());
    let config = with_tools();
    let streams = (
        MessageReader::new(up.clone()),
        MessageWriter::new(down.clone()),
    );
    let demo: server::BoxService = Box::<Demo>::default();
    let (served, _peer) = server::connect(streams, Sim, config, demo);
    let config = ClientConfig::new("test", "0");
    let streams = (
        MessageReader::new(down.clone()),
        MessageWriter::new(up.clone()),
    );
    let (connection, client) = client::connect(streams, Sim, config, ());
    spawn(async { served.await.unwrap() });
    spawn(async { connection.await.unwrap() });

    let listed: RawBuf = run(client.call(Method::ToolsList, None)).unwrap();
    assert!(listed.as_raw().object().unwrap().get("tools").is_some());
    client.close();
    settle();
    let (up, down) = (up.0.lock().unwrap(), down.0.lock().unwrap());
    assert!(
        up.closed && down.closed,
        "both ends were closed in good order"
    );
    assert_eq!(up.seen, down.seen, "as many answers as requests");
}
