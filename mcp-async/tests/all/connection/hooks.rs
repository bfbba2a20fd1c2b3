//! What a service hears of its client: who it is, how far it is with a question, that it fell
//! silent.

use core::time::Duration;

use allocation_counter::measure;
use mcp_async::Job;
use mcp_async::client::Progress;
use mcp_async::server::{Call, CallContext, Peer, Service};
use mcp_proto::PingPolicy;
use mcp_proto::json::RawBuf;
use mcp_proto::rpc::Method;
use mcp_proto::server::{Initialize, ServerConfig};

use crate::connection::support::{Wire, answer, call, modern_meta};
use crate::scripted::request_id;
use crate::seen::Seen;
use crate::settings::with_tools;
use crate::sim::{advance, settle};

/// Writes down what it hears, and answers with the name of whoever asks.
#[derive(Clone, Default)]
struct Ears(Seen);

impl Ears {
    #[track_caller]
    fn heard(&self, expected: &[&str]) {
        assert_eq!(self.0.take(), expected);
    }
}

impl Service for Ears {
    fn call(&self, call: Call<'_>) -> Job {
        let cx = call.context().clone();
        let asks = call.request.subject.is_some_and(|name| name == "asks");
        self.0.note(format!("call of {}", name(&cx)));
        call.answer(async move {
            let params = RawBuf::from(mcp_proto::json::Raw::EMPTY_OBJECT);
            if asks {
                let ask = cx.ask::<RawBuf>(Method::ElicitationCreate, &params);
                let _ = ask.with_progress().tag(7).await;
            }
            Ok(params)
        })
    }

    fn handshake(&self, peer: &Peer, opened: &Initialize<'_>) {
        let known = peer.client_info().is_some();
        self.0
            .note(format!("handshake in {}, known: {known}", opened.revision));
    }

    fn listening(&self, _: &Peer) {
        self.0.note("listening");
    }

    fn progress(&self, _: &Peer, tag: u64, progress: Progress<'_>) {
        let message = progress.message.map(|text| text.to_string());
        self.0.note(format!(
            "progress of {tag}: {} of {:?}, {message:?}",
            progress.progress, progress.total
        ));
    }

    fn ping_missed(&self, _: &Peer, misses: u32, limit: u32) {
        self.0.note(format!("missed {misses} of {limit}"));
    }
}

fn name(cx: &CallContext) -> String {
    cx.client_info().map_or("nobody".into(), |info| info.name)
}

fn wire(ears: &Ears) -> Wire {
    let config = ServerConfig {
        ping: Some(PingPolicy {
            interval: Duration::from_secs(10),
            timeout: Duration::from_secs(5),
            misses: 2,
        }),
        ..with_tools()
    };
    Wire::serving(config, ears.clone(), 1 << 20, 7)
}

fn called(name: &str) -> String {
    modern_meta(&format!(
        r#","io.modelcontextprotocol/clientInfo":{{"name":"{name}","version":"1"}}"#
    ))
}

/// VR-09, JR-44: the handshake counts for the session, and each modern request for itself.
#[test]
fn every_request_knows_its_client() {
    let ears = Ears::default();
    let mut wire = wire(&ears);
    assert!(wire.peer.client_info().is_none());
    wire.send(&call(1, "x", &modern_meta("")));
    ears.heard(&["call of nobody"]);
    let mut wire = wire.legacy();
    ears.heard(&["handshake in 2025-11-25, known: true", "listening"]);
    for (meta, expected) in [
        (String::new(), "test"),
        (called("one"), "one"),
        (called("one"), "one"),
        (called("other"), "other"),
        (modern_meta(""), "nobody"),
        (called(&"n".repeat(20_000)), "nobody"),
        (called("one"), "one"),
    ] {
        wire.send(&call(2, "x", &meta));
        ears.heard(&[&format!("call of {expected}")]);
    }
    let last = wire.peer.client_info().unwrap();
    assert_eq!(last.name, "one");
}

#[test]
fn a_name_is_kept_once() {
    let service = mcp_async::server::service_fn(|call| {
        assert!(call.context().raw_client_info().is_some());
        call.ready(Ok(mcp_proto::json::Raw::EMPTY_OBJECT))
    });
    let mut wire = Wire::serving(with_tools(), service, 1 << 20, usize::MAX);
    let line = call(1, "x", &called("one")) + "\n";
    for warm in [false, false, true] {
        assert_eq!(wire.write_some(line.as_bytes()), line.len());
        let measured = measure(|| _ = settle());
        assert!(!wire.read().is_empty());
        assert!(!warm || measured.count_total == 1, "{measured:?}");
    }
}

#[test]
fn questions_have_progress() {
    let ears = Ears::default();
    let mut wire = wire(&ears).legacy();
    wire.call(1, "asks");
    let question = wire.read();
    assert!(question.contains(r#""progressToken":"#), "{question}");
    let id = request_id(&question);
    let token = question.split(r#""progressToken":"#).nth(1).unwrap();
    let token = token.split('}').next().unwrap();
    wire.send(&format!(
        r#"- notifications/progress {{"progressToken":{token},"progress":1.5,"total":3,"message":"h\u0061lf"}}"#
    ));
    wire.send(&format!(r#"{id} = {{"action":"decline"}}"#));
    ears.heard(&[
        "handshake in 2025-11-25, known: true",
        "listening",
        "call of test",
        "progress of 7: 1.5 of Some(3.0), Some(\"half\")",
    ]);
    assert_eq!(wire.read(), answer(1, "{}"));
}

/// LC-22
#[test]
fn missed_pings_are_told() {
    let ears = Ears::default();
    let _wire = wire(&ears).legacy();
    ears.0.take();
    for (seconds, expected) in [
        (10, &[][..]),
        (5, &["missed 1 of 2"]),
        (10, &[]),
        (5, &["missed 2 of 2"]),
    ] {
        advance(Duration::from_secs(seconds));
        ears.heard(expected);
    }
}
