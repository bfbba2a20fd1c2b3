//! Processes of two versions that share a store.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_proto::server::ListKind;
use ring::hmac;

use crate::http_server::nodes::{KEY, Process, at, epoch, pass, ping, processes, start};
use crate::scripted::{HttpClient, call};

/// How a process writes records and messages, and which ones it can read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Version {
    #[default]
    This,
    /// They have one member more.
    Next,
    /// Only the messages have one more.
    NextMessages,
}

/// A kind of what is in the store.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Record,
    Introduction,
    Change,
}

const THIS: &str = r#""v":1,"#;
const NEXT: &str = r#""v":2,"later":[true],"#;
const PREVIOUS: &str = r#""v":0,"#;

/// The member that a message of the next version has more.
const LATER: u8 = 7;

impl Version {
    /// What this process wrote, as the store has it.
    pub(crate) fn write(self, kind: Kind, written: &[u8]) -> Vec<u8> {
        let next = |message: &mut Vec<u8>| {
            message[0] = 3;
            message.push(LATER);
        };
        match (self, kind) {
            (Self::This, _) | (Self::NextMessages, Kind::Record) => written.to_vec(),
            _ => rewrite(kind, written, |text| text.replacen(THIS, NEXT, 1), next),
        }
    }

    /// What is in the store, as this process reads it.
    pub(crate) fn read(self, kind: Kind, stored: Vec<u8>) -> Vec<u8> {
        let lower = |text: &str| match text.contains(NEXT) {
            true => text.replacen(NEXT, THIS, 1),
            false => text.replacen(THIS, PREVIOUS, 1),
        };
        let lower_message = |message: &mut Vec<u8>| {
            if message[0] == 3 {
                assert_eq!(message.pop(), Some(LATER));
            }
            message[0] -= 1;
        };
        match (self, kind) {
            (Self::This, _) | (Self::NextMessages, Kind::Record) => stored,
            _ => rewrite(kind, &stored, lower, lower_message),
        }
    }
}

/// Changes a record, which is text, or a message, which begins with its version and is signed again.
fn rewrite(
    kind: Kind,
    bytes: &[u8],
    change: impl Fn(&str) -> String,
    change_message: impl Fn(&mut Vec<u8>),
) -> Vec<u8> {
    let label: &[u8] = match kind {
        Kind::Record => return change(core::str::from_utf8(bytes).unwrap()).into_bytes(),
        Kind::Introduction => b"mcp process\0",
        Kind::Change => b"mcp change\0",
    };
    let mut message = URL_SAFE_NO_PAD.decode(bytes).unwrap();
    message.truncate(message.len() - 32);
    change_message(&mut message);
    let mac = |key: &[u8], text: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text);
    let tag = mac(mac(&KEY, label).as_ref(), &message);
    message.extend_from_slice(tag.as_ref());
    URL_SAFE_NO_PAD.encode(message).into_bytes()
}

/// Two processes of this version, and two of the next one.
fn both() -> ([Process; 2], [Process; 2]) {
    both_with(Version::Next)
}

fn both_with(next: Version) -> ([Process; 2], [Process; 2]) {
    let old: [Process; 2] = processes();
    let (common, wire) = (&old[0].node.common, &old[0].wire);
    common.set_version(next);
    let new = [2, 3].map(|index| start(common, wire, index, &|it| it, &|it| it));
    (old, new)
}

#[track_caller]
fn is_left_alone(process: &Process, session: &HttpClient) {
    let there = at(process, session);
    let common = &process.node.common;
    let before = common.record(&session.id);
    assert_eq!(there.post(ping()).status, 503);
    assert_eq!(there.get(None).status, 503);
    assert_eq!(there.delete().status, 503);
    assert_eq!(common.record(&session.id), before);
    assert!(before.is_some());
}

#[track_caller]
fn serves(process: &Process, session: &HttpClient) {
    let answer = at(process, session).post(&call(1, "run"));
    answer.says(200, ["done"]);
}

#[test]
fn what_another_version_has_written_is_signed_as_well() {
    let (_, [new, newest]) = both();
    // They reach each other.
    serves(&newest, &new.open());
    assert_eq!(new.ran.begun(), 1);
}

#[test]
fn processes_of_two_versions_leave_the_sessions_of_each_other_alone() {
    let (old, new) = both();
    let (session, newer) = (old[0].open(), new[0].open());
    let record = |session: &HttpClient| old[0].node.common.record(&session.id).unwrap();
    assert!(record(&session).contains(THIS) && record(&newer).contains(NEXT));
    for _ in 0..3 {
        old.iter()
            .for_each(|process| is_left_alone(process, &newer));
        new.iter()
            .for_each(|process| is_left_alone(process, &session));
        old.iter().for_each(|process| serves(process, &session));
        new.iter().for_each(|process| serves(process, &newer));
        pass(10);
    }
    assert_eq!((epoch(&old[0], &session), epoch(&new[0], &newer)), (0, 0));
    // The old ones are gone.
    old.iter().for_each(Process::kill);
    pass(20);
    for process in &new {
        is_left_alone(process, &session);
        serves(process, &newer);
    }
    // They are started again.
    let (common, wire) = (&new[0].node.common, &new[0].wire);
    common.set_version(Version::This);
    let again = start(common, wire, 4, &|it| it, &|it| it);
    pass(20);
    is_left_alone(&again, &newer);
    serves(&again, &session);
}

#[test]
fn a_change_is_for_the_clients_of_its_version() {
    let (old, new) = both();
    let sessions = [old[0].open(), new[0].open()];
    let mut streams = sessions.each_ref().map(|session| session.get(None));
    for (process, expected) in [(&old[1], [1, 0]), (&new[1], [0, 1])] {
        process.registry.list_changed(ListKind::Tools);
        pass(1);
        let seen = streams.each_mut().map(|stream| {
            let text = stream.text();
            text.matches("tools/list_changed").count()
        });
        assert_eq!(seen, expected);
    }
}

/// A deployment: what an ending process releases is for the next one of its version, although others are asked
/// first.
#[test]
fn a_session_that_was_released_waits_for_its_version() {
    for is_newer in [false, true] {
        let (old, new) = both();
        let (own, others) = if is_newer { (new, old) } else { (old, new) };
        let session = own[0].open();
        serves(&own[0], &session);
        own[0].service.shutdown();
        pass(1);
        others
            .iter()
            .for_each(|process| is_left_alone(process, &session));
        serves(&own[1], &session);
        assert_eq!(epoch(&own[1], &session), 1);
        others
            .iter()
            .for_each(|process| is_left_alone(process, &session));
    }
}

/// Processes that cannot talk to each other can still follow each other.
#[test]
fn a_session_moves_between_versions_of_messages_when_its_owner_has_ended() {
    let (old, new) = both_with(Version::NextMessages);
    let sessions = [(&old, &new), (&new, &old)].map(|(own, others)| {
        let session = own[0].open();
        serves(&own[1], &session);
        is_left_alone(&others[0], &session);
        (session, own, others)
    });
    for (session, own, others) in sessions {
        own[0].kill();
        pass(20);
        serves(&others[1], &session);
        is_left_alone(&own[1], &session);
        assert_eq!(epoch(&others[1], &session), 1);
    }
}
