//! Questions, which need tokens that only a machine can make.

use std::string::String;
use std::vec::Vec;

use super::{Delivery, StreamLimits, StreamRead, StreamReader, Streams};
use crate::action::Channel;
use crate::slots::Key;
use crate::token::{MachineId, SentToken};

const FIRST: SentToken = token(0);
const SECOND: SentToken = token(1);

const fn token(slot: u32) -> SentToken {
    let key = Key {
        slot,
        generation: 0,
    };
    SentToken::new(key, MachineId::FIRST)
}

fn session(events: usize) -> Streams {
    let limits = StreamLimits {
        events,
        ..StreamLimits::default()
    };
    Streams::new(Delivery::Resumable, limits)
}

fn ask(s: &mut Streams, text: &str, token: SentToken) {
    s.push(Channel::PIPE, text.as_bytes(), Some(token), false);
}

fn tell(s: &mut Streams, text: &str) {
    s.push(Channel::PIPE, text.as_bytes(), None, false);
}

/// The messages that a reader gets.
fn check(s: &mut Streams, reader: &StreamReader, expected: &[&str]) {
    let mut out = Vec::new();
    assert_eq!(s.read(reader, &mut out, 1 << 20), StreamRead::Pending);
    let text = String::from_utf8(out).unwrap();
    let seen: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_new_listener_is_asked_again() {
    let mut s = session(100);
    let reader = s.listen();
    ask(&mut s, "q1", FIRST);
    tell(&mut s, "n");
    ask(&mut s, "q2", SECOND);
    check(&mut s, &reader, &["q1", "n", "q2"]);
    for open in [&[FIRST, SECOND][..], &[SECOND], &[]] {
        let reader = s.listen();
        s.reopen(|token| open.contains(&token));
        let expected: &[&str] = match open.len() {
            2 => &["q1", "q2"],
            1 => &["q2"],
            _ => &[],
        };
        check(&mut s, &reader, expected);
    }
    let reader = s.listen();
    s.reopen(|_| true);
    check(&mut s, &reader, &[]);
}

#[test]
fn what_was_not_read_is_asked_once() {
    let mut s = session(100);
    ask(&mut s, "q1", FIRST);
    let reader = s.listen();
    s.reopen(|_| true);
    check(&mut s, &reader, &["q1"]);
}

#[test]
fn an_open_question_outlives_its_entry() {
    for read in [false, true] {
        let mut s = session(3);
        if read {
            let reader = s.listen();
            ask(&mut s, "q1", FIRST);
            check(&mut s, &reader, &["q1"]);
            s.detach(&reader);
        } else {
            ask(&mut s, "q1", FIRST);
        }
        for _ in 0..10 {
            tell(&mut s, "n");
        }
        let reader = s.listen();
        s.reopen(|_| true);
        let mut out = Vec::new();
        assert_eq!(s.read(&reader, &mut out, 1 << 20), StreamRead::Pending);
        assert!(String::from_utf8(out).unwrap().ends_with("data: q1\n\n"));
        s.answered(FIRST);
        let reader = s.listen();
        s.reopen(|_| true);
        check(&mut s, &reader, &[]);
    }
}

#[test]
fn an_answered_question_is_an_entry_like_others() {
    let mut s = session(3);
    ask(&mut s, "q1", FIRST);
    s.answered(FIRST);
    ask(&mut s, "q2", SECOND);
    for _ in 0..3 {
        tell(&mut s, "n");
    }
    assert_eq!((s.events, s.questions.len()), (3, 1));
    s.answered(SECOND);
    assert_eq!((s.events, s.questions.len()), (2, 0));
}

#[test]
fn questions_alone_meet_the_limits_too() {
    let mut s = session(3);
    for slot in 0..10 {
        ask(&mut s, "q", token(slot));
    }
    assert_eq!(s.events, 3);
    let reader = s.listen();
    s.reopen(|_| true);
    let mut out = Vec::new();
    assert_eq!(s.read(&reader, &mut out, 1 << 20), StreamRead::Pending);
    assert_eq!(
        String::from_utf8(out).unwrap().matches("data: q").count(),
        3
    );
    assert_eq!((s.events, s.bytes), (3, 3));
}

#[test]
fn a_question_on_the_stream_of_a_post_is_that_streams_own() {
    let mut s = session(100);
    let post = s.open().unwrap();
    s.push(post.channel(), b"q1", Some(FIRST), false);
    check(&mut s, &post, &["q1"]);
    s.detach(&post);
    let reader = s.listen();
    s.reopen(|_| true);
    check(&mut s, &reader, &[]);
    let post = s.resume(b"1-0").unwrap();
    check(&mut s, &post, &["q1"]);
}

/// The number is kept while the streams change, and not added up from them.
#[test]
fn unread_by_readers_is_the_sum_of_all_streams() {
    for seed in 0..300_u32 {
        let mut state = seed;
        let mut roll = |sides: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % sides
        };
        // Few enough entries that some have to go.
        let mut s = session(8);
        // Streams with smaller numbers are those of another process.
        s.number_from(5);
        let mut readers = Vec::new();
        for step in 0..80 {
            let channel = Channel::new(roll(10));
            let reader = roll(8) as usize % readers.len().max(1);
            match roll(7) {
                0 => readers.extend(s.open()),
                1 => readers.push(s.listen()),
                2 => {
                    let id = std::format!("{}-{}", channel.number(), roll(6));
                    readers.extend(s.resume(id.as_bytes()));
                }
                3 => {
                    let (first, end) = (u64::from(roll(4)) + 1, roll(2) == 0);
                    let channel = Channel::new(channel.number() % 5);
                    s.restore(channel, first, [&b"restored"[..]; 2], end);
                }
                4 if !readers.is_empty() => s.detach(&readers.swap_remove(reader)),
                5 if !readers.is_empty() => {
                    let max = roll(60) as usize;
                    let _ = s.read(&readers[reader], &mut Vec::new(), max);
                }
                _ => {
                    let message = &b"a message of some length"[..roll(25) as usize];
                    s.push(channel, message, None, roll(4) == 0);
                }
            }
            let sum: usize = (0..90).map(|it| s.unread(Channel::new(it))).sum();
            assert_eq!(s.unread_by_readers(), sum, "seed {seed}, step {step}");
        }
    }
}
