//! Replies of an HTTP server, before an exchange of the client.

use core::time::Duration;

use arbitrary::{Arbitrary, Unstructured};
use mcp_proto::client::http::{Body, Exchange, ExchangeOutcome, Origin, ReplyHead};
use mcp_proto::frame::sse::{Events, Piece};
use mcp_proto::json::MAX_DEPTH;
use mcp_proto::rpc::{Message, OwnedMessages};
use mcp_proto::{Instant, Limits, Revision};

/// Whatever a server replies: every exchange ends, after a bounded number of attempts in a row,
/// nothing is heard of it afterwards, what is sent can stand in a head, and what is written for the machine is a message.
///
/// The input is read as a list of `Reply`s.
pub fn reply_heads(input: &[u8]) {
    let Ok(replies) = Vec::<Reply>::arbitrary_take_rest(Unstructured::new(input)) else {
        return;
    };
    let mut origin = Origin::new();
    let mut replies = replies.into_iter();
    let mut now = Instant::ZERO;
    for message in MESSAGES {
        let exchange = Exchange::new(&origin, &Message::parse(message.as_bytes(), 16));
        converse(&mut origin, exchange, message, &mut replies, &mut now);
        if message.contains("\"initialize\"") {
            origin.set_revision(Revision::V2025_11_25);
        }
    }
    let bare = [
        origin.listen(),
        Some(origin.probe_http_sse()),
        origin.delete(),
    ];
    for exchange in bare.into_iter().flatten() {
        converse(&mut origin, exchange, "", &mut replies, &mut now);
    }
    origin.take_dropped();
}

/// One reply, or that none comes.
#[derive(Debug, Arbitrary)]
struct Reply {
    status: Status,
    kind: Kind,
    session: Option<Vec<u8>>,
    retry_after: Option<Vec<u8>>,
    date: Option<Vec<u8>>,
    body: Text,
    begun: bool,
    jitter: u32,
}

#[derive(Debug, Arbitrary)]
enum Status {
    Unreachable,
    Success,
    BadRequest,
    NotFound,
    Unavailable,
    Any(u16),
}

#[derive(Debug, Arbitrary)]
enum Kind {
    None,
    Json,
    Events,
    Any(Vec<u8>),
}

/// What is likely to be taken for something, or anything.
#[derive(Debug, Arbitrary)]
enum Text {
    Answer(u8),
    Error(u8),
    Tools(u8),
    Event(u8, Vec<u8>),
    Any(Vec<u8>),
}

/// Takes an exchange to its end.
fn converse(
    origin: &mut Origin,
    mut exchange: Exchange,
    message: &str,
    replies: &mut impl Iterator<Item = Reply>,
    now: &mut Instant,
) {
    // Attempts that brought nothing.
    let mut fruitless = 0;
    loop {
        exchange.fields(
            origin,
            &Message::parse(message.as_bytes(), 16),
            &mut |name, value| {
                let small = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
                assert!(!name.is_empty() && name.bytes().all(small), "{name:?}");
                let fits = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
                assert!(value.iter().all(fits), "{name}: {value:?}");
            },
        );
        let reply = replies.next().unwrap_or(Reply {
            status: Status::Unreachable,
            kind: Kind::None,
            session: None,
            retry_after: None,
            date: None,
            body: Text::Any(Vec::new()),
            begun: true,
            jitter: 0,
        });
        let (after, came) = take(origin, &mut exchange, &reply, *now);
        fruitless = if came { 0 } else { fruitless + 1 };
        match after {
            // The stream of the session itself is asked for as long as that lives, but seldom.
            ExchangeOutcome::Resume(at) if message.is_empty() && fruitless > 8 => {
                assert!(at >= *now + Duration::from_secs(60), "in a hurry");
                return;
            }
            ExchangeOutcome::Resume(at) => {
                assert!(fruitless <= 8, "for ever");
                assert!(at >= *now && at <= *now + Duration::from_secs(5_000));
                *now = at;
            }
            ExchangeOutcome::Fail(_)
            | ExchangeOutcome::Refuse(_)
            | ExchangeOutcome::ProbeHttpSse(_) => {
                // What is to be told of a call is told of one that is open.
                assert!(exchange.id().is_some() || message.is_empty());
                return;
            }
            ExchangeOutcome::Done
            | ExchangeOutcome::Deliver
            | ExchangeOutcome::Mismatched
            | ExchangeOutcome::Lost
            | ExchangeOutcome::Authorize
            | ExchangeOutcome::HangUp => return,
        }
    }
}

/// One reply, and whether anything came in it.
fn take(
    origin: &mut Origin,
    exchange: &mut Exchange,
    reply: &Reply,
    now: Instant,
) -> (ExchangeOutcome, bool) {
    let status = match reply.status {
        Status::Unreachable => {
            return (
                exchange.unreachable(origin, now, reply.begun, reply.jitter),
                false,
            );
        }
        Status::Success => 200,
        Status::BadRequest => 400,
        Status::NotFound => 404,
        Status::Unavailable => 503,
        Status::Any(status) => status,
    };
    let body = reply.body.bytes();
    let head = ReplyHead {
        content_type: match &reply.kind {
            Kind::None => None,
            Kind::Json => Some(b"application/json"),
            Kind::Events => Some(b"text/event-stream"),
            Kind::Any(bytes) => Some(bytes),
        },
        session: reply.session.as_deref(),
        retry_after: reply.retry_after.as_deref(),
        date: reply.date.as_deref(),
        ..ReplyHead::new(status)
    };
    let mut line = Vec::new();
    let after = match exchange.head(origin, &head) {
        Body::Nothing => exchange.nothing(origin),
        Body::Json => exchange.answer(origin, &OwnedMessages::parse(&body, 16), &mut line),
        Body::Refusal => exchange.refused(origin, now, status, &body, &mut line, reply.jitter),
        Body::Events => return stream(origin, exchange, &body, reply.jitter, now),
    };
    is_message(&line);
    (after, false)
}

fn stream(
    origin: &mut Origin,
    exchange: &mut Exchange,
    body: &[u8],
    jitter: u32,
    now: Instant,
) -> (ExchangeOutcome, bool) {
    let fields = [Vec::new(), Vec::new(), Vec::new()];
    let mut events = Events::new(Vec::new(), fields, &Limits::default());
    let mut came = false;
    for byte in body {
        events.spare_mut().expect("it grows")[0] = *byte;
        events.filled(1);
        while let Some(piece) = events.next_event() {
            let Piece::Event(event) = piece else {
                panic!("{piece:?} within the limits");
            };
            if exchange.event(&event) {
                let mut instead = Vec::new();
                let data = OwnedMessages::parse(event.data, 16);
                let heard = exchange.messages(origin, &data, &mut instead);
                assert!(heard || instead.is_empty());
                is_message(&instead);
            }
            came = true;
        }
    }
    let (id, retry) = (events.last_event_id().to_vec(), events.retry());
    (exchange.end(origin, now, &id, retry, jitter), came)
}

/// Checks that an exchange writes one message for the machine, or nothing.
fn is_message(text: &[u8]) {
    let is_valid = || !matches!(Message::parse(text, MAX_DEPTH), Message::Invalid(_));
    assert!(text.is_empty() || is_valid());
}

impl Text {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Answer(id) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#).into(),
            Self::Error(id) => {
                let error = r#""error":{"code":-32022,"message":"no","data":{"supported":[]}}"#;
                format!(r#"{{"jsonrpc":"2.0","id":{id},{error}}}"#).into()
            }
            Self::Tools(id) => {
                let zone = r#"{"type":"string","x-mcp-header":"Zone"}"#;
                let number = r#"{"type":"object","x-mcp-header":"Bad"}"#;
                let tool = |name, zone| {
                    format!(
                        r#"{{"name":"{name}","inputSchema":{{"type":"object","properties":{{"zone":{zone}}}}}}}"#
                    )
                };
                let tools = [tool("find", zone), tool("bad", number)].join(",");
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{tools}]}}}}"#).into()
            }
            Self::Event(id, more) => {
                let mut event = format!(
                    "id: 1-{id}\nretry: 7\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n\n"
                )
                .into_bytes();
                event.extend_from_slice(more);
                event
            }
            Self::Any(bytes) => bytes.clone(),
        }
    }
}

/// What a client says, in both eras.
const MESSAGES: [&str; 7] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"find","arguments":{"zone":"\u00e9 "},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"find","arguments":{}}}"#,
    r#"{"jsonrpc":"2.0","id":6,"result":{"roots":[]}}"#,
];
