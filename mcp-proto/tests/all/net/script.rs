//! The applications that most conversations need: a server that serves a bit of everything, and
//! a client that goes through a list of things to do and writes down what it hears.

use std::collections::VecDeque;

use mcp_proto::client::{self, Call, Client, Round};
use mcp_proto::json::{Object, Raw};
use mcp_proto::rpc::{ErrorObject, Method, code};
use mcp_proto::server::{self, AskOptions, ListKind, Progress, Server};
use mcp_proto::{
    InputRequired, Instant, Outbox, Outcome, Question, SendError, SentToken, Token, Verdict,
};

use super::App;

pub(crate) type AnyServer = Server<'static, server::Growing>;
pub(crate) type AnyClient = Client<'static, client::Growing>;

/// The tools `echo`, `slow` (never answers), `ask` (wants input first) and `burst` (progress,
/// then a list change, then the answer).
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) log: Vec<String>,
    /// Questions that wait, and for which call.
    asked: Vec<(SentToken, Token)>,
}

/// Something for the client to do once it is connected; the next comes when nothing moves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Do {
    List,
    Echo(&'static str),
    Slow,
    CancelLast,
    Ask,
    Burst,
    Listen,
    Ping,
}

#[derive(Default)]
pub(crate) struct User {
    pub(crate) log: Vec<String>,
    pub(crate) todo: VecDeque<Do>,
    /// Calls that were made, and those that ended, by cookie.
    pub(crate) made: Vec<u64>,
    pub(crate) ended: Vec<u64>,
    pub(crate) cancelled: Vec<u64>,
    last: Option<(SentToken, u64)>,
    connected: bool,
}

impl App<AnyServer> for Host {
    fn on(
        &mut self,
        now: Instant,
        server: &mut AnyServer,
        event: server::Event<'_>,
        outbox: &mut Outbox<Vec<u8>>,
    ) -> Verdict {
        match event {
            server::Event::Request {
                token,
                method,
                params,
                context,
            } => {
                self.log
                    .push(format!("{} {:?}", method.name(), context.subject));
                self.serve(now, server, token, method, params, context, outbox)
            }
            server::Event::Answer { token, answer, .. } => {
                self.log.push(format!("answer {}", answer_text(answer)));
                let Some(at) = self.asked.iter().position(|(asked, _)| *asked == token) else {
                    return Verdict::Done;
                };
                let (_, call) = self.asked.remove(at);
                let text = match answer {
                    server::Answer::Result(_) => r#"{"content":[{"type":"text","text":"thanks"}]}"#,
                    _ => r#"{"content":[],"isError":true}"#,
                };
                finish(server, now, call, text, outbox);
                Verdict::Done
            }
            server::Event::Cancelled { .. } => {
                self.log.push("cancelled".to_owned());
                Verdict::Done
            }
            server::Event::Listening { .. } => {
                self.log.push("listening".to_owned());
                Verdict::Done
            }
            // That it was answered shows in the log of the other side.
            server::Event::Handshake(_) => Verdict::Done,
            server::Event::Initialized => {
                self.log.push("initialized".to_owned());
                Verdict::Done
            }
            server::Event::Closed => {
                self.log.push("closed".to_owned());
                Verdict::Done
            }
            other => panic!("not in the script: {other:?}"),
        }
    }
}

impl Host {
    #[expect(clippy::too_many_arguments, reason = "they are the parts of one event")]
    fn serve(
        &mut self,
        now: Instant,
        server: &mut AnyServer,
        token: Token,
        method: Method<'_>,
        params: Object<'_>,
        context: server::Context<'_>,
        outbox: &mut Outbox<Vec<u8>>,
    ) -> Verdict {
        if method == Method::ToolsList {
            return finish(server, now, token, TOOLS, outbox);
        }
        let Some(tool) = context.subject else {
            let error = ErrorObject::new(code::METHOD_NOT_FOUND, "not served");
            return done(outbox.put(|out| server.respond(now, token, Outcome::Error(error), out)));
        };
        if tool == "echo" {
            let text = params.get("arguments").and_then(Raw::object);
            let text = text
                .and_then(|arguments| arguments.get("text"))
                .unwrap_or(Raw::NULL);
            let result = format!(
                r#"{{"content":[{{"type":"text","text":{}}}]}}"#,
                text.as_str()
            );
            finish(server, now, token, &result, outbox)
        } else if tool == "slow" {
            Verdict::Done
        } else if tool == "ask" {
            self.ask(now, server, token, context, outbox)
        } else {
            if context.progress {
                for step in 1..=3 {
                    let step = Progress {
                        total: Some(3.0),
                        ..Progress::new(f64::from(step))
                    };
                    let sent = outbox.put(|out| server.progress(now, token, step, out));
                    assert!(
                        matches!(sent, Ok(_) | Err(SendError::Closed | SendError::Stale)),
                        "{sent:?}"
                    );
                }
            }
            server.list_changed(ListKind::Tools);
            finish(server, now, token, r#"{"content":[]}"#, outbox)
        }
    }

    /// The same need in both eras: a nested request, or a round.
    fn ask(
        &mut self,
        now: Instant,
        server: &mut AnyServer,
        token: Token,
        context: server::Context<'_>,
        outbox: &mut Outbox<Vec<u8>>,
    ) -> Verdict {
        if context
            .input_responses
            .is_some_and(|given| given.get("name").is_some())
        {
            return finish(
                server,
                now,
                token,
                r#"{"content":[{"type":"text","text":"thanks"}]}"#,
                outbox,
            );
        }
        let params = raw(ELICITATION);
        let question = Question {
            method: Method::ElicitationCreate,
            params: &params,
        };
        if context.revision.has_input_required() {
            let input = InputRequired {
                requests: &[("name", question)],
                state: Some("s-1"),
            };
            return done(outbox.put(|out| server.respond(now, token, Outcome::Input(input), out)));
        }
        match outbox.put(|out| server.ask(now, Some(token), question, AskOptions::default(), out)) {
            Ok((asked, _)) => {
                self.asked.push((asked, token));
                Verdict::Done
            }
            Err(SendError::Undeclared(_) | SendError::NotInRevision) => finish(
                server,
                now,
                token,
                r#"{"content":[],"isError":true}"#,
                outbox,
            ),
            sent => done(sent),
        }
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
        let line = match event {
            client::Event::Connected(server) => {
                self.connected = true;
                format!("connected {}", server.revision)
            }
            client::Event::ConnectFailed(error) => format!("refused: {error}"),
            client::Event::Answer {
                cookie, outcome, ..
            } => {
                self.ended.push(cookie);
                match outcome {
                    Ok(result) => format!("{cookie} = {}", result.as_str()),
                    Err(error) => format!("{cookie} ! {} {}", error.code, error.message),
                }
            }
            client::Event::Failed {
                cookie, failure, ..
            } => {
                self.ended.push(cookie);
                format!("{cookie} failed: {failure:?}")
            }
            client::Event::Input {
                token,
                requests,
                state,
                ..
            } => {
                assert!(requests.is_some_and(|asked| asked.get("name").is_some()));
                let responses = raw(r#"{"name":{"action":"accept","content":{"name":"Ada"}}}"#);
                let params = raw(r#"{"name":"ask"}"#);
                let call = Call {
                    params: Some(&params),
                    ..Call::new(Method::ToolsCall)
                };
                let round = Round {
                    responses: Some(&responses),
                    state,
                };
                let _ = outbox
                    .put(|out| client.retry(now, token, &call, round, out))
                    .unwrap();
                "input".to_owned()
            }
            client::Event::Question { token, method, .. } => {
                let result = raw(r#"{"action":"accept","content":{"name":"Ada"}}"#);
                let _ = outbox
                    .put(|out| client.respond(now, token, Outcome::Result(&result), out))
                    .unwrap();
                format!("asked {}", method.name())
            }
            client::Event::Listening { honoured, .. } => {
                format!("listening to {} lists", honoured.members().count())
            }
            client::Event::Progress {
                cookie, progress, ..
            } => format!("{cookie} at {}", progress.as_str()),
            client::Event::Notification { notification, .. } => {
                notification.method.name().to_string()
            }
            client::Event::QuestionCancelled { .. } => "question withdrawn".to_owned(),
            client::Event::Closed(_) => "closed".to_owned(),
            other => panic!("not in the script: {other:?}"),
        };
        self.log.push(line);
        Verdict::Done
    }

    fn idle(&mut self, now: Instant, client: &mut AnyClient, outbox: &mut Outbox<Vec<u8>>) -> bool {
        if !self.connected || client.is_closed() {
            return false;
        }
        let Some(next) = self.todo.pop_front() else {
            return false;
        };
        let params: String = match next {
            Do::List | Do::Ping => "{}".to_owned(),
            Do::Echo(text) => format!(r#"{{"name":"echo","arguments":{{"text":{text}}}}}"#),
            Do::Slow => r#"{"name":"slow"}"#.to_owned(),
            Do::Ask => r#"{"name":"ask"}"#.to_owned(),
            Do::Burst => r#"{"name":"burst"}"#.to_owned(),
            Do::Listen => r#"{"notifications":{"toolsListChanged":true}}"#.to_owned(),
            Do::CancelLast => {
                let (token, cookie) = self.last.take().expect("a call was made");
                client.cancel(token);
                self.cancelled.push(cookie);
                return true;
            }
        };
        let cookie = self.made.len() as u64 + 1;
        let params = raw(&params);
        let call = Call {
            params: Some(&params),
            progress: matches!(next, Do::Burst),
            cookie,
            ..Call::new(match next {
                Do::List => Method::ToolsList,
                Do::Listen => Method::SubscriptionsListen,
                Do::Ping => Method::Ping,
                _ => Method::ToolsCall,
            })
        };
        match outbox.put(|out| client.call(now, &call, out)) {
            Ok((token, _)) => {
                self.made.push(cookie);
                self.last = Some((token, cookie));
            }
            Err(error) => self.log.push(format!("{next:?}: {error}")),
        }
        true
    }
}

impl User {
    pub(crate) fn new(todo: impl IntoIterator<Item = Do>) -> Self {
        Self {
            todo: todo.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Every call that was made ended once, or was cancelled and never heard of again.
    pub(crate) fn assert_all_ended(&self) {
        let mut over: Vec<u64> = self.ended.iter().chain(&self.cancelled).copied().collect();
        over.sort_unstable();
        assert_eq!(over, self.made, "{:#?}", self.log);
    }
}

pub(crate) fn raw(text: &str) -> Raw<'_> {
    Raw::parse(text.as_bytes(), 16).expect("the script's own JSON")
}

fn finish(
    server: &mut AnyServer,
    now: Instant,
    token: Token,
    result: &str,
    outbox: &mut Outbox<Vec<u8>>,
) -> Verdict {
    let result = raw(result);
    done(outbox.put(|out| server.respond(now, token, Outcome::Result(&result), out)))
}

fn done<T>(sent: Result<T, SendError>) -> Verdict {
    match sent {
        // A peer that is gone ends its requests, whatever becomes of the answer.
        Ok(_) | Err(SendError::Stale | SendError::Closed) => Verdict::Done,
        Err(SendError::BufferFull { .. }) => Verdict::Again,
        Err(error) => panic!("{error}"),
    }
}

fn answer_text(answer: server::Answer<'_>) -> String {
    match answer {
        server::Answer::Result(result) => result.as_str().to_owned(),
        other => format!("{other:?}"),
    }
}

pub(crate) const TOOLS: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"slow","inputSchema":{"type":"object"}}]}"#;
const ELICITATION: &str = r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#;
