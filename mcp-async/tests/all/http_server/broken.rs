//! Connections that break at every byte: whoever comes back has lost nothing, has seen nothing
//! twice, and sees nobody else's events.

use core::time::Duration;

use mcp_async::http::HttpService;

use crate::http_server::legacy::{asked_session, server};
use crate::scripted::{HttpClient, Reply, RequestExt, Serve, call, get, request_id, send};
use crate::sim::{Dice, advance};

const SECOND: Duration = Duration::from_secs(1);

/// The client's end of one stream.
#[derive(Default)]
struct Stream {
    reply: Option<Reply>,
    /// Of an event that is not whole yet.
    partial: String,
    last: Option<String>,
    /// What the events said, priming events aside.
    messages: Vec<String>,
    over: bool,
}

impl Stream {
    fn new(reply: Reply) -> Self {
        assert_eq!(reply.status, 200);
        Self {
            reply: Some(reply),
            ..Self::default()
        }
    }

    /// Takes what there is; with `keep`, only so many bytes of it arrive, and the connection is
    /// gone.
    fn read(&mut self, keep: Option<usize>) -> usize {
        let Some(reply) = &mut self.reply else {
            return 0;
        };
        let text = reply.text();
        let ended = reply.has_ended();
        let kept = keep.unwrap_or(text.len()).min(text.len());
        self.partial += &text[..kept];
        while let Some(end) = self.partial.find("\n\n") {
            let event: String = self.partial.drain(..end + 2).collect();
            self.take(&event);
        }
        if keep.is_some() {
            self.partial.clear();
            self.reply = None;
        } else {
            self.over = ended;
        }
        text.len()
    }

    fn take(&mut self, event: &str) {
        for line in event.lines() {
            match line.split_once(": ") {
                Some(("id", id)) => {
                    if let Some(last) = &self.last {
                        let stream = |id: &str| id.split_once('-').unwrap().0.to_owned();
                        assert_eq!(stream(id), stream(last), "one stream, one name");
                    }
                    self.last = Some(id.to_owned());
                }
                Some(("data", data)) => self.messages.push(data.to_owned()),
                _ => {}
            }
        }
    }

    /// Comes back, if it can; a stream whose id never arrived is lost.
    fn come_back(&mut self, session: &HttpClient) -> bool {
        if self.reply.is_none() && !self.over {
            let Some(last) = &self.last else {
                return false;
            };
            let reply = session.get(Some(last));
            if reply.status == 405 {
                // The connection broke after the last event.
                self.over = true;
                return true;
            }
            assert_eq!(reply.status, 200);
            self.reply = Some(reply);
        }
        true
    }

    #[track_caller]
    fn check(&self, parts: &[&str]) {
        assert_eq!(self.messages.len(), parts.len(), "{:#?}", self.messages);
        for (message, part) in self.messages.iter().zip(parts) {
            assert!(message.contains(part), "{message} has no {part}");
        }
    }
}

fn service() -> HttpService {
    server().http().served()
}

fn answer(session: &HttpClient, id: &str) {
    let answer = format!(r#"{id} = {{"roots":[]}}"#);
    assert_eq!(session.post(&answer).status, 202);
}

#[test]
fn a_call_survives_a_break_at_every_byte() {
    let service = service();
    let parts = [r#""progress":1"#, r#""progress":2"#, "at last"];
    let mut whole = false;
    for cut in 0.. {
        for late in [false, true] {
            let session = HttpClient::open(&service, "2025-11-25");
            let mut stream = Stream::new(session.post(&call(1, "slow")));
            let mut left = cut;
            left -= stream.read(Some(left)).min(left);
            if late {
                advance(SECOND);
            }
            if !stream.come_back(&session) {
                assert!(cut < "id: 1-0\ndata:\n\n".len(), "{cut}");
                continue;
            }
            if !late {
                advance(SECOND);
            }
            // What is left of the cut hits the second connection.
            whole = stream.read(Some(left)) < left;
            assert!(stream.come_back(&session));
            stream.read(None);
            assert!(stream.over);
            stream.check(&parts);
        }
        if whole {
            return;
        }
    }
}

#[test]
fn a_call_of_a_revision_without_priming_survives_it_after_its_first_event() {
    let service = service();
    for cut in [0, 10, 50, 400] {
        let session = HttpClient::open(&service, "2025-06-18");
        let mut stream = Stream::new(session.post(&call(1, "slow")));
        stream.read(Some(cut));
        advance(SECOND);
        if cut < 400 {
            assert!(!stream.come_back(&session));
            continue;
        }
        assert!(stream.come_back(&session));
        stream.read(None);
        stream.check(&[r#""progress":1"#, r#""progress":2"#, "at last"]);
    }
}

#[test]
fn a_question_to_a_call_survives_a_break_at_every_byte() {
    let service = service();
    for cut in "id: 1-0\ndata:\n\n".len().. {
        let session = HttpClient::open(&service, "2025-11-25");
        let mut stream = Stream::new(session.post(&call(1, "ask")));
        let len = stream.read(Some(cut));
        if !stream.come_back(&session) {
            continue;
        }
        stream.read(None);
        stream.check(&["roots/list"]);
        answer(&session, request_id(&stream.messages[0]));
        stream.read(None);
        assert!(stream.over);
        stream.check(&["roots/list", r#""id":1,"result""#]);
        if cut > len {
            return;
        }
    }
}

#[test]
fn a_question_of_the_session_is_asked_until_it_is_answered() {
    for cut in 0.. {
        let session = asked_session();
        let mut first = Stream::new(session.get(None));
        let len = first.read(Some(cut));
        // With an id or without: the question is there exactly once, on one stream or the other.
        let with_id = Stream {
            last: first.last.clone(),
            ..Stream::default()
        };
        let mut again = match with_id.last {
            Some(_) => with_id,
            None => Stream::new(session.get(None)),
        };
        assert!(again.come_back(&session));
        again.read(None);
        let seen = first.messages.len() + again.messages.len();
        assert_eq!(seen, 1, "cut at {cut}");
        let mut without = Stream::new(session.get(None));
        without.read(None);
        without.check(&["roots/list"]);
        answer(&session, request_id(&without.messages[0]));
        let mut after = Stream::new(session.get(None));
        after.read(None);
        after.check(&[]);
        if cut > len {
            return;
        }
    }
}

#[test]
fn polling_at_every_byte() {
    let service = service();
    for cut in "id: 1-0\ndata:\n\n".len().. {
        let session = HttpClient::open(&service, "2025-11-25");
        let mut stream = Stream::new(session.post(&call(1, "poll")));
        let len = stream.read(Some(cut));
        if !stream.come_back(&session) {
            continue;
        }
        stream.read(None);
        assert!(!stream.over);
        advance(SECOND);
        stream.read(None);
        stream.check(&["at last"]);
        if cut > len {
            return;
        }
    }
}

#[test]
fn the_stream_of_2024_11_05_is_never_resumed() {
    let service = server().http().legacy_sse("/sse", "/messages").served();
    let open = |last: Option<&str>| send(&service, get(last).to("/sse"));
    let mut first = open(None);
    let endpoint = first.text();
    assert!(!endpoint.contains("id:"), "nothing to come back with");
    drop(first);
    let mut second = open(Some("0-0"));
    assert_eq!(second.status, 200);
    let other = second.text();
    assert!(other.starts_with("event: endpoint\n") && other != endpoint);
}

/// Several clients with several calls each, whose connections break as a number says.
#[test]
fn nobody_loses_or_sees_what_is_not_theirs() {
    for seed in 1..60u64 {
        let mut dice = Dice::new(seed);
        let mut dice = move |sides| dice.below(sides) as usize;
        let service = service();
        let mut clients: Vec<(HttpClient, Vec<(u32, Stream)>)> = (0..3)
            .map(|_| (HttpClient::open(&service, "2025-11-25"), Vec::new()))
            .collect();
        for id in 1..40 {
            let (session, streams) = &mut clients[dice(3)];
            match dice(4) {
                0 => streams.push((id, Stream::new(session.post(&call(id, "slow"))))),
                1 => advance(Duration::from_millis(300)),
                _ if streams.is_empty() => {}
                2 => {
                    let index = dice(streams.len() as u64);
                    let keep = dice(300);
                    streams[index].1.read(Some(keep));
                }
                _ => {
                    let index = dice(streams.len() as u64);
                    streams[index].1.come_back(session);
                    streams[index].1.read(None);
                }
            }
        }
        advance(SECOND);
        for (session, streams) in &mut clients {
            for (id, stream) in streams {
                if !stream.come_back(session) {
                    assert!(stream.messages.is_empty());
                    continue;
                }
                stream.read(None);
                assert!(stream.over, "{seed}");
                let token = format!(r#""progressToken":{id},"#);
                let token = &token[..token.len() - 1];
                stream.check(&[token, token, &format!(r#""id":{id},"result""#)]);
            }
        }
    }
}
