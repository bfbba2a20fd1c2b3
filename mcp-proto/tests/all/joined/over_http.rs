//! Over HTTP: streams that break at every byte, sessions that are lost.

use core::time::Duration;

use mcp_proto::revision::Elicitation;
use mcp_proto::{Revision, RevisionSet};

use super::browser::Browser;
use super::site::{Site, resumes};
use super::{DAY, START, client_config, only, places, server_config};

const LEGACY: [Revision; 4] = [
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::DraftV1,
];

fn server(revisions: RevisionSet) -> Site {
    Site::new(server_config(revisions))
}

fn client(revisions: RevisionSet, todo: &[&'static str]) -> Browser {
    let mut browser = Browser::new(client_config(revisions), todo);
    let machine = &mut browser.client.link.machine;
    machine.connect_by_exchanges(START).unwrap();
    browser
}

/// A conversation of one client with a site of its own revision.
fn talk(revision: Revision, todo: &[&'static str], cut: Option<usize>) -> (Browser, Site) {
    let only = only(revision);
    let (mut browser, mut site) = (client(only, todo), server(only));
    browser.cut = cut;
    let mut now = START;
    browser.run(&mut now, &mut site, Duration::from_secs(600));
    (browser, site)
}

fn everything(revision: Revision) -> Vec<&'static str> {
    let mut todo = vec!["echo", "burst", "late"];
    if revision.elicitation() != Elicitation::Absent {
        todo.push("ask");
    }
    if revision.is_legacy() && revision != Revision::DraftV1 {
        todo.push("roots");
    }
    todo
}

#[test]
fn each_revision_holds_a_whole_conversation() {
    for revision in LEGACY.into_iter().chain([Revision::V2026_07_28]) {
        let todo = everything(revision);
        let (browser, mut site) = talk(revision, &todo, None);
        let log = browser.log();
        assert_eq!(log[0], format!("connected {revision}"), "{log:#?}");
        for tool in todo {
            let answered = format!("{tool} answered");
            let count = log.iter().filter(|line| **line == answered).count();
            assert_eq!(count, 1, "{revision}, {tool}: {log:#?}");
        }
        assert!(log.iter().any(|line| line == "burst at 3"), "{log:#?}");
        if revision.is_legacy() {
            let changed = "notifications/tools/list_changed";
            assert!(log.iter().any(|line| line == changed), "{log:#?}");
            assert_eq!(site.sessions().len(), 1);
        }
        assert_eq!(site.own(), 0, "an exchange of the modern era is left over");
    }
}

/// Wherever a stream breaks, it is taken up again behind the last event, and nothing comes twice
/// or is lost. Only what broke before the first id ends with an error.
#[test]
fn streams_that_break_at_any_byte() {
    for revision in LEGACY {
        let todo = everything(revision);
        let (whole, _) = talk(revision, &todo, None);
        let expected = whole.answers();
        let mut resumed = 0;
        let broken_at = places(revision, whole.streamed);
        for at in broken_at.clone() {
            let (browser, mut site) = talk(revision, &todo, Some(at));
            let context = || {
                format!(
                    "{revision}, {at}: {:#?}\n{:#?}",
                    browser.log(),
                    browser.sent
                )
            };
            assert_eq!(browser.cut, None, "{}", context());
            let found = browser.answers();
            let broken = found
                .iter()
                .filter(|line| line.ends_with(" Broken"))
                .count();
            if broken == 0 {
                assert_eq!(found, expected, "{}", context());
                resumed += 1;
            } else {
                assert_eq!(broken, 1, "{}", context());
            }
            // A question is asked again if the stream broke that it was on.
            if todo.contains(&"roots") {
                let answered = |line: &&String| **line == r#"answer {"roots":[]}"#;
                let log = &site.session("session-0").log;
                assert_eq!(
                    log.iter().filter(answered).count(),
                    1,
                    "{log:#?} {}",
                    context()
                );
            }
            for tool in &todo {
                let ended = |line: &&&str| {
                    **line == format!("{tool} answered") || **line == format!("{tool} Broken")
                };
                assert_eq!(found.iter().filter(ended).count(), 1, "{}", context());
            }
        }
        assert!(
            resumes(revision) && resumed > broken_at.len() / 2,
            "{revision}: {resumed}"
        );
    }
}

/// A question that no request asked for is asked again, where nothing is known of what was lost.
#[test]
fn questions_on_the_stream_of_the_session() {
    for revision in [
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
    ] {
        let (whole, _) = talk(revision, &["roots"], None);
        for at in 0..whole.streamed {
            let (browser, mut site) = talk(revision, &["roots"], Some(at));
            let log = &site.session("session-0").log;
            assert!(
                log.contains(&r#"answer {"roots":[]}"#.to_owned()),
                "{at}: {log:#?}"
            );
            let asked = browser
                .log()
                .iter()
                .filter(|line| **line == "asked roots/list");
            assert_eq!(asked.count(), 1, "{at}: {:#?}", browser.log());
        }
    }
}

/// In 2026-07-28 nothing can be taken up again: the call ends, and so does its handler.
#[test]
fn modern_streams_that_break_at_any_byte() {
    let revision = Revision::V2026_07_28;
    let todo = ["burst", "echo"];
    let (whole, _) = talk(revision, &todo, None);
    for at in 0..whole.streamed {
        let (browser, site) = talk(revision, &todo, Some(at));
        let log = browser.log();
        let has = |text: &str| log.iter().any(|line| line == text);
        assert!(
            has("burst Broken") != has("burst answered"),
            "{at}: {log:#?}"
        );
        assert!(has("echo answered"), "{at}: {log:#?}");
        assert_eq!(site.own(), 0);
        assert!(browser.sent.iter().all(|sent| sent.starts_with("POST - ")));
    }
}

/// A legacy handler outlives its POST, and a modern one does not.
#[test]
fn handlers_and_their_exchanges() {
    let (browser, mut site) = talk(Revision::V2025_11_25, &["late", "cancel", "echo"], None);
    assert_eq!(browser.log()[1..], ["echo answered"]);
    let log = &site.session("session-0").log;
    assert!(log.contains(&"cancelled".to_owned()), "{log:#?}");

    let (browser, site) = talk(Revision::V2026_07_28, &["late", "cancel", "echo"], None);
    assert_eq!(browser.log()[1..], ["echo answered"]);
    assert_eq!(site.own(), 0);
}

#[test]
fn a_listen_is_an_exchange_of_its_own() {
    let (mut browser, mut site) = talk(Revision::V2026_07_28, &["listen"], None);
    let told = ["listening", "notifications/tools/list_changed"];
    assert_eq!(browser.log()[1..], told);
    assert_eq!(site.own(), 1);
    browser.do_next(&["cancel"]);
    browser.run(&mut (START + DAY), &mut site, Duration::ZERO);
    assert_eq!(site.own(), 0);
}

/// A session that is gone is followed by another, and every call is made again in it, once.
#[test]
fn a_lost_session() {
    let only = only(Revision::V2025_11_25);
    let (mut browser, mut site) = (client(only, &["echo"]), server(only));
    let mut now = START;
    browser.run(&mut now, &mut site, Duration::from_secs(1));
    assert_eq!(site.sessions().keys().collect::<Vec<_>>(), ["session-0"]);
    site.sessions().clear();
    browser.do_next(&["echo", "late"]);
    browser.run(&mut now, &mut site, Duration::from_secs(60));
    assert_eq!(site.sessions().keys().collect::<Vec<_>>(), ["session-1"]);
    let expected = [
        "connected 2025-11-25",
        "connected 2025-11-25",
        "echo answered",
        "echo again",
        "echo answered",
        "late answered",
    ];
    assert_eq!(browser.answers(), expected, "{:#?}", browser.sent);
    let log = &site.session("session-1").log;
    assert_eq!(log.last().map(String::as_str), Some("tools/call late"));
}

/// Two clients at one endpoint, each with its own session or none, never see each other's
/// events, though their ids are the same.
#[test]
fn two_clients() {
    for revision in LEGACY.into_iter().chain([Revision::V2026_07_28]) {
        let only = only(revision);
        let todo = everything(revision);
        let mut site = server(RevisionSet::all().with(Revision::DraftV1));
        let (mut one, mut other) = (client(only, &todo), client(only, &["late", "echo"]));
        let mut now = START;
        for _ in 0..200 {
            one.run(&mut now, &mut site, Duration::from_millis(100));
            other.run(&mut now, &mut site, Duration::from_millis(100));
        }
        let (alone, _) = talk(revision, &todo, None);
        assert_eq!(one.answers(), alone.answers(), "{revision}");
        let found = other.answers();
        assert_eq!(found.len(), 3, "{revision}: {found:#?}");
        assert!(found.contains(&"late answered") && found.contains(&"echo answered"));
    }
}

/// A client of both eras finds what the server has.
#[test]
fn eras_are_found_out() {
    for (server_has, expected) in [
        (RevisionSet::all(), "2026-07-28"),
        (RevisionSet::legacy(), "2025-11-25"),
        (RevisionSet::modern(), "2026-07-28"),
        (RevisionSet::of(&[Revision::V2025_03_26]), "2025-03-26"),
    ] {
        let (mut browser, mut site) = (client(RevisionSet::all(), &["echo"]), server(server_has));
        let mut now = START;
        browser.run(&mut now, &mut site, Duration::from_secs(1));
        let connected = format!("connected {expected}");
        assert_eq!(browser.log(), [&*connected, "echo answered"]);
    }
}
