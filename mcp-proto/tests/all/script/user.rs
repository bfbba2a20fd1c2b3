//! The application of a client in the scripts, over any carrier.
//!
//! ```text
//! call a tools/list {}            makes a call, which this label names from then on
//! with progress timeout=5         of the calls that follow
//! retry a {"k":{}} "state"        sends a call again; `-` for no responses
//! cancel a                        cancels a call
//! respond {}, respond error -1    answers the oldest question of the server
//! reply {}                        answers it too, and keeps it for another answer
//! forget                          the last question comes again
//! notify notifications/x {}       sends a notification
//! begin, end                      what is between them is sent as one array
//! hold, release                   keeps calls of a lost session back
//! ```

use core::time::Duration;
use std::collections::VecDeque;

use mcp_proto::client::{Call, Client, Event, Failure, Round, Storage, Trace, Unusable};
use mcp_proto::json::Raw;
use mcp_proto::rpc::{ErrorObject, Method};
use mcp_proto::{
    Instant, Machine, Outcome, Payload, SendError, SentToken, Token, Transmit, Written,
};

use super::messages::raw;
use super::{Role, Writer, word};

/// The way from the application to its server.
pub(crate) trait Reach<'c> {
    type Storage: Storage;

    fn put<T: Written>(
        &mut self,
        write: impl FnMut(&mut Client<'c, Self::Storage>, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError>;

    fn client(&mut self) -> &mut Client<'c, Self::Storage>;
}

impl<'c, S: Storage, R: Role<Machine = Client<'c, S>>> Reach<'c> for Writer<'_, R> {
    type Storage = S;

    fn put<T: Written>(
        &mut self,
        write: impl FnMut(&mut Client<'c, S>, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        Writer::put(self, write)
    }

    fn client(&mut self) -> &mut Client<'c, S> {
        self.machine
    }
}

/// The application of a client.
#[derive(Default)]
pub(crate) struct User {
    /// By cookie.
    calls: Vec<Made>,
    questions: VecDeque<Token>,
    options: Options,
    /// A batch is open.
    batches: bool,
    /// The last call that was made or sent again, and what was written of it.
    pub(crate) called: Option<(String, String)>,
}

/// A call that was made.
struct Made {
    label: String,
    method: String,
    params: Option<String>,
    token: Option<SentToken>,
}

/// Of the calls that follow: set by the command `with`.
#[derive(Clone, Default)]
struct Options {
    progress: bool,
    timeout: Option<Duration>,
    max_duration: Option<Duration>,
    log_level: Option<String>,
    /// Calls do not join the batch that is open.
    alone: bool,
    extensions: Option<Vec<String>>,
    /// Parent, state and baggage.
    trace: [Option<String>; 3],
}

impl User {
    /// Notes an event.
    pub(crate) fn on(&mut self, event: &Event<'_>) {
        if let Event::Question { token, .. } = event {
            self.questions.push_back(*token);
        }
    }

    /// Does what a line says; `None` if it is no command of an application.
    ///
    /// Nothing is done for a call or a question that was never made.
    pub(crate) fn command<'c>(
        &mut self,
        now: Instant,
        verb: &str,
        rest: &str,
        out: &mut impl Reach<'c>,
    ) -> Option<Result<(), SendError>> {
        let (label, tail) = word(rest);
        Some(match verb {
            "with" => {
                self.options = Options::read(rest);
                Ok(())
            }
            "call" => {
                let (method, params) = word(tail);
                self.calls.push(Made {
                    label: label.to_owned(),
                    method: method.to_owned(),
                    params: (!params.is_empty()).then(|| params.to_owned()),
                    token: None,
                });
                self.call(now, self.calls.len() - 1, None, out).map(drop)
            }
            "retry" => match self.made(label) {
                Some((cookie, token)) => {
                    let round = Some((token, word(tail)));
                    self.call(now, cookie, round, out).map(drop)
                }
                None => Ok(()),
            },
            "cancel" => {
                if let Some((_, token)) = self.made(label) {
                    out.client().cancel(token);
                }
                Ok(())
            }
            "respond" => match self.questions.pop_front() {
                Some(token) => respond(token, rest, out),
                None => Ok(()),
            },
            "reply" => match self.questions.front() {
                Some(token) => respond(*token, rest, out),
                None => Ok(()),
            },
            "forget" => {
                if let Some(token) = self.questions.pop_back() {
                    out.client().unhandle(token);
                }
                Ok(())
            }
            "notify" => {
                let (method, params) = word(rest);
                let params = (!params.is_empty()).then(|| raw(params));
                let params = params.as_ref().map(|params| params as &dyn Payload);
                let method = Method::from(method);
                let sent = out.put(|client, out| client.notify(method, params, out));
                sent.map(drop)
            }
            "begin" => {
                let begun = out.client().begin_batch();
                self.batches |= begun.is_ok();
                begun
            }
            "end" => {
                let ended = out.put(|client, out| client.end_batch(out));
                self.batches &= ended.is_err();
                ended.map(drop)
            }
            "defer" => {
                out.client().defer_batch();
                self.batches = false;
                Ok(())
            }
            "hold" => {
                out.client().hold();
                Ok(())
            }
            "release" => {
                out.client().release();
                Ok(())
            }
            _ => return None,
        })
    }

    /// The cookie and the token of the last call with this label.
    fn made(&self, label: &str) -> Option<(usize, SentToken)> {
        let cookie = self.calls.iter().rposition(|made| made.label == label)?;
        Some((cookie, self.calls[cookie].token?))
    }

    /// Makes a call, or sends it again with the responses and the state of a round.
    fn call<'c>(
        &mut self,
        now: Instant,
        cookie: usize,
        round: Option<(SentToken, (&str, &str))>,
        out: &mut impl Reach<'c>,
    ) -> Result<Transmit, SendError> {
        let batched = self.batches && !self.options.alone;
        let Self { calls, options, .. } = self;
        let made = &mut calls[cookie];
        let params = made.params.as_deref().map(raw);
        let [trace, state, baggage] = &options.trace;
        let extensions = options.extensions.as_ref();
        let extensions: Option<Vec<_>> =
            extensions.map(|names| names.iter().map(String::as_str).collect());
        let call = Call {
            params: params.as_ref().map(|params| params as &dyn Payload),
            timeout: options.timeout,
            max_duration: options.max_duration,
            progress: options.progress,
            log_level: options.log_level.as_deref(),
            extensions: extensions.as_deref(),
            trace: trace.as_deref().map(|parent| Trace {
                parent,
                state: state.as_deref(),
                baggage: baggage.as_deref(),
            }),
            batched,
            cookie: cookie as u64,
            ..Call::new(Method::from(made.method.as_str()))
        };
        let mut text = Vec::new();
        let written = match round {
            Some((token, (responses, state))) => {
                let given = |text: &&str| !text.is_empty() && *text != "-";
                let responses = Some(responses).filter(given).map(raw);
                let round = Round {
                    responses: responses.as_ref().map(|it| it as &dyn Payload),
                    state: Some(state).filter(given).map(raw),
                };
                out.put(|client, out| {
                    let transmit = client.retry(now, token, &call, round, out)?;
                    text = out[..transmit.len].to_vec();
                    Ok(transmit)
                })
            }
            None => {
                let called = out.put(|client, out| {
                    let called = client.call(now, &call, out)?;
                    text = out[..called.1.len].to_vec();
                    Ok(called)
                });
                called.map(|(token, transmit)| {
                    made.token = Some(token);
                    transmit
                })
            }
        };
        let text = String::from_utf8(text).expect("messages are text");
        self.called = Some((made.label.clone(), text));
        written
    }

    fn label(&self, cookie: u64) -> &str {
        let made = usize::try_from(cookie)
            .ok()
            .and_then(|it| self.calls.get(it));
        made.map_or("?", |made| &made.label)
    }

    /// Why a call failed in full, or else an event as in other scripts.
    pub(crate) fn tell_in_full(&self, event: &Event<'_>) -> String {
        match event {
            Event::Failed {
                failure: Failure::Invalid(reason),
                ..
            } => format!("{}: {reason}", self.tell(event)),
            _ => self.tell(event),
        }
    }

    /// An event, with the label of its call.
    pub(crate) fn tell(&self, event: &Event<'_>) -> String {
        let text = |raw: Option<Raw<'_>>| raw.map_or("-".to_owned(), |raw| raw.as_str().to_owned());
        let label = |cookie: &u64| self.label(*cookie);
        match event {
            Event::Connected(server) => {
                let name = server.server.and_then(|server| server.get("name"));
                let said = server
                    .instructions
                    .map_or(String::new(), |said| format!(" {said:?}"));
                match name {
                    Some(name) => format!("connected {} {}{said}", server.revision, name.as_str()),
                    None => format!("connected {}{said}", server.revision),
                }
            }
            Event::ConnectFailed(error) => error.to_string(),
            Event::Answer {
                cookie, outcome, ..
            } => match outcome {
                Ok(result) => format!("answer {} {}", label(cookie), result.as_str()),
                Err(error) => format!("error {} {} {}", label(cookie), error.code, error.message),
            },
            Event::Failed {
                cookie, failure, ..
            } => match failure {
                Failure::Invalid(_) => format!("failed {} Invalid", label(cookie)),
                failure => format!("failed {} {failure:?}", label(cookie)),
            },
            Event::LateResult { result } => format!("late {}", result.as_raw().as_str()),
            Event::Input {
                cookie,
                requests,
                state,
                ..
            } => format!(
                "input {} {} {}",
                label(cookie),
                text(requests.map(|requests| requests.as_raw())),
                text(*state)
            ),
            Event::Again { cookie, .. } => format!("again {}", label(cookie)),
            Event::Listening {
                cookie, honoured, ..
            } => {
                format!("listening {} {}", label(cookie), honoured.as_raw().as_str())
            }
            Event::Progress {
                cookie,
                progress,
                total,
                message,
                ..
            } => {
                let progress = progress.as_str();
                let total = total.map_or(String::new(), |total| format!("/{}", total.as_str()));
                let message = message.map_or(String::new(), |message| format!(" {message}"));
                format!("progress {} {progress}{total}{message}", label(cookie))
            }
            Event::Notification {
                subscription,
                notification,
            } => {
                let whose = subscription
                    .map_or(String::new(), |(_, cookie)| format!(" {}", label(&cookie)));
                format!("told{whose} {}", notification.method)
            }
            Event::Question { method, params, .. } => {
                format!("asked {method} {}", params.as_raw().as_str())
            }
            Event::QuestionCancelled { reason, .. } => match reason {
                Some(reason) => format!("unasked {reason}"),
                None => "unasked".to_owned(),
            },
            Event::PingMissed { misses, limit } => format!("missed {misses} of {limit}"),
            Event::Unusable(Unusable::Invalid(invalid)) => format!("invalid {}", invalid.reason),
            Event::Unusable(Unusable::Batch) => "batch".to_owned(),
            Event::Unusable(Unusable::Request(request)) => format!("request {}", request.method),
            Event::Unusable(Unusable::Error(error)) => format!("error - {}", error.code),
            Event::Closed(reason) => format!("closed {reason:?}"),
            other => panic!("what is {other:?}?"),
        }
    }
}

/// Answers a question with a result or an `error CODE`.
fn respond<'c>(token: Token, text: &str, out: &mut impl Reach<'c>) -> Result<(), SendError> {
    let result;
    let outcome = match text.strip_prefix("error ") {
        Some(code) => Outcome::Error(ErrorObject::new(code.parse().expect("a code"), "no")),
        None => {
            result = raw(text);
            Outcome::Result(&result)
        }
    };
    out.put(|client, out| client.respond(token, outcome, out))
        .map(drop)
}

impl Options {
    fn read(text: &str) -> Self {
        let mut options = Self::default();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let millis = |text: &str| Some(Duration::from_millis(text.parse().unwrap()));
            match word.split_once('=') {
                None if word == "progress" => options.progress = true,
                None if word == "alone" => options.alone = true,
                Some(("timeout", text)) => options.timeout = millis(text),
                Some(("cap", text)) => options.max_duration = millis(text),
                Some(("level", text)) => options.log_level = Some(text.to_owned()),
                Some(("extensions", text)) => {
                    options.extensions = Some(text.split(',').map(str::to_owned).collect());
                }
                Some(("parent", text)) => options.trace[0] = Some(text.to_owned()),
                Some(("state", text)) => options.trace[1] = Some(text.to_owned()),
                Some(("baggage", text)) => options.trace[2] = Some(text.to_owned()),
                _ => panic!("no such option: {word}"),
            }
        }
        options
    }
}
