//! Servers whose storage has no table for questions, arrays or subscriptions.

use mcp_proto::rpc::{Incoming, Message};
use mcp_proto::server::{Event, Fixed, OverHttp, Server, ServerConfig, SessionSnapshot, Storage};
use mcp_proto::{Action, IgnoreReason, Instant, Machine, Pipe, Revision};

/// What has no table is ignored or refused, over HTTP as on a pipe; filters need none.
#[test]
fn what_has_no_table_is_refused() {
    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

    fn check<S: Storage>(storage: S) {
        let config = ServerConfig {
            filters: &["notes"],
            ..ServerConfig::new("s", "1")
        };
        let snapshot = SessionSnapshot::stateless(Revision::V2025_03_26);
        let mut server = Server::new(config, storage).unwrap();
        server.resume(Instant::ZERO, &snapshot);
        for (line, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
                IgnoreReason::LateResponse,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
                IgnoreReason::StaleProgress,
            ),
        ] {
            let incoming = Incoming::Message(Message::parse(line.as_bytes(), 8));
            let action = server.handle(Instant::ZERO, &Pipe.into(), incoming);
            let Action::Ignore(reason) = action else {
                panic!("{line}: {action:?}");
            };
            assert_eq!(reason, expected, "{line}");
        }
        let mut out = [0; 512];
        let Action::Reply(reply) = server.handle(Instant::ZERO, &Pipe.into(), Incoming::BatchStart)
        else {
            panic!("an array without its buffer");
        };
        let sent = server.reply(Instant::ZERO, reply, &mut out).unwrap();
        assert!(out[..sent.len].starts_with(br#"{"jsonrpc":"2.0","error":{"code":-32600"#));
        let _ = server.handle(Instant::ZERO, &Pipe.into(), Incoming::BatchEnd);

        let listen = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{{"notifications":{{"notes":["a"],"resourceSubscriptions":["a:b"]}},{META}}}}}"#
        );
        let incoming = Incoming::Message(Message::parse(listen.as_bytes(), 8));
        let action = server.handle(Instant::ZERO, &Pipe.into(), incoming);
        let Action::Event(Event::Listening { token, held, .. }) = action else {
            panic!("{action:?}");
        };
        assert!(held);
        let sent = server.acknowledge(token, &[("notes", &["a"])], &mut out);
        let sent = sent.unwrap().len;
        assert!(out[..sent].ends_with(br#""notifications":{"notes":["a"]}}}"#));
    }
    check(Fixed::new());
    check(OverHttp(Fixed::new()));
}
