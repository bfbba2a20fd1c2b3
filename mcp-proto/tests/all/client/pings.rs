//! Regular pings (LC-22).

use core::time::Duration;

use mcp_proto::client::{Call, Client, ClientConfig, Fixed};
use mcp_proto::rpc::{Incoming, Message, Method};
use mcp_proto::{Channel, Instant, Machine, PingPolicy, Pipe, Revision, RevisionSet};

use crate::client::connect::accepting;
use crate::script::client as script;

#[track_caller]
fn pinging(script: &str) {
    let config = ClientConfig {
        ping: Some(PingPolicy {
            interval: Duration::from_millis(1000),
            timeout: Duration::from_millis(300),
            misses: 2,
        }),
        ..accepting(RevisionSet::legacy())
    };
    script::check_opened(config, Revision::V2025_11_25, script);
}

#[test]
fn answered_pings_go_on() {
    pinging(
        r#"+ 999
        + 1
        > {"jsonrpc":"2.0","id":2,"method":"ping"}
        + 299
        < {"jsonrpc":"2.0","id":2,"result":{}}
        + 999
        + 1
        > {"jsonrpc":"2.0","id":3,"method":"ping"}
        # An error is a sign of life, too, and so is what cannot be used.
        < {"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"?"}}
        + 1000
        > {"jsonrpc":"2.0","id":4,"method":"ping"}
        < {"jsonrpc":"2.0","id":4,"result":{},"error":{}}
        + 1000
        > {"jsonrpc":"2.0","id":5,"method":"ping"}"#,
    );
}

#[test]
fn a_ping_takes_its_id_when_it_is_written() {
    let config = ClientConfig {
        ping: Some(PingPolicy::default()),
        ..accepting(RevisionSet::legacy())
    };
    let mut client = Client::new(config, Fixed::new().questions::<1>()).unwrap();
    let mut out = [0; 512];
    let mut now = Instant::ZERO;
    client.connect(now).unwrap();
    client.poll_transmit(now, Channel::PIPE, &mut out).unwrap();
    let opened = br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
    let opened = Incoming::Message(Message::parse(opened, 16));
    let _ = client.handle(now, &Pipe, opened);
    client.poll_transmit(now, Channel::PIPE, &mut out).unwrap();
    now = now + PingPolicy::default().interval;
    client.handle_timeout(now);
    let called = Call::new(Method::from("acme/x"));
    let (_, sent) = client.call(now, &called, &mut out).unwrap();
    let call = br#"{"jsonrpc":"2.0","id":2,"method":"acme/x"}"#;
    assert_eq!(
        out[..sent.len].escape_ascii().to_string(),
        call.escape_ascii().to_string()
    );
    let sent = client.poll_transmit(now, Channel::PIPE, &mut out);
    let sent = sent.unwrap().unwrap();
    let ping = br#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#;
    assert_eq!(
        out[..sent.len].escape_ascii().to_string(),
        ping.escape_ascii().to_string()
    );
}

#[test]
fn a_miss_is_told_and_the_last_one_closes() {
    pinging(
        r#"call 7 acme/x
        > {"jsonrpc":"2.0","id":2,"method":"acme/x"}
        + 1000
        > {"jsonrpc":"2.0","id":3,"method":"ping"}
        + 300
        = missed 1 of 2
        < {"jsonrpc":"2.0","id":3,"result":{}}
        ~ LateResponse
        + 1000
        > {"jsonrpc":"2.0","id":4,"method":"ping"}
        + 300
        = missed 2 of 2
        = failed 7 Closed
        = closed Stale
        + 100000"#,
    );
}

#[test]
fn an_answer_forgives_the_misses_before_it() {
    pinging(
        r#"+ 1000
        > {"jsonrpc":"2.0","id":2,"method":"ping"}
        + 300
        = missed 1 of 2
        + 1000
        > {"jsonrpc":"2.0","id":3,"method":"ping"}
        < {"jsonrpc":"2.0","id":3,"result":{}}
        + 1000
        > {"jsonrpc":"2.0","id":4,"method":"ping"}
        + 300
        = missed 1 of 2"#,
    );
}
