//! The applications of both ends: a server with a few tools, and a client that goes through a list
//! of things to do and writes down what it is told.

use core::time::Duration;
use std::collections::VecDeque;

use mcp_proto::client::{self, Call, Client, Round};
use mcp_proto::json::Raw;
use mcp_proto::rpc::Method;
use mcp_proto::server::{
    self, Answer, AskOptions, ListKind, ProgressReport, RequestContext, Server,
};
use mcp_proto::{
    InputRequired, Instant, Outbox, Outcome, Question, SendError, SentToken, Token, Verdict,
    Written,
};

use super::net::App;
use super::raw;
use crate::script::host::Reach;

pub(crate) type AnyServer = Server<'static, server::Growing>;
pub(crate) type AnyClient = Client<'static, client::Growing>;

/// The tools `echo`, `slow` (never answers), `late` (after five seconds), `ask` (asks for a name
/// first), `burst` (progress, a list change, and the answer a second later) and `roots` (answers,
/// and asks for the client's roots then).
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) log: Vec<String>,
    /// Calls that are answered later.
    late: Vec<(Token, Instant)>,
    /// Questions, and the calls that wait for them.
    asked: Vec<(SentToken, Option<Token>)>,
}

/// On a pipe.
impl Reach for (&mut AnyServer, &mut Outbox<Vec<u8>>) {
    type Storage = server::Growing;

    fn put<T: Written>(
        &mut self,
        _: Option<Token>,
        mut write: impl FnMut(&mut AnyServer, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        let (server, outbox) = self;
        outbox.put(|out| write(server, out))
    }

    fn server(&mut self, mut change: impl FnMut(&mut AnyServer)) {
        change(self.0);
    }
}

impl Host {
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        self.late.iter().map(|(_, due)| *due).min()
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant, client: &mut impl Reach) {
        while let Some(at) = self.late.iter().position(|(_, due)| *due <= now) {
            let (token, _) = self.late.remove(at);
            allow_ended(finish(now, client, token, "\"late\""));
        }
    }

    pub(crate) fn on(
        &mut self,
        now: Instant,
        event: &server::Event<'_>,
        client: &mut impl Reach,
    ) -> Result<(), SendError> {
        match event {
            server::Event::Request {
                token,
                method,
                params,
                context,
            } => {
                let tool = context.subject.map_or(String::new(), |it| it.to_string());
                self.log.push(format!("{method} {tool}"));
                let given = params.get("arguments").and_then(Raw::object);
                let text = given.and_then(|given| given.get("text"));
                let text = text.map_or(format!("{tool:?}"), |text| text.as_str().to_owned());
                return self.serve(now, *token, (&tool, &text), context, client);
            }
            server::Event::Answer { token, answer, .. } => {
                let (text, thanks) = match answer {
                    Answer::Result(result) => (result.as_str().to_owned(), "\"thanks\""),
                    other => (format!("{other:?}"), "\"a pity\""),
                };
                self.log.push(format!("answer {text}"));
                let at = self.asked.iter().position(|(asked, _)| asked == token);
                if let (_, Some(call)) = self.asked.remove(at.expect("it was asked")) {
                    return finish(now, client, call, thanks);
                }
            }
            server::Event::Cancelled { token, .. } => {
                self.late.retain(|(late, _)| late != token);
                self.log.push("cancelled".into());
            }
            server::Event::Initialized => self.log.push("initialized".into()),
            server::Event::Listening { .. } => {
                self.log.push("listening".into());
                client.server(|server| server.list_changed(ListKind::Tools));
            }
            server::Event::Closed => self.log.push("closed".into()),
            // That it was answered shows in the log of the other side.
            server::Event::Handshake(_) => {}
            other => panic!("not in the script: {other:?}"),
        }
        Ok(())
    }

    fn serve(
        &mut self,
        now: Instant,
        token: Token,
        (tool, text): (&str, &str),
        context: &RequestContext<'_>,
        client: &mut impl Reach,
    ) -> Result<(), SendError> {
        match tool {
            "slow" => {}
            "late" => self.late.push((token, now + Duration::from_secs(5))),
            "burst" => {
                for step in 1..=3 {
                    let step = ProgressReport {
                        total: Some(3.0),
                        ..ProgressReport::new(f64::from(step))
                    };
                    let _ = client.put(Some(token), |server, out| {
                        server.progress(now, token, step, out)
                    })?;
                }
                client.server(|server| server.list_changed(ListKind::Tools));
                self.late.push((token, now + Duration::from_secs(1)));
            }
            "ask" => return self.ask(now, token, context, client),
            "roots" => {
                finish(now, client, token, text)?;
                let params = raw("{}");
                let question = Question {
                    method: Method::RootsList,
                    params: &params,
                };
                self.asked.push((ask(now, client, None, question)?, None));
            }
            _ => return finish(now, client, token, text),
        }
        Ok(())
    }

    /// The same need in both eras: a nested request, or a round.
    fn ask(
        &mut self,
        now: Instant,
        token: Token,
        context: &RequestContext<'_>,
        client: &mut impl Reach,
    ) -> Result<(), SendError> {
        let given = context.input_responses.and_then(|it| it.get("name"));
        if given.is_some() {
            return finish(now, client, token, "\"thanks\"");
        }
        let params = raw(
            r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#,
        );
        let question = Question {
            method: Method::ElicitationCreate,
            params: &params,
        };
        if context.revision.has_input_required() {
            let input = InputRequired {
                requests: &[("name", question)],
                state: Some("s-1"),
            };
            return client.respond(now, token, Outcome::Input(input));
        }
        match ask(now, client, Some(token), question) {
            Ok(asked) => self.asked.push((asked, Some(token))),
            Err(SendError::MissingCapability(_) | SendError::NotInRevision) => {
                return finish(now, client, token, "\"a pity\"");
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl App<AnyServer> for Host {
    fn on(
        &mut self,
        now: Instant,
        server: &mut AnyServer,
        event: server::Event<'_>,
        outbox: &mut Outbox<Vec<u8>>,
    ) -> Verdict {
        match Self::on(self, now, &event, &mut (server, outbox)) {
            Err(SendError::BufferFull { .. }) => return Verdict::Retry,
            sent => allow_ended(sent),
        }
        Verdict::Done
    }

    fn next_timeout(&self) -> Option<Instant> {
        Self::next_timeout(self)
    }

    fn handle_timeout(
        &mut self,
        now: Instant,
        server: &mut AnyServer,
        outbox: &mut Outbox<Vec<u8>>,
    ) {
        Self::handle_timeout(self, now, &mut (server, outbox));
    }
}

fn ask(
    now: Instant,
    client: &mut impl Reach,
    parent: Option<Token>,
    question: Question<'_>,
) -> Result<SentToken, SendError> {
    let asked = client.put(parent, |server, out| {
        server.ask(now, parent, question, AskOptions::default(), out)
    });
    asked.map(|(token, _)| token)
}

fn finish(
    now: Instant,
    client: &mut impl Reach,
    token: Token,
    text: &str,
) -> Result<(), SendError> {
    let result = format!(r#"{{"content":[{{"type":"text","text":{text}}}],"tools":[]}}"#);
    client.respond(now, token, Outcome::Result(&raw(&result)))
}

/// The end of a call or of its connection may cross its answer.
pub(crate) fn allow_ended(sent: Result<(), SendError>) {
    match sent {
        Ok(()) | Err(SendError::Stale | SendError::Closed) => {}
        Err(error) => panic!("{error}"),
    }
}

/// What the application of a client is told and does: the next thing of its list when nothing
/// moves any more.
///
/// A thing to do is a tool, with the text for `echo`, or `list`, `listen`, `ping`, or `cancel`,
/// which is about the last call.
#[derive(Default)]
pub(crate) struct User {
    pub(crate) log: Vec<String>,
    pub(crate) results: Vec<String>,
    pub(crate) todo: VecDeque<&'static str>,
    calls: Vec<(SentToken, &'static str)>,
    /// Calls that ended or were cancelled.
    over: Vec<SentToken>,
    /// Calls that are to be made again.
    again: Vec<SentToken>,
    /// How many sessions began.
    pub(crate) connected: usize,
}

impl User {
    pub(crate) fn new(todo: &[&'static str]) -> Self {
        Self {
            todo: todo.iter().copied().collect(),
            ..Self::default()
        }
    }

    fn call_of(&self, token: SentToken) -> &'static str {
        let found = self.calls.iter().find(|(call, _)| *call == token);
        found.expect("it was made").1
    }

    /// Checks that every call has ended once, or was cancelled and has had no event since.
    pub(crate) fn assert_all_ended(&self) {
        let over = |token| self.over.iter().filter(|it| **it == token).count();
        for (token, name) in &self.calls {
            assert_eq!(over(*token), 1, "{name}: {:#?}", self.log);
        }
        assert_eq!(self.over.len(), self.calls.len(), "{:#?}", self.log);
    }
}

impl App<AnyClient> for User {
    fn on(
        &mut self,
        now: Instant,
        client: &mut AnyClient,
        event: client::Event<'_>,
        outbox: &mut Outbox<Vec<u8>>,
    ) -> Verdict {
        let name = |token| self.call_of(token).split(' ').next().unwrap_or_default();
        let line = match event {
            client::Event::Connected(server) => {
                self.connected += 1;
                format!("connected {}", server.revision)
            }
            client::Event::ConnectFailed(error) => format!("refused: {error}"),
            client::Event::Answer { token, outcome, .. } => {
                let name = name(token);
                self.over.push(token);
                match outcome {
                    Ok(result) => {
                        self.results.push(result.as_str().to_owned());
                        format!("{name} answered")
                    }
                    Err(error) => format!("{name} ! {} {}", error.code, error.message),
                }
            }
            client::Event::Failed { token, failure, .. } => {
                let name = name(token);
                self.over.push(token);
                format!("{name} {failure:?}")
            }
            client::Event::Input {
                token,
                requests,
                state,
                ..
            } => {
                assert!(requests.is_some_and(|asked| asked.get("name").is_some()));
                let responses = raw(NAME);
                let round = Round {
                    responses: Some(&responses),
                    state,
                };
                let call = self.call_of(token);
                assert!(again(now, client, token, call, round, outbox));
                return Verdict::Done;
            }
            client::Event::Again { token, .. } => {
                self.again.push(token);
                return Verdict::Done;
            }
            client::Event::Question { token, method, .. } => {
                let result = match method {
                    Method::RootsList => raw(r#"{"roots":[]}"#),
                    _ => raw(NAME).object().and_then(|it| it.get("name")).unwrap(),
                };
                let outcome = Outcome::Result(&result);
                let _ = outbox
                    .put(|out| client.respond(token, outcome, out))
                    .unwrap();
                format!("asked {method}")
            }
            client::Event::Progress {
                token, progress, ..
            } => format!("{} at {}", name(token), progress.as_str()),
            client::Event::Listening { .. } => "listening".into(),
            client::Event::Notification { notification, .. } => {
                notification.method.name().to_string()
            }
            client::Event::QuestionCancelled { .. } => "question withdrawn".into(),
            client::Event::Closed(_) => "closed".into(),
            other => panic!("not in the script: {other:?}"),
        };
        self.log.push(line);
        Verdict::Done
    }

    /// Does the next thing, if there is one that can be done.
    fn idle(&mut self, now: Instant, client: &mut AnyClient, outbox: &mut Outbox<Vec<u8>>) -> bool {
        if self.connected == 0 || client.is_closed() {
            return false;
        }
        // Once the session is there that they belong to.
        if let Some(token) = self.again.last().copied() {
            let name = self.call_of(token);
            if !again(now, client, token, name, Round::default(), outbox) {
                return false;
            }
            self.again.pop();
            self.log.push(format!("{name} again"));
            return true;
        }
        let Some(next) = self.todo.pop_front() else {
            return false;
        };
        if next == "cancel" {
            let (token, _) = *self.calls.last().expect("a call was made");
            client.cancel(token);
            self.over.push(token);
            return true;
        }
        let params = params(next);
        let params = raw(&params);
        let call = call(next, &params);
        match outbox.put(|out| client.call(now, &call, out)) {
            Ok((token, _)) => self.calls.push((token, next)),
            // The session is being opened again.
            Err(SendError::NotReady) => {
                self.todo.push_front(next);
                return false;
            }
            Err(error) => panic!("{next}: {error}"),
        }
        true
    }
}

const NAME: &str = r#"{"name":{"action":"accept","content":{"name":"Ada"}}}"#;

fn params(thing: &str) -> String {
    match thing.split_once(' ').unwrap_or((thing, "")) {
        ("list" | "ping", _) => "{}".into(),
        ("listen", _) => r#"{"notifications":{"toolsListChanged":true}}"#.into(),
        (tool, "") => format!(r#"{{"name":"{tool}"}}"#),
        (tool, text) => format!(r#"{{"name":"{tool}","arguments":{{"text":{text}}}}}"#),
    }
}

fn call<'a>(thing: &str, params: &'a Raw<'a>) -> Call<'a> {
    Call {
        params: Some(params),
        progress: thing == "burst",
        ..Call::new(match thing {
            "list" => Method::ToolsList,
            "ping" => Method::Ping,
            "listen" => Method::SubscriptionsListen,
            _ => Method::ToolsCall,
        })
    }
}

/// Makes a call again, and says whether that is possible by now.
fn again(
    now: Instant,
    client: &mut AnyClient,
    token: SentToken,
    thing: &str,
    round: Round<'_>,
    outbox: &mut Outbox<Vec<u8>>,
) -> bool {
    let params = params(thing);
    let params = raw(&params);
    let call = call(thing, &params);
    match outbox.put(|out| client.retry(now, token, &call, round, out)) {
        Ok(_) => true,
        Err(SendError::NotReady) => false,
        Err(error) => panic!("{error}"),
    }
}
