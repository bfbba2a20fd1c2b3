//! One request of a caller, forwarded to a server, in all pairs of eras.

use core::future::{Future, poll_fn};
use core::task::Poll;
use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_async::client::{CallError, InputAnswers, Request, RoundResult};
use mcp_async::json::RawBuf;
use mcp_async::model::{LoggingLevel, LoggingMessageParams, Meta};
use mcp_async::runtime::BoxFuture;
use mcp_async::server::{AskError, CallContext, HandlerError};
use mcp_async::tasks::EXTENSION;
use mcp_async::{ErrorReply, Method, Revision, code};
use mcp_proto::model::keys;
use serde::{Deserialize, Serialize};

use super::bridge::{Event, Question};
use super::held::{RunningCall, Waits};
use super::replies::{failure, full, is_denied, not_kept, over};
use super::running::Running;
use super::sessions::{Lease, Session};
use super::steps::{Next, Steps, WithSteps};
use crate::waiting::until;

/// A request to a server, by the names that the server gave its items.
#[derive(Clone)]
pub(super) enum Ask {
    Tool {
        name: String,
        arguments: RawBuf,
    },
    Prompt {
        name: String,
        arguments: BTreeMap<String, String>,
    },
    Resource {
        uri: String,
    },
}

/// What a call of 2026-07-28 remembers between its rounds. It travels through the caller, sealed.
#[derive(Serialize, Deserialize)]
enum Waiting {
    /// A call of a legacy server stays open in this process.
    #[serde(rename = "h")]
    Held { process: String, number: u64 },
    /// A server of 2026-07-28 asked these questions and sent this state. A session that is for this call alone waits in this process.
    #[serde(rename = "a")]
    Asked {
        requests: RawBuf,
        state: Option<RawBuf>,
        session: Option<(String, u64)>,
    },
}

/// The result of a server, and its revision.
pub(super) type Forwarded = (RawBuf, Revision);

impl Running {
    /// Forwards a request of this caller to a server, and the questions of the server to the caller.
    pub(super) async fn forward(
        self: &Arc<Self>,
        server: &Arc<str>,
        cx: &CallContext,
        ask: Ask,
    ) -> Result<Forwarded, HandlerError> {
        // In boxes, because they are large, and the future of a handler is moved.
        match cx.request_state().value::<Waiting>(WAITING)? {
            Some(Waiting::Held { process, number }) => {
                let here = (process == self.process).then_some(number);
                let number = here.ok_or_else(|| over(server))?;
                let call = Box::pin(self.ask_held(server, cx, number)).await?;
                Box::pin(self.run(server, cx, call)).await
            }
            Some(Waiting::Asked {
                requests,
                state,
                session,
            }) => {
                let answers = Box::pin(answered(cx, &requests, state)).await;
                let held = session.filter(|(process, _)| *process == self.process);
                let held = held.and_then(|(_, number)| self.held.take_session(number));
                let answers = answers?;
                let lease = match held {
                    Some(lease) => lease,
                    None => self.session_for(server, cx).await?,
                };
                Box::pin(self.rounds(server, cx, lease, ask, answers)).await
            }
            None => {
                let lease = self.session_for(server, cx).await?;
                let session = &lease.session;
                if session.revision.is_modern() {
                    let none = InputAnswers::default();
                    return Box::pin(self.rounds(server, cx, lease, ask, none)).await;
                }
                if session.has_other_level(cx.log_level()) {
                    Box::pin(session.set_level(cx.log_level())).await;
                }
                let call = self.begin(cx, lease, ask)?;
                Box::pin(self.run(server, cx, call)).await
            }
        }
    }

    /// Calls a server of 2026-07-28 until it has a result.
    async fn rounds(
        self: &Arc<Self>,
        server: &Arc<str>,
        cx: &CallContext,
        mut lease: Lease,
        ask: Ask,
        mut answers: InputAnswers,
    ) -> Result<Forwarded, HandlerError> {
        let session = &Arc::clone(&lease.session);
        let _open = session.bridge.open(cx);
        for _ in 0..ROUNDS {
            let steps = cx.wants_progress().then(Steps::default);
            let round = Round {
                session: Arc::clone(session),
                ask: ask.clone(),
                meta: meta_of(cx)?,
                steps: steps.clone(),
                level: cx.log_level(),
                time: self.limits.call_time,
                extensions: match cx.has_client_extension(EXTENSION) {
                    true => &[EXTENSION],
                    false => &[],
                },
            };
            let mut round = WithSteps::new(Box::pin(round.send(answers)), steps);
            let result = loop {
                match next(&mut round, session, cx).await {
                    Told::Ended(result) => break result,
                    // A server of 2026-07-28 asks in its results.
                    Told::Asked(question) => drop(question),
                }
            };
            match result
                .map_err(|error| HandlerError::reply(self.failed(server, session, error)))?
            {
                RoundResult::Result(result) => {
                    if cx.has_client_extension(EXTENSION) {
                        self.keep_for_task(session, result.as_raw());
                    }
                    return Ok((result, session.revision));
                }
                RoundResult::Input(questions) => {
                    let (requests, state) = (questions.requests, questions.state);
                    // A legacy caller is asked within its request.
                    if !cx.revision().has_input_required() {
                        answers = Box::pin(answered(cx, &requests, state)).await?;
                        continue;
                    }
                    let (number, shared) = match lease.is_own() {
                        true => (self.hold(Waits::Session(lease)), None),
                        false => (None, Some(lease)),
                    };
                    if number.is_none() && shared.is_none() {
                        return Err(full(server));
                    }
                    let waiting = Waiting::Asked {
                        requests: requests.clone(),
                        state: state.clone(),
                        session: number.map(|number| (self.process.clone(), number)),
                    };
                    let held = || self.held.take_session(number?);
                    if let Err(error) = cx.request_state().set(WAITING, &waiting) {
                        drop(held());
                        return Err(not_kept(server, &error));
                    }
                    let answered = Box::pin(answered(cx, &requests, state)).await;
                    // Before an error ends the call: its session is not held any more.
                    lease = shared.or_else(held).ok_or_else(|| over(server))?;
                    answers = answered?;
                }
            }
        }
        let text = format!("the server `{server}` asks for ever");
        Err(HandlerError::reply(ErrorReply::new(
            code::INTERNAL_ERROR,
            text,
        )))
    }

    /// Returns the error for the caller of a request that has no result. If the server refuses credentials of the caller, no
    /// session with them is used again, so that the rule for callers is asked.
    pub(super) fn failed(&self, server: &str, session: &Session, error: CallError) -> ErrorReply {
        let upstream = self.upstream(server).filter(|_| is_denied(&error));
        if let Some(upstream) = upstream.filter(|upstream| upstream.caller_entry.is_some()) {
            let all = upstream.sessions();
            let own = all.iter().filter(|other| other.caller == session.caller);
            own.for_each(|other| other.retire());
        }
        failure(server, error)
    }

    /// Begins the call of a legacy server.
    fn begin(&self, cx: &CallContext, lease: Lease, ask: Ask) -> Result<RunningCall, HandlerError> {
        let steps = cx.wants_progress().then(Steps::default);
        let open = lease.session.bridge.open(cx);
        let round = Round {
            session: Arc::clone(&lease.session),
            ask,
            meta: meta_of(cx)?,
            steps: steps.clone(),
            level: None,
            time: self.limits.call_time,
            extensions: &[],
        };
        let call = Box::pin(round.send(InputAnswers::default()));
        Ok(RunningCall {
            call: WithSteps::new(call, steps),
            asked: None,
            open,
            lease,
        })
    }

    /// Continues the call of a legacy server until it has a result.
    async fn run(
        self: &Arc<Self>,
        server: &Arc<str>,
        cx: &CallContext,
        mut call: RunningCall,
    ) -> Result<Forwarded, HandlerError> {
        call.open.continues(cx);
        loop {
            let session = Arc::clone(&call.lease.session);
            match next(&mut call.call, &session, cx).await {
                Told::Asked(question) => {
                    call.asked = Some(question);
                    let waits = Waits::Call(Box::new(call));
                    let number = self.hold(waits).ok_or_else(|| full(server))?;
                    let waiting = Waiting::Held {
                        process: self.process.clone(),
                        number,
                    };
                    if let Err(error) = cx.request_state().set(WAITING, &waiting) {
                        drop(self.held.take_call(number));
                        return Err(not_kept(server, &error));
                    }
                    call = self.ask_held(server, cx, number).await?;
                }
                Told::Ended(result) => {
                    let result = result.map_err(|error| {
                        HandlerError::reply(self.failed(server, &session, error))
                    })?;
                    return match result {
                        RoundResult::Result(result) => Ok((result, session.revision)),
                        // A legacy server has no rounds.
                        RoundResult::Input(_) => Err(HandlerError::reply(ErrorReply::internal())),
                    };
                }
            }
        }
    }

    /// Asks the caller the question of a held call, gives the server the answer, and returns the call. In 2026-07-28 a question ends the
    /// request of the caller, and the call is held until the caller comes back with the answer.
    async fn ask_held(
        &self,
        server: &str,
        cx: &CallContext,
        number: u64,
    ) -> Result<RunningCall, HandlerError> {
        let question = self
            .held
            .question(number, &self.runtime, self.limits.held_time);
        let (key, method, params) = question.ok_or_else(|| over(server))?;
        let answer = cx.forward_question(&key, method, params).await;
        cx.request_state().forget_answer(&key);
        let mut call = self.held.take_call(number).ok_or_else(|| over(server))?;
        if let Some(question) = call.asked.take() {
            question.answer(answer.map_err(|error| error.as_reply()));
        }
        Ok(call)
    }
}

/// What a call waits for, apart from what its caller is told meanwhile.
enum Told<T> {
    Ended(T),
    Asked(Question),
}

/// Waits for the end of a call, or a question of its server, and tells the caller of progress and log messages meanwhile.
async fn next<T>(call: &mut WithSteps<T>, session: &Session, cx: &CallContext) -> Told<T> {
    loop {
        match until(session.bridge.has_event(), call.next()).await {
            Some(Next::Ended(ended)) => return Told::Ended(ended),
            Some(Next::Step(step)) => Box::pin(step.tell(cx)).await,
            None => match session.bridge.take_event() {
                Some(Event::Asked(question)) => return Told::Asked(question),
                Some(Event::Logged(message)) => Box::pin(log(message, cx)).await,
                None => {}
            },
        }
    }
}

async fn log(message: LoggingMessageParams, cx: &CallContext) {
    let log = cx.log(message.level, message.data);
    match &message.logger {
        Some(logger) => log.logger(logger).await,
        None => log.await,
    };
}

/// Returns the members of `_meta` that are for the server: those of the caller that are not about this side.
fn meta_of(cx: &CallContext) -> Result<Meta, HandlerError> {
    let mut meta = Meta::new();
    let given = cx.meta().and_then(|meta| meta.as_raw().object());
    for (key, value) in given.unwrap_or_default().members() {
        let key = key.to_cow();
        if key != keys::PROGRESS_TOKEN && !key.starts_with(RESERVED) {
            meta.insert(key, &value)?;
        }
    }
    Ok(meta)
}

/// One round of a request.
struct Round {
    session: Arc<Session>,
    ask: Ask,
    meta: Meta,
    /// The steps, if the caller wants to know of them.
    steps: Option<Steps>,
    level: Option<LoggingLevel>,
    time: core::time::Duration,
    /// The extensions that the caller declares too.
    extensions: &'static [&'static str],
}

impl Round {
    async fn send(self, answers: InputAnswers) -> Result<RoundResult, CallError> {
        let client = &self.session.client;
        let sent = match &self.ask {
            Ask::Tool { name, arguments } => self.begin(client.call_tool(name, arguments), answers),
            Ask::Prompt { name, arguments } => {
                self.begin(client.get_prompt(name, arguments), answers)
            }
            Ask::Resource { uri } => self.begin(client.read_resource(uri), answers),
        };
        self.session.bridge.set_busy(true);
        let result = sent.await;
        // After a timeout the server may still ask and log for the call.
        if let Ok(_) | Err(CallError::Server(_)) = &result {
            self.session.bridge.set_busy(false);
        }
        result
    }

    /// In a box, because it is large and would be moved with everything around it.
    fn begin<'a, T: 'a>(
        &'a self,
        request: Request<'a, T>,
        answers: InputAnswers,
    ) -> BoxFuture<'a, Result<RoundResult, CallError>> {
        let mut request = request
            .meta(self.meta.clone())
            .timeout(self.time)
            .max_duration(self.time)
            .with_extensions(self.extensions);
        if let Some(level) = self.level {
            request = request.with_logs(level);
        }
        match &self.steps {
            None => Box::pin(request.one_round(answers)),
            Some(steps) => {
                let request = request.on_progress(|step| steps.add(&step));
                Box::pin(request.one_round(answers))
            }
        }
    }
}

/// Asks the caller all questions of a round at once.
async fn answered(
    cx: &CallContext,
    requests: &RawBuf,
    state: Option<RawBuf>,
) -> Result<InputAnswers, HandlerError> {
    let questions = requests.as_raw().object().unwrap_or_default();
    let mut asked = Vec::new();
    for (key, question) in questions.members() {
        let question = question.object().unwrap_or_default();
        let method = question.get("method").and_then(|method| method.string());
        let known = [
            Method::ElicitationCreate,
            Method::SamplingCreateMessage,
            Method::RootsList,
        ];
        let method = known
            .into_iter()
            .find(|known| method.is_some_and(|method| known.name() == method));
        let method = method.ok_or_else(|| HandlerError::reply(ErrorReply::internal()))?;
        let params = RawBuf::from(
            question
                .get("params")
                .unwrap_or(mcp_async::json::Raw::EMPTY_OBJECT),
        );
        asked.push((key.to_cow().into_owned(), method, params));
    }
    let mut waiting: Vec<_> = asked
        .iter()
        .map(|(key, method, params)| {
            (
                key,
                Some(Box::pin(cx.forward_question(key, *method, params))),
            )
        })
        .collect();
    let mut answers: BTreeMap<&str, RawBuf> = BTreeMap::new();
    let all: Result<(), AskError> = poll_fn(|context| {
        let mut is_done = true;
        for (key, question) in &mut waiting {
            let Some(asked) = question else { continue };
            match asked.as_mut().poll(context) {
                Poll::Ready(answer) => {
                    answers.insert(key, answer?);
                    *question = None;
                }
                Poll::Pending => is_done = false,
            }
        }
        if is_done {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    })
    .await;
    all.map_err(|error| HandlerError::reply(error.as_reply()))?;
    // The server may ask the same under the same key again.
    asked
        .iter()
        .for_each(|(key, ..)| cx.request_state().forget_answer(key));
    Ok(InputAnswers {
        responses: (!answers.is_empty())
            .then(|| RawBuf::encode(&answers))
            .transpose()?,
        state,
    })
}

/// The key under which a call remembers its round.
const WAITING: &str = "mcp-compose/waiting";
/// The names that are the protocol's own, which each side makes anew.
const RESERVED: &str = "io.modelcontextprotocol/";
const ROUNDS: usize = 16;
