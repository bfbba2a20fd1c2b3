//! A client and a server of ours talk to each other, in every revision, over wires that rest or
//! break at every byte.

#![cfg(feature = "alloc")]

use core::time::Duration;

use crate::net::script::{AnyClient, AnyServer, Do, Host, User};
use crate::net::{Cut, Net, To};
use mcp_proto::client::{self, Client, ClientConfig};
use mcp_proto::model::{
    ClientCapabilities, ElicitationCapability, ServerCapabilities, ToolsCapability,
};
use mcp_proto::revision::Elicitation;
use mcp_proto::server::{self, Server, ServerConfig};
use mcp_proto::{Revision, RevisionSet};

type Talk = Net<AnyClient, User, AnyServer, Host>;

const ALL: [Revision; 6] = [
    Revision::V2024_11_05,
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
    Revision::DraftV1,
];

fn talk(client: RevisionSet, server: RevisionSet, todo: &[Do], cut: Cut) -> Talk {
    let config = ClientConfig {
        revisions: client,
        capabilities: ClientCapabilities {
            elicitation: Some(ElicitationCapability::default()),
            ..ClientCapabilities::default()
        },
        ..ClientConfig::new("client", "1")
    };
    let mut client = Client::new(config, client::Growing).unwrap();
    client
        .connect(mcp_proto::Instant::from_millis(1_000))
        .unwrap();
    let config = ServerConfig {
        revisions: server,
        capabilities: ServerCapabilities {
            tools: Some(ToolsCapability { list_changed: true }),
            ..ServerCapabilities::default()
        },
        ..ServerConfig::new("server", "1")
    };
    let server = Server::new(config, server::Growing).unwrap();
    Net::new(
        (client, User::new(todo.iter().copied())),
        (server, Host::default()),
        cut,
    )
}

fn only(revision: Revision) -> RevisionSet {
    RevisionSet::of(&[revision])
}

const DAY: Duration = Duration::from_secs(86_400);

/// The whole of what happens, for comparison.
fn transcript(net: &Talk) -> String {
    format!(
        "{}\n---\n{}\n---\n{:#?}\n{:#?}",
        String::from_utf8_lossy(&net.client.sent),
        String::from_utf8_lossy(&net.server.sent),
        net.client.app.log,
        net.server.app.log
    )
}

fn everything(revision: Revision) -> Vec<Do> {
    let mut todo = vec![
        Do::List,
        Do::Echo(r#""héllo \n \ud83d\ude00""#),
        Do::Ask,
        Do::Burst,
        Do::Slow,
        Do::CancelLast,
    ];
    if revision.is_modern() {
        todo.insert(0, Do::Listen);
    } else {
        todo.push(Do::Ping);
    }
    todo
}

#[test]
fn each_revision_holds_a_whole_conversation() {
    for revision in ALL {
        let mut net = talk(
            only(revision),
            only(revision),
            &everything(revision),
            Cut::None,
        );
        net.run(Duration::from_secs(1));
        let log = &net.client.app.log;
        assert_eq!(log[0], format!("connected {revision}"), "{log:#?}");
        let has = |text: &str| log.iter().any(|line| line.contains(text));
        assert!(has("h\u{e9}llo"), "{revision}: {log:#?}");
        assert!(has("at 3"), "{revision}: {log:#?}");
        assert!(
            has("notifications/tools/list_changed"),
            "{revision}: {log:#?}"
        );
        let asks = revision.elicitation() != Elicitation::Absent;
        assert_eq!(has("thanks"), asks, "{revision}: {log:#?}");
        net.hang_up();
        net.client.app.assert_all_ended();
    }
}

#[test]
fn a_wire_that_rests_at_any_byte_changes_nothing() {
    for revision in ALL {
        let todo = everything(revision);
        let mut whole = talk(only(revision), only(revision), &todo, Cut::None);
        whole.run(Duration::from_secs(1));
        let expected = transcript(&whole);
        for (to, len) in [
            (To::Server, whole.client.sent.len()),
            (To::Client, whole.server.sent.len()),
        ] {
            for at in 0..len {
                let mut net = talk(only(revision), only(revision), &todo, Cut::Pause(to, at));
                net.run(Duration::from_secs(1));
                assert_eq!(transcript(&net), expected, "{revision}, {to:?} after {at}");
            }
        }
        let mut crumbs = talk(only(revision), only(revision), &todo, Cut::Crumbs);
        crumbs.run(Duration::from_secs(1));
        assert_eq!(transcript(&crumbs), expected, "{revision}, byte by byte");
    }
}

#[test]
fn a_wire_that_breaks_at_any_byte_ends_every_call() {
    for revision in ALL {
        let todo = everything(revision);
        let mut whole = talk(only(revision), only(revision), &todo, Cut::None);
        whole.run(Duration::from_secs(1));
        for (to, len) in [
            (To::Server, whole.client.sent.len()),
            (To::Client, whole.server.sent.len()),
        ] {
            for at in 0..len {
                let mut net = talk(only(revision), only(revision), &todo, Cut::Break(to, at));
                net.run(DAY);
                assert!(net.was_cut(), "{revision}, {to:?} after {at}");
                net.client.app.assert_all_ended();
                assert_eq!(
                    net.client.machine.in_flight(),
                    0,
                    "{revision}, {to:?} after {at}"
                );
                assert_eq!(
                    net.server.machine.in_flight(),
                    0,
                    "{revision}, {to:?} after {at}"
                );
            }
        }
    }
}

/// What the two agree on, or nothing.
#[track_caller]
fn check(client: RevisionSet, server: RevisionSet, expected: Option<Revision>) {
    let mut net = talk(client, server, &[Do::Echo("1")], Cut::None);
    net.run(Duration::from_secs(1));
    let log = &net.client.app.log;
    match expected {
        Some(revision) => {
            assert_eq!(log[0], format!("connected {revision}"), "{log:#?}");
            assert!(log.iter().any(|line| line.starts_with("1 = ")), "{log:#?}");
        }
        None => {
            assert!(log[0].starts_with("refused: "), "{log:#?}");
            assert!(net.client.machine.is_closed());
        }
    }
}

#[test]
fn eras_meet() {
    use Revision::{V2024_11_05 as R1, V2025_06_18 as R3, V2025_11_25 as R4, V2026_07_28 as R5};
    let (legacy, modern, dual) = (
        RevisionSet::legacy(),
        RevisionSet::modern(),
        RevisionSet::all(),
    );
    check(legacy, legacy, Some(R4));
    check(legacy, modern, None);
    check(legacy, dual, Some(R4));
    check(modern, legacy, None);
    check(modern, modern, Some(R5));
    check(modern, dual, Some(R5));
    check(dual, legacy, Some(R4));
    check(dual, modern, Some(R5));
    check(dual, dual, Some(R5));
    // A counter-offer, downwards and refused.
    check(legacy, only(R1), Some(R1));
    check(only(R4), only(R1), None);
    check(RevisionSet::at_least(R3), only(R1), None);
    // The only common revision is learnt from a list.
    check(RevisionSet::of(&[R1, R5]), RevisionSet::of(&[R1]), Some(R1));
    check(
        RevisionSet::of(&[R3, R5]),
        RevisionSet::of(&[R3, R4]),
        Some(R3),
    );
}

#[test]
fn a_server_that_takes_twenty_seconds_to_start_connects() {
    let (legacy, modern, dual) = (
        RevisionSet::legacy(),
        RevisionSet::modern(),
        RevisionSet::all(),
    );
    for (client, server) in [
        (dual, legacy),
        (dual, modern),
        (dual, dual),
        (modern, modern),
        (legacy, dual),
    ] {
        let mut net = talk(client, server, &[Do::Echo("1")], Cut::None);
        net.sleep(To::Server, Duration::from_secs(20));
        net.run(Duration::from_secs(30));
        let log = &net.client.app.log;
        assert!(
            log.iter().any(|line| line.starts_with("1 = ")),
            "{client} and {server}: {log:#?}"
        );
        let sent = String::from_utf8_lossy(&net.client.sent).into_owned();
        assert!(
            !sent.contains("notifications/cancelled"),
            "initialize is never cancelled: {sent}"
        );
    }
}

#[test]
fn an_answer_that_never_comes_expires_and_the_server_is_told() {
    for revision in ALL {
        let mut net = talk(only(revision), only(revision), &[Do::Slow], Cut::None);
        net.run(DAY);
        let log = &net.client.app.log;
        assert!(
            log.iter().any(|line| line == "1 failed: Expired"),
            "{revision}: {log:#?}"
        );
        assert!(
            net.server.app.log.iter().any(|line| line == "cancelled"),
            "{revision}"
        );
        assert_eq!(net.server.machine.in_flight(), 0);
    }
}
