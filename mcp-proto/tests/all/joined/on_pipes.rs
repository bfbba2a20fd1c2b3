//! On pipes that rest or break at every byte.

use core::time::Duration;

use mcp_proto::client::{self, Client};
use mcp_proto::revision::Elicitation;
use mcp_proto::server::{self, Server};
use mcp_proto::{Revision, RevisionSet};

use super::app::{AnyClient, AnyServer, Host, User};
use super::net::{Cut, Net, To};
use super::{DAY, START, client_config, only, places, server_config};

type Talk = Net<AnyClient, User, AnyServer, Host>;

const ALL: [Revision; 6] = [
    Revision::V2024_11_05,
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
    Revision::DraftV1,
];

fn talk(client: RevisionSet, server: RevisionSet, todo: &[&'static str], cut: Cut) -> Talk {
    let mut client = Client::new(client_config(client), client::Growing).unwrap();
    client.connect(START).unwrap();
    let server = Server::new(server_config(server), server::Growing).unwrap();
    Net::new((client, User::new(todo)), (server, Host::default()), cut)
}

/// The whole of what happens, for comparison.
fn transcript(net: &Talk) -> String {
    format!(
        "{}\n---\n{}\n---\n{:#?}\n{:#?}\n{:#?}",
        String::from_utf8_lossy(&net.client.sent),
        String::from_utf8_lossy(&net.server.sent),
        net.client.app.log,
        net.client.app.results,
        net.server.app.log
    )
}

fn everything(revision: Revision) -> Vec<&'static str> {
    let mut todo = vec![
        "list",
        r#"echo "héllo \n \ud83d\ude00""#,
        "ask",
        "burst",
        "slow",
        "cancel",
    ];
    if revision.is_modern() {
        todo.insert(0, "listen");
    } else {
        todo.push("ping");
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
        let User { log, results, .. } = &net.client.app;
        assert_eq!(log[0], format!("connected {revision}"), "{log:#?}");
        let has = |text: &str| results.iter().any(|result| result.contains(text));
        let told = |text: &str| log.iter().filter(|line| line.ends_with(text)).count();
        assert!(has("h\u{e9}llo"), "{revision}: {results:#?}");
        assert_eq!(told("burst at 3"), 1, "{revision}: {log:#?}");
        // A subscription hears of the first change when it begins.
        let changes = 1 + usize::from(revision.is_modern());
        let changed = "notifications/tools/list_changed";
        assert_eq!(told(changed), changes, "{revision}: {log:#?}");
        let asks = revision.elicitation() != Elicitation::Absent;
        assert_eq!(has("thanks"), asks, "{revision}: {results:#?}");
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
        // For each of the lengths, every byte is the one before a rest in one conversation.
        for more in [7, 61, 509] {
            for (to, at) in [To::Server, To::Client]
                .into_iter()
                .flat_map(|to| (0..more).map(move |at| (to, at)))
            {
                let cut = Cut::Rest(to, at, more);
                let mut net = talk(only(revision), only(revision), &todo, cut);
                net.run(Duration::from_secs(1));
                assert_eq!(
                    transcript(&net),
                    expected,
                    "{revision}, {to:?} after {at} and each {more} more"
                );
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
            for at in places(revision, len) {
                let mut net = talk(only(revision), only(revision), &todo, Cut::Break(to, at));
                net.run(DAY);
                assert!(net.was_cut(), "{revision}, {to:?} after {at}");
                net.client.app.assert_all_ended();
                assert_eq!(
                    net.client.link.machine.in_flight(),
                    0,
                    "{revision}, {to:?} after {at}"
                );
                assert_eq!(
                    net.server.link.machine.in_flight(),
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
    let mut net = talk(client, server, &["echo 1"], Cut::None);
    net.run(Duration::from_secs(1));
    let log = &net.client.app.log;
    match expected {
        Some(revision) => {
            assert_eq!(log[0], format!("connected {revision}"), "{log:#?}");
            assert!(log.iter().any(|line| line == "echo answered"), "{log:#?}");
        }
        None => {
            assert!(log[0].starts_with("refused: "), "{log:#?}");
            assert!(net.client.link.machine.is_closed());
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
        let mut net = talk(client, server, &["echo 1"], Cut::None);
        net.sleep(To::Server, Duration::from_secs(20));
        net.run(Duration::from_secs(30));
        let log = &net.client.app.log;
        assert!(
            log.iter().any(|line| line == "echo answered"),
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
        let mut net = talk(only(revision), only(revision), &["slow"], Cut::None);
        net.run(DAY);
        let log = &net.client.app.log;
        assert!(
            log.iter().any(|line| line == "slow Timeout"),
            "{revision}: {log:#?}"
        );
        assert!(
            net.server.app.log.iter().any(|line| line == "cancelled"),
            "{revision}"
        );
        assert_eq!(net.server.link.machine.in_flight(), 0);
    }
}
