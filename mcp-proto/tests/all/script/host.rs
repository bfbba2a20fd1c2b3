//! The application of a server in the scripts, over any carrier.
//!
//! ```text
//! answer 0 {}                         answers a request, which has the number of its event
//! fail 0 -32002 not found             with an error; the message may be missing
//! input 0 state key roots/list {}     that input is required; `-` for no state, only a state if nothing follows
//! progress 0 1 of 2: text             reports progress; total and message may be missing
//! log 0 error "text"                  logs for a request, or for the session (`-`)
//! ask 0 roots/list {} timeout=1000    asks the client; the next number is the question's
//! give-up 1                           gives up a question
//! changed tools                       a list has changed
//! updated file:///a                   a resource has changed
//! notify notifications/x {}           sends a notification for the session
//! notify-for 0 notifications/x {}     or for a request or a subscription
//! acknowledge 0 {"key":true}          acknowledges a held subscription, with these members
//! end 0                               ends a subscription
//! forget 0                            the request comes again
//! cancel-all                          cancels all requests
//! ```
//!
//! Instead of a number, `first` and `last` stand for the one that was told first or last of those
//! that are not answered, and have no effect if there is no such one.

use core::time::Duration;

use mcp_proto::rpc::{ErrorObject, Method};
use mcp_proto::server::{
    Answer, AskOptions, Event, ListKind, ProgressReport, RequestContext, Server, Storage,
};
use mcp_proto::{
    InputRequired, Instant, Machine, Outcome, Payload, Question, SendError, SentToken, Token,
    Written,
};

use super::messages::raw;
use super::{Role, Writer, word};

/// The way from the application to its client.
pub(crate) trait Reach {
    type Storage: Storage;

    /// Sends a message on behalf of a request, or of none.
    fn put<T: Written>(
        &mut self,
        request: Option<Token>,
        write: impl FnMut(&mut Server<'static, Self::Storage>, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError>;

    fn respond(&mut self, _: Instant, to: Token, with: Outcome<'_>) -> Result<(), SendError> {
        let answered = self.put(Some(to), |server, out| server.respond(to, with, out));
        answered.map(drop)
    }

    /// Does what writes nothing by itself.
    fn server(&mut self, change: impl FnMut(&mut Server<'static, Self::Storage>));
}

impl<S: Storage, R: Role<Machine = Server<'static, S>>> Reach for Writer<'_, R> {
    type Storage = S;

    fn put<T: Written>(
        &mut self,
        _: Option<Token>,
        write: impl FnMut(&mut Server<'static, S>, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        Writer::put(self, write)
    }

    fn server(&mut self, mut change: impl FnMut(&mut Server<'static, S>)) {
        change(self.machine);
    }
}

/// A token of either kind: both are numbered in the order in which they appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Request(Token),
    Question(SentToken),
}

/// The application of a server.
#[derive(Default)]
pub(crate) struct Host {
    tokens: Vec<Name>,
    held: Vec<Token>,
    listening: Vec<Token>,
    questions: Vec<SentToken>,
    /// The id of the last question.
    pub(crate) asked: Option<String>,
}

impl Host {
    /// The `n`th token, which is that of a request.
    #[track_caller]
    pub(crate) fn token(&self, n: usize) -> Token {
        match self.tokens[n] {
            Name::Request(token) => token,
            Name::Question(_) => panic!("{n} is a question"),
        }
    }

    /// The `n`th token, which is that of a question.
    #[track_caller]
    pub(crate) fn question(&self, n: usize) -> SentToken {
        match self.tokens[n] {
            Name::Question(token) => token,
            Name::Request(_) => panic!("{n} is a request"),
        }
    }

    /// Numbers a question.
    pub(crate) fn asked(&mut self, question: SentToken) -> usize {
        self.questions.push(question);
        self.number(Name::Question(question))
    }

    /// The number of tokens.
    pub(crate) fn tokens(&self) -> usize {
        self.tokens.len()
    }

    /// The requests that this machine has still to answer.
    pub(crate) fn live<S: Storage>(&self, server: &Server<'_, S>) -> Vec<usize> {
        let live = |n: &usize| match self.tokens[*n] {
            Name::Request(token) => server.is_live(token),
            Name::Question(_) => false,
        };
        (0..self.tokens.len()).filter(live).collect()
    }

    fn number(&mut self, name: Name) -> usize {
        let found = self.tokens.iter().position(|other| *other == name);
        found.unwrap_or_else(|| {
            self.tokens.push(name);
            self.tokens.len() - 1
        })
    }

    /// The call that was held last.
    pub(crate) fn last_held(&self) -> Option<Token> {
        self.held.last().copied()
    }

    /// A request that was answered is held no more.
    pub(crate) fn is_answered(&mut self, token: Token) {
        self.held.retain(|other| *other != token);
    }

    /// Notes an event, and says it with the numbers of its tokens.
    pub(crate) fn tell(&mut self, event: &Event<'_>) -> String {
        self.note(event);
        let number = |name| format!(" {}", self.number(name));
        words(event, number, subject)
    }

    /// Notes an event, and says it with all that it has, but without numbers, which differ
    /// between revisions.
    pub(crate) fn tell_in_full(&mut self, event: &Event<'_>) -> String {
        self.note(event);
        let text = words(event, |_| String::new(), about);
        match event {
            Event::Request {
                method: Method::Other(_),
                params,
                ..
            }
            | Event::Notification { params, .. } => format!("{text} {}", params.as_raw().as_str()),
            Event::Progress { total, message, .. } => {
                let total = total.map_or(String::new(), |total| format!(" of {}", total.as_str()));
                let message = message.map_or(String::new(), |message| format!(": {message}"));
                format!("{text}{total}{message}")
            }
            _ => text,
        }
    }

    fn note(&mut self, event: &Event<'_>) {
        match event {
            Event::Request { token, .. } if !self.held.contains(token) => self.held.push(*token),
            Event::Listening { token, .. } => self.listening.push(*token),
            Event::Cancelled { token, .. } => {
                self.held.retain(|other| other != token);
                self.listening.retain(|other| other != token);
            }
            Event::Answer { token, .. } => self.questions.retain(|other| other != token),
            _ => {}
        }
    }

    /// A request or a subscription, by its number or by its place.
    #[track_caller]
    fn place(&self, of: &[Token], word: &str) -> Option<Token> {
        match word {
            "first" => of.first().copied(),
            "last" => of.last().copied(),
            number => Some(self.token(number.parse().expect("a number"))),
        }
    }

    /// A request, or `Some(None)` for the session.
    #[track_caller]
    fn place_or_session(&self, word: &str) -> Option<Option<Token>> {
        match word {
            "-" => Some(None),
            _ => self.place(&self.held, word).map(Some),
        }
    }

    /// Does what a line says; `None` if it is no command of an application.
    pub(crate) fn command(
        &mut self,
        now: Instant,
        verb: &str,
        rest: &str,
        out: &mut impl Reach,
    ) -> Option<Result<(), SendError>> {
        let (target, tail) = word(rest);
        Some(match verb {
            "answer" | "fail" | "input" => {
                let Some(token) = self.place(&self.held, target) else {
                    return Some(Ok(()));
                };
                self.is_answered(token);
                match verb {
                    "answer" => out.respond(now, token, Outcome::Result(&raw(tail))),
                    "fail" => {
                        let (code, message) = tail.split_once(' ').unwrap_or((tail, "no"));
                        let error = ErrorObject::new(code.parse().expect("a code"), message);
                        out.respond(now, token, Outcome::Error(error))
                    }
                    _ => input(now, token, tail, out),
                }
            }
            "progress" => {
                let Some(token) = self.place(&self.held, target) else {
                    return Some(Ok(()));
                };
                let (tail, message) = match tail.split_once(": ") {
                    Some((tail, message)) => (tail, Some(message)),
                    None => (tail, None),
                };
                let number = |text: &str| text.parse().expect("a number");
                let (value, total) = match tail.split_once(" of ") {
                    Some((value, total)) => (value, Some(number(total))),
                    None => (tail, None),
                };
                let progress = ProgressReport {
                    total,
                    message,
                    ..ProgressReport::new(number(value))
                };
                out.put(Some(token), |server, out| {
                    server.progress(now, token, progress, out)
                })
                .map(drop)
            }
            "log" => {
                let Some(token) = self.place_or_session(target) else {
                    return Some(Ok(()));
                };
                let (level, data) = word(tail);
                let level = format!("\"{level}\"");
                let level = raw(&level).decode(&mut []).expect("a level");
                let data = raw(data);
                out.put(token, |server, out| {
                    server.log(token, level, Some("logger"), &data, out)
                })
                .map(drop)
            }
            "ask" => {
                let Some(parent) = self.place_or_session(target) else {
                    return Some(Ok(()));
                };
                self.ask(now, parent, tail, out)
            }
            "give-up" => {
                let question = match target {
                    "last" => self.questions.last().copied(),
                    number => Some(self.question(number.parse().expect("a number"))),
                };
                if let Some(question) = question {
                    out.server(|server| server.cancel(question));
                }
                Ok(())
            }
            "notify" => notify(None, rest, out),
            "notify-for" => {
                let Some(token) = self.place(&self.listening, target) else {
                    return Some(Ok(()));
                };
                notify(Some(token), tail, out)
            }
            "changed" => {
                let list = match target {
                    "tools" => ListKind::Tools,
                    "prompts" => ListKind::Prompts,
                    "resources" => ListKind::Resources,
                    other => panic!("no such list: {other}"),
                };
                out.server(|server| server.list_changed(list));
                Ok(())
            }
            "updated" => {
                out.server(|server| server.resource_updated(target));
                Ok(())
            }
            "acknowledge" => {
                let Some(token) = self.place(&self.listening, target) else {
                    return Some(Ok(()));
                };
                let members = raw(tail).object().expect("members").members();
                let accepted: Vec<_> = members.map(|(key, value)| (key.to_cow(), value)).collect();
                let accepted: Vec<(&str, &dyn Payload)> = accepted
                    .iter()
                    .map(|(key, value)| (&**key, value as &dyn Payload))
                    .collect();
                out.put(Some(token), |server, out| {
                    server.acknowledge(token, &accepted, out)
                })
                .map(drop)
            }
            "end" => {
                if let Some(token) = self.place(&self.listening, target) {
                    self.listening.retain(|other| *other != token);
                    out.server(|server| server.end_listen(token));
                }
                Ok(())
            }
            "forget" => {
                let Some(token) = self.place(&self.held, target) else {
                    return Some(Ok(()));
                };
                out.server(|server| {
                    server.unhandle(token);
                });
                Ok(())
            }
            "cancel-all" => {
                self.held.clear();
                self.listening.clear();
                out.server(Server::cancel_all);
                Ok(())
            }
            _ => return None,
        })
    }

    fn ask(
        &mut self,
        now: Instant,
        parent: Option<Token>,
        text: &str,
        out: &mut impl Reach,
    ) -> Result<(), SendError> {
        let mut words = text.split(' ');
        let (method, params) = (words.next().unwrap_or_default(), words.next());
        let params = raw(params.unwrap_or("{}"));
        let mut options = AskOptions::default();
        for word in words {
            let millis = |text: &str| Duration::from_millis(text.parse().expect("milliseconds"));
            match word.split_once('=') {
                None if word == "progress" => options.progress = true,
                Some(("timeout", text)) => options.timeout = millis(text),
                Some(("cap", text)) => options.max_duration = millis(text),
                Some(("cookie", cookie)) => options.cookie = cookie.parse().expect("a number"),
                _ => panic!("no such option: {word}"),
            }
        }
        let question = Question {
            method: method.into(),
            params: &params,
        };
        let mut text = Vec::new();
        let asked = out.put(parent, |server, out| {
            let asked = server.ask(now, parent, question, options, out)?;
            let written = asked.transmit().map_or(0, |message| message.len);
            text = out[..written].to_vec();
            Ok(asked)
        });
        let (token, _) = asked?;
        let message = raw(core::str::from_utf8(&text).expect("messages are text"));
        let id = message.object().and_then(|message| message.get("id"));
        self.asked = id.map(|id| id.as_str().to_owned()).or(self.asked.take());
        self.asked(token);
        Ok(())
    }
}

/// `STATE KEY METHOD PARAMS`, or only a state.
fn input(now: Instant, token: Token, text: &str, out: &mut impl Reach) -> Result<(), SendError> {
    let mut words = text.split(' ');
    let mut next = || words.next().unwrap_or_default();
    let (state, key, method, params) = (next(), next(), next(), next());
    let params = raw(if params.is_empty() { "{}" } else { params });
    let question = Question {
        method: method.into(),
        params: &params,
    };
    let requests = [(key, question)];
    let input = InputRequired {
        requests: if key.is_empty() { &[] } else { &requests },
        state: (state != "-").then_some(state),
    };
    out.respond(now, token, Outcome::Input(input))
}

/// `METHOD PARAMS`, for a request or for the session.
fn notify(whose: Option<Token>, text: &str, out: &mut impl Reach) -> Result<(), SendError> {
    let (method, params) = word(text);
    let method = Method::from(method);
    let params = (!params.is_empty()).then(|| raw(params));
    let params = params.as_ref().map(|params| params as &dyn Payload);
    let sent = out.put(whose, |server, out| match whose {
        Some(token) => server.notify_for(token, method, params, out),
        None => server.notify(method, params, out),
    });
    sent.map(drop)
}

/// An event with the names of its tokens and what `context` says of a request.
fn words(
    event: &Event<'_>,
    mut name: impl FnMut(Name) -> String,
    context: impl Fn(&RequestContext<'_>) -> String,
) -> String {
    let mut request = |token: &Token| name(Name::Request(*token));
    match event {
        Event::Handshake(opened) => format!("handshake {}", opened.revision),
        Event::Initialized => "initialized".into(),
        Event::Request {
            token,
            method,
            context: of,
            ..
        } => format!("request{} {method}{}", request(token), context(of)),
        Event::Overdue { token } => format!("overdue{}", request(token)),
        Event::Cancelled { token, reason } => {
            let reason = reason.map_or(String::new(), |reason| format!(" {reason}"));
            format!("cancelled{}{reason}", request(token))
        }
        Event::Listening {
            token,
            held: true,
            filter,
            ..
        } => format!("held{} {}", request(token), filter.as_raw().as_str()),
        Event::Listening {
            token, context: of, ..
        } => format!("listening{}{}", request(token), context(of)),
        Event::Notification { method, .. } => format!("notification {method}"),
        Event::Progress {
            token,
            cookie,
            progress,
            ..
        } => format!(
            "progress{} {cookie} {}",
            name(Name::Question(*token)),
            progress.as_str()
        ),
        Event::Answer {
            token,
            cookie,
            answer,
        } => {
            let answer = match answer {
                Answer::Result(raw) => raw.as_str().into(),
                Answer::Error(error) => format!("error {} {}", error.code, error.message),
                other => format!("{other:?}"),
            };
            format!("answer{} {cookie} {answer}", name(Name::Question(*token)))
        }
        Event::PingMissed { misses, limit } => format!("missed {misses} of {limit}"),
        Event::Closed => "closed".into(),
        other => format!("{other:?}"),
    }
}

fn subject(context: &RequestContext<'_>) -> String {
    let subject = context.subject;
    subject.map_or(String::new(), |subject| format!(" {subject}"))
}

/// What the protocol layer read of the parameters.
fn about(context: &RequestContext<'_>) -> String {
    let mut text = subject(context);
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            text.push_str(name);
            text.push_str(&value);
        }
    };
    add(" with progress", context.progress.then(String::new));
    add(" log ", context.log_level.map(|it| it.as_str().to_owned()));
    let responses = context.input_responses;
    add(
        " responses ",
        responses.map(|it| it.as_raw().as_str().to_owned()),
    );
    add(" state ", context.request_state.map(|it| it.to_string()));
    add(" trace ", context.trace()[0].map(|it| it.to_string()));
    text
}
