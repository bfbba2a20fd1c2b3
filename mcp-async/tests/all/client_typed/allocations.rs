//! A typed call costs no allocation of its own: what its result owns is the result's.

use core::pin::{Pin, pin};
use core::task::Poll;

use allocation_counter::measure;
use mcp_async::Client;
use mcp_async::client::Progress;
use mcp_proto::Revision;
use serde::Deserialize;

use crate::client_typed::support::{Add, Sum, poll_once};
use crate::scripted::{LinePeer, line_server};
use crate::sim::settle;

#[test]
fn a_typed_call_allocates_nothing() {
    check(|client, wire| {
        let arguments = Add { a: 1, b: 2 };
        let mut call = pin!(client.call_tool_as::<Sum>("add", &arguments));
        assert!(poll_once(call.as_mut()).is_pending());
        wire.answer(r#"{"structuredContent":{"sum":3},"content":[]}"#);
        assert!(matches!(
            poll_once(call.as_mut()),
            Poll::Ready(Ok(Sum { sum: 3 }))
        ));
    });
}

#[test]
fn progress_with_a_message_allocates_nothing() {
    check(|client, wire| {
        let mut heard = 0;
        let arguments = Add { a: 1, b: 2 };
        let call = client.call_tool_as::<Sum>("add", &arguments);
        let mut call = pin!(call.on_progress(|step: Progress<'_>| {
            assert_eq!(step.message, Some("half \u{e9}"));
            heard += 1;
        }));
        assert!(poll_once(call.as_mut()).is_pending());
        for step in ["1", "2"] {
            wire.tell(step);
        }
        assert!(poll_once(call.as_mut()).is_pending());
        wire.answer(r#"{"structuredContent":{"sum":3}}"#);
        assert!(poll_once(call.as_mut()).is_ready());
        assert_eq!(heard, 2);
    });
}

#[test]
fn a_dropped_call_allocates_nothing() {
    check(|client, wire| {
        let arguments = Add { a: 1, b: 2 };
        let mut call = Some(client.call_tool_as::<Sum>("add", &arguments));
        assert!(poll_once(Pin::new(call.as_mut().unwrap())).is_pending());
        call = None;
        assert!(call.is_none());
        wire.next += 1;
        settle();
        wire.read();
    });
}

#[test]
fn a_read_and_a_ping_allocate_nothing() {
    #[derive(Deserialize)]
    struct Length {
        contents: [Size; 1],
    }
    #[derive(Deserialize)]
    struct Size {
        size: u64,
    }
    #[derive(serde::Serialize)]
    struct Uri<'a> {
        uri: &'a str,
    }
    check(|client, wire| {
        let params = Uri { uri: "note://7" };
        let mut read = pin!(client.request::<Length>("resources/read", &params));
        assert!(poll_once(read.as_mut()).is_pending());
        wire.answer(r#"{"contents":[{"uri":"note://7","text":"seven","size":5}]}"#);
        let Poll::Ready(Ok(length)) = poll_once(read.as_mut()) else {
            panic!("it is read");
        };
        assert_eq!(length.contents[0].size, 5);
        let mut ping = pin!(client.ping());
        assert!(poll_once(ping.as_mut()).is_pending());
        wire.answer("{}");
        assert!(matches!(poll_once(ping.as_mut()), Poll::Ready(Ok(()))));
    });
}

/// A server by hand that allocates nothing, once its buffers have grown.
struct Wire {
    lines: LinePeer,
    /// The id of the next request.
    next: u64,
    line: String,
    out: Vec<u8>,
}

#[test]
fn streams_of_log_messages_that_were_dropped_are_forgotten() {
    let builder = Client::builder("test", "0");
    let (client, _lines) = line_server::connect(builder, Revision::V2025_11_25, "{}");
    let measured = measure(|| {
        for _ in 0..1_000 {
            drop(client.logs());
        }
    });
    assert!(measured.count_current < 4, "{measured:?}");
}

fn check(call: impl Fn(&Client, &mut Wire)) {
    let builder = Client::builder("test", "0").cache(false);
    let capabilities = r#"{"tools":{},"resources":{}}"#;
    let (client, lines) = line_server::connect(builder, Revision::V2025_11_25, capabilities);
    let mut wire = Wire {
        lines,
        next: 2,
        line: String::with_capacity(1024),
        out: vec![0; 64 << 10],
    };
    for _ in 0..64 {
        call(&client, &mut wire);
    }
    let measured = measure(|| {
        for _ in 0..64 {
            call(&client, &mut wire);
        }
    });
    assert_eq!(measured.count_total, 0, "{measured:?}");
}

impl Wire {
    fn answer(&mut self, result: &str) {
        settle();
        self.read();
        let id = self.next;
        self.next += 1;
        self.write(format_args!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n"
        ));
    }

    fn tell(&mut self, progress: &str) {
        let token = self.next;
        self.write(format_args!(
            concat!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":",
                "{{\"progressToken\":{},\"progress\":{},\"message\":\"half \\u00e9\"}}}}\n"
            ),
            token, progress
        ));
    }

    fn write(&mut self, line: core::fmt::Arguments<'_>) {
        use core::fmt::Write as _;
        self.line.clear();
        self.line.write_fmt(line).unwrap();
        let written = self.lines.write_some(self.line.as_bytes());
        assert_eq!(written, self.line.len());
        settle();
    }

    /// Reads whatever is there.
    fn read(&mut self) {
        self.lines.read_some(&mut self.out);
        assert!(!self.lines.is_over());
    }
}
