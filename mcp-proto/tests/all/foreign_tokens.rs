//! A token is of use for the machine that made it, and for no other.

use mcp_proto::client::{self, Call, Client, ClientConfig, Round};
use mcp_proto::json::Raw;
use mcp_proto::model::ServerFeatures;
use mcp_proto::rpc::{Incoming, Message, Method};
use mcp_proto::server::http::streams::{Delivery, StreamLimits, StreamRead, Streams};
use mcp_proto::server::{
    self, AskOptions, Event, OverHttp, ProgressReport, Server, ServerConfig, SessionSnapshot,
};
use mcp_proto::{
    Action, Instant, Machine, Outcome, Pipe, Question, Revision, SendError, SentToken, Source,
    Token,
};

type Small = OverHttp<server::Fixed<4, 2, 0, 64>>;

const NOW: Instant = Instant::ZERO;

/// A session in which a tool runs and asks something: the tokens of both.
fn server() -> (Server<'static, Small>, Token, SentToken) {
    let config = ServerConfig {
        capabilities: ServerFeatures::TOOLS.capabilities(),
        ..ServerConfig::new("s", "1")
    };
    let mut snapshot = SessionSnapshot::stateless(Revision::V2025_11_25);
    snapshot.features = mcp_proto::model::ClientFeatures::ROOTS;
    let mut server = Server::new(config, Small::default()).unwrap();
    server.resume(NOW, &snapshot);
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":1}}}"#;
    let call = Incoming::Message(Message::parse(call, 8));
    let Action::Event(Event::Request { token, .. }) = server.handle(NOW, &Source::PIPE, call)
    else {
        panic!("it is a request");
    };
    let (asked, _) = ask(&mut server, token).unwrap();
    (server, token, asked)
}

fn ask(
    server: &mut Server<'static, Small>,
    parent: Token,
) -> Result<(SentToken, mcp_proto::Transmit), SendError> {
    let question = Question {
        method: Method::RootsList,
        params: &Raw::EMPTY_OBJECT,
    };
    let options = AskOptions::default();
    server.ask(NOW, Some(parent), question, options, &mut [0; 256])
}

#[test]
fn a_server_takes_its_own_alone() {
    let (mut server, own, _) = server();
    let (_, other, asked) = self::server();
    assert_eq!((own.index(), own == other), (other.index(), false));
    let out = &mut [0; 256];
    assert!(!server.is_live(other));
    assert_eq!(server.request_id(other), None);
    let half = ProgressReport::new(0.5);
    let stale = Some(SendError::Stale);
    assert_eq!(server.progress(NOW, other, half, out).err(), stale);
    assert_eq!(server.flush_progress(NOW, other, out), Ok(None));
    assert_eq!(ask(&mut server, other).err(), stale);
    let outcome = Outcome::Result(&Raw::EMPTY_OBJECT);
    assert_eq!(server.respond(other, outcome, out).err(), stale);
    server.cancel(asked);
    server.end_listen(other);
    assert!(!server.unhandle(other));
    assert_eq!(server.next_channel(), None);
    assert!(server.is_live(own));
    assert!(server.respond(own, outcome, out).is_ok());
}

/// A client whose handshake is over.
fn connected(revision: Revision) -> Client<'static, client::Fixed<4, 1>> {
    let config = ClientConfig {
        revisions: [revision].into_iter().collect(),
        ..ClientConfig::new("c", "1")
    };
    let mut client = Client::new(config, client::Fixed::new().questions::<1>()).unwrap();
    let out = &mut [0; 512];
    client.connect(NOW).unwrap();
    let pipe = mcp_proto::Channel::PIPE;
    let _ = client.poll_transmit(NOW, pipe, out).unwrap().unwrap();
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    );
    let answer = Incoming::Message(Message::parse(answer.as_bytes(), 8));
    let _ = client.handle(NOW, &Pipe, answer);
    let _ = client.poll_transmit(NOW, pipe, out).unwrap().unwrap();
    client
}

#[test]
fn a_client_takes_its_own_alone() {
    let client = || {
        let (mut client, out) = (connected(Revision::V2025_11_25), &mut [0; 512]);
        let call = Call::new(Method::ToolsList);
        let (token, _) = client.call(NOW, &call, out).unwrap();
        (client, token)
    };
    let (mut one, own) = client();
    let (_, other) = client();
    assert_eq!((own.index(), own == other), (other.index(), false));
    let call = Call::new(Method::ToolsList);
    let again = one.retry(NOW, other, &call, Round::default(), &mut [0; 256]);
    assert_eq!(again.err(), Some(SendError::Stale));
    one.cancel(other);
    assert_eq!((one.in_flight(), one.next_channel()), (1, None));
    let again = one.retry(NOW, own, &call, Round::default(), &mut [0; 256]);
    assert_eq!(again.err(), Some(SendError::NotReady));
    one.cancel(own);
    assert!(one.next_channel().is_some());
}

#[test]
fn streams_take_their_own_readers_alone() {
    let streams = || Streams::new(Delivery::Resumable, StreamLimits::default());
    let (mut one, mut two) = (streams(), streams());
    let (own, other) = (one.listen(), two.listen());
    assert_eq!(one.read(&other, &mut Vec::new(), 100), StreamRead::End);
    one.detach(&other);
    assert!(one.has_readers());
    assert_eq!(one.single(&other), None);
    assert_eq!(one.read(&own, &mut Vec::new(), 100), StreamRead::Pending);
}

/// The answer of the core to a message of one client must neither reach another one nor open a
/// session there.
#[test]
fn a_server_writes_its_own_replies_alone() {
    let new = || Server::new(ServerConfig::new("s", "1"), Small::default()).unwrap();
    let (mut server, mut other) = (new(), new());
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let initialize = Incoming::Message(Message::parse(line, 8));
    let Action::Reply(reply) = server.handle(NOW, &Source::PIPE, initialize) else {
        panic!("the core answers");
    };
    assert!(other.event_after_reply(&reply).is_none());
    assert_eq!(other.reply(NOW, reply, &mut [0; 512]).unwrap().len, 0);
    assert_eq!(other.revision(), None);
    assert!(server.reply(NOW, reply, &mut [0; 512]).unwrap().len > 0);
    assert_eq!(server.revision(), Some(Revision::V2025_11_25));
}

/// The answer of the core to a batched question of one server must not go into the array for another one.
#[test]
fn a_client_writes_its_own_replies_alone() {
    let new = || connected(Revision::V2025_03_26);
    let (mut client, mut other) = (new(), new());
    let ping = Message::parse(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, 8);
    let Action::Reply(reply) = client.handle(NOW, &Pipe, Incoming::Message(ping)) else {
        panic!("the core answers");
    };
    assert_eq!(other.reply(NOW, reply, &mut [0; 512]).unwrap().len, 0);
    assert!(client.reply(NOW, reply, &mut [0; 512]).unwrap().len > 0);
}
