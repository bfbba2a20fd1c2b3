//! A server's application, without a transport.

use core::time::Duration;

use mcp_proto::json::Raw;
use mcp_proto::model::{
    CacheScope, CallToolResult, CompleteResult, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListTasksResult, ListToolsResult,
    LoggingLevel, ReadResourceResult, ServerCapabilities, ServerFeatures,
};
use mcp_proto::rpc::{ErrorObject, Method};
use mcp_proto::server::{
    Answer, AskOptions, Event, Growing, ListKind, ProgressReport, RequestContext, Server,
    ServerConfig,
};
use mcp_proto::{
    CustomMethod, InputRequired, Instant, Limits, Outcome, Payload, PingPolicy, Question,
    SendError, SentToken, Token, Written,
};
use serde::Deserialize;

use super::every_revision;
use super::script::{member, word};
use super::text::raw;

pub(crate) type Host = Server<'static, Growing>;

/// The way from the application to its client.
pub(crate) trait Reach {
    /// Sends a message on behalf of a request, or of none.
    fn put<T: Written>(
        &mut self,
        request: Option<Token>,
        write: impl FnMut(&mut Host, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError>;

    fn respond(&mut self, now: Instant, to: Token, with: Outcome<'_>) -> Result<(), SendError>;

    /// Does what writes nothing by itself.
    fn host(&mut self, change: impl FnMut(&mut Host));
}

/// Everything that a server can declare.
pub(crate) fn config() -> ServerConfig<'static> {
    let features = ServerFeatures::TOOLS
        .with(ServerFeatures::TOOLS_LIST_CHANGED)
        .with(ServerFeatures::RESOURCES)
        .with(ServerFeatures::RESOURCES_LIST_CHANGED)
        .with(ServerFeatures::RESOURCES_SUBSCRIBE)
        .with(ServerFeatures::PROMPTS)
        .with(ServerFeatures::PROMPTS_LIST_CHANGED)
        .with(ServerFeatures::COMPLETIONS)
        .with(ServerFeatures::LOGGING)
        .with(ServerFeatures::TASKS)
        .with(ServerFeatures::TASKS_LIST)
        .with(ServerFeatures::TASKS_CANCEL)
        .with(ServerFeatures::TASKS_TOOLS_CALL)
        .with(ServerFeatures::TASKS_EXTENSION);
    ServerConfig {
        instructions: Some("Ask for the echo."),
        capabilities: features.capabilities(),
        revisions: every_revision(),
        methods: const {
            &[
                CustomMethod::new("example/own"),
                CustomMethod::new("notifications/example/own"),
            ]
        },
        ..ServerConfig::new("server", "1.0")
    }
}

/// Changes the configuration as the command `with` says.
pub(crate) fn configure(config: &mut ServerConfig<'static>, options: &str) {
    for option in options.split(' ') {
        match option {
            "nothing" => config.capabilities = ServerCapabilities::default(),
            "legacy" => config.revisions = config.revisions.and(mcp_proto::RevisionSet::legacy()),
            "modern" => config.revisions = config.revisions.and(mcp_proto::RevisionSet::modern()),
            "pings" => config.ping = Some(PingPolicy::default()),
            "pace" => config.progress_interval = Duration::from_secs(1),
            "anonymous" => config.identify = false,
            "cached" => {
                config.discover_ttl = 60_000;
                config.discover_scope = CacheScope::Public;
            }
            "quiet" => config.log_level = LoggingLevel::Error,
            "no-alias" => config.cancel_alias = false,
            "null-ids" => config.null_ids = true,
            "draft" => config.draft_profile = true,
            "small" => {
                config.limits = Limits {
                    message: 600,
                    depth: 8,
                    in_flight: 2,
                    batch: 3,
                    subscriptions: 1,
                    subscription_bytes: 32,
                    ..Limits::default()
                };
            }
            other => panic!("no such option: {other}"),
        }
    }
}

/// Answers every request at once, but for those about `slow`.
#[derive(Default)]
pub(crate) struct App {
    held: Vec<Token>,
    listening: Vec<Token>,
    questions: Vec<SentToken>,
    /// The id of the last question.
    pub(crate) asked: Option<String>,
    /// What was refused since the last look.
    refused: Vec<SendError>,
}

impl App {
    pub(crate) fn on(&mut self, now: Instant, event: &Event<'_>, out: &mut impl Reach) {
        match event {
            Event::Request {
                token,
                method,
                context,
                ..
            } => {
                let slow = context
                    .subject
                    .is_some_and(|it| it.to_string().contains("slow"));
                if slow {
                    self.held.push(*token);
                } else {
                    let written = respond(now, *token, *method, result(*method), out);
                    self.check(written);
                }
            }
            Event::Listening { token, .. } => self.listening.push(*token),
            Event::Cancelled { token, .. } => {
                self.held.retain(|other| other != token);
                self.listening.retain(|other| other != token);
            }
            Event::Answer { token, .. } => self.questions.retain(|other| other != token),
            _ => {}
        }
    }

    fn check<T>(&mut self, written: Result<T, SendError>) {
        if let Err(error) = written {
            self.refused.push(error);
        }
    }

    /// The call that was held last.
    pub(crate) fn held(&self) -> Option<Token> {
        self.held.last().copied()
    }

    /// Does what a line says, and says whether it is a command of the application's.
    pub(crate) fn command(
        &mut self,
        now: Instant,
        (verb, rest): (&str, &str),
        out: &mut impl Reach,
    ) -> bool {
        let held = self.held();
        match verb {
            "answer" | "fail" | "input" => {
                if self.held.is_empty() {
                    return true;
                }
                let token = self.held.remove(0);
                let written = match verb {
                    "answer" => respond(now, token, Method::Other("".into()), rest, out),
                    "fail" => fail(now, token, rest, out),
                    _ => input(now, token, rest, out),
                };
                self.check(written);
            }
            "progress" => {
                let mut words = rest.splitn(3, ' ');
                let mut number = || words.next().map(|it| it.parse().expect("a number"));
                let value = number().expect("progress has a value");
                let (total, message) = (number(), words.next());
                if let Some(token) = held {
                    let progress = ProgressReport {
                        total,
                        message,
                        ..ProgressReport::new(value)
                    };
                    let written = out.put(Some(token), |host, out| {
                        host.progress(now, token, progress, out)
                    });
                    self.check(written);
                }
            }
            "log" | "log-session" => {
                let (level, data) = word(rest);
                let data = raw(data);
                let level = raw(level).decode(&mut []).expect("a level");
                let token = held.filter(|_| verb == "log");
                let written = out.put(token, |host, out| {
                    host.log(token, level, Some("logger"), &data, out)
                });
                self.check(written);
            }
            "ask" | "ask-session" => {
                let parent = held.filter(|_| verb == "ask");
                if verb == "ask" && parent.is_none() {
                    return true;
                }
                let (method, params) = word(rest);
                let params = raw(if params.is_empty() { "{}" } else { params });
                let question = Question {
                    method: method.into(),
                    params: &params,
                };
                let options = AskOptions {
                    timeout: Duration::from_secs(20),
                    progress: method == "sampling/createMessage",
                    ..AskOptions::default()
                };
                let mut text = String::new();
                let asked = out.put(parent, |host, out| {
                    let asked = host.ask(now, parent, question, options, out)?;
                    let written = asked.transmit().map_or(0, |message| message.len);
                    text = String::from_utf8_lossy(&out[..written]).into_owned();
                    Ok(asked)
                });
                self.asked = member(&text, "id").or(self.asked.take());
                match asked {
                    Ok((token, _)) => self.questions.push(token),
                    Err(error) => self.refused.push(error),
                }
            }
            "give-up" => {
                if let Some(question) = self.questions.last() {
                    out.host(|host| host.cancel(*question));
                }
            }
            "tell" => {
                let (method, params) = word(rest);
                let params = (!params.is_empty()).then(|| raw(params));
                let params = params.as_ref().map(|params| params as &dyn Payload);
                let written = out.put(None, |host, out| host.notify(method.into(), params, out));
                self.check(written);
            }
            "changed" => {
                let list = match rest {
                    "tools" => ListKind::Tools,
                    "prompts" => ListKind::Prompts,
                    "resources" => ListKind::Resources,
                    other => panic!("no such list: {other}"),
                };
                out.host(|host| host.list_changed(list));
            }
            "updated" => out.host(|host| host.resource_updated(rest)),
            "end" => {
                if let Some(token) = self.listening.pop() {
                    out.host(|host| host.end_listen(token));
                }
            }
            "cancel-all" => {
                self.held.clear();
                self.listening.clear();
                out.host(Host::cancel_all);
            }
            _ => return false,
        }
        true
    }

    /// The refusals since the last look.
    pub(crate) fn refused(&mut self) -> impl Iterator<Item = SendError> {
        self.refused.drain(..)
    }
}

fn respond(
    now: Instant,
    token: Token,
    method: Method<'_>,
    result: &str,
    out: &mut impl Reach,
) -> Result<(), SendError> {
    match method {
        Method::ToolsList => typed::<ListToolsResult<'_>>(now, token, result, out),
        Method::ToolsCall => typed::<CallToolResult<'_>>(now, token, result, out),
        Method::ResourcesList => typed::<ListResourcesResult<'_>>(now, token, result, out),
        Method::ResourcesTemplatesList => {
            typed::<ListResourceTemplatesResult<'_>>(now, token, result, out)
        }
        Method::ResourcesRead => typed::<ReadResourceResult<'_>>(now, token, result, out),
        Method::PromptsList => typed::<ListPromptsResult<'_>>(now, token, result, out),
        Method::PromptsGet => typed::<GetPromptResult<'_>>(now, token, result, out),
        Method::CompletionComplete => typed::<CompleteResult<'_>>(now, token, result, out),
        Method::TasksList => typed::<ListTasksResult<'_>>(now, token, result, out),
        _ => typed::<Raw<'_>>(now, token, result, out),
    }
}

/// Answers with a value of the model, so that each revision gets the members that it has.
fn typed<'r, T: Deserialize<'r> + serde::Serialize>(
    now: Instant,
    token: Token,
    result: &'r str,
    out: &mut impl Reach,
) -> Result<(), SendError> {
    let value: T = raw(result).decode(&mut []).expect("a result of its method");
    out.respond(now, token, Outcome::Result(&value))
}

fn fail(now: Instant, token: Token, rest: &str, out: &mut impl Reach) -> Result<(), SendError> {
    let (code, message) = word(rest);
    let error = ErrorObject::new(code.parse().expect("a code"), message);
    out.respond(now, token, Outcome::Error(error))
}

/// `input KEY METHOD PARAMS STATE`, or only a state.
fn input(now: Instant, token: Token, rest: &str, out: &mut impl Reach) -> Result<(), SendError> {
    let mut words = rest.split(' ');
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

/// What each method is answered with at once: members of every revision.
fn result(method: Method<'_>) -> &'static str {
    match method {
        Method::ToolsList => {
            r#"{"tools":[{"name":"echo","title":"Echo","description":"Says it again.","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"icons":[{"src":"https://a.example/i.png","mimeType":"image/png"}],"execution":{"taskSupport":"optional"},"_meta":{"a.example/b":1}}],"nextCursor":"2","ttlMs":1000,"cacheScope":"public"}"#
        }
        Method::ToolsCall => {
            r#"{"content":[{"type":"text","text":"hello","annotations":{"priority":0.5}}],"structuredContent":{"said":"hello"},"isError":false,"_meta":{"a.example/b":1}}"#
        }
        Method::ResourcesList => {
            r#"{"resources":[{"uri":"file:///a","name":"a","title":"A","mimeType":"text/plain","size":3,"annotations":{"lastModified":"2026-01-01T00:00:00Z"}}]}"#
        }
        Method::ResourcesTemplatesList => {
            r#"{"resourceTemplates":[{"uriTemplate":"file:///{name}","name":"any","title":"Any"}]}"#
        }
        Method::ResourcesRead => {
            r#"{"contents":[{"uri":"file:///a","mimeType":"text/plain","text":"abc"},{"uri":"file:///b","blob":"AA=="}],"ttlMs":5}"#
        }
        Method::PromptsList => {
            r#"{"prompts":[{"name":"greet","title":"Greet","arguments":[{"name":"whom","title":"Whom","required":true}]}]}"#
        }
        Method::PromptsGet => {
            r#"{"description":"A greeting.","messages":[{"role":"user","content":{"type":"text","text":"Hello!"}}]}"#
        }
        Method::CompletionComplete => {
            r#"{"completion":{"values":["ab","ac"],"total":2,"hasMore":false}}"#
        }
        Method::TasksList => {
            r#"{"tasks":[{"taskId":"t","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000}]}"#
        }
        Method::TasksGet | Method::TasksCancel => {
            r#"{"taskId":"t","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000}"#
        }
        _ => "{}",
    }
}

pub(crate) fn tell(event: &Event<'_>) -> String {
    match event {
        Event::Handshake(opened) => format!("handshake {}", opened.revision),
        Event::Initialized => "initialized".into(),
        Event::Request {
            method,
            params,
            context,
            ..
        } => {
            let about = about(context);
            match method {
                Method::Other(_) => format!("{method}{about} {}", params.as_raw().as_str()),
                _ => format!("{method}{about}"),
            }
        }
        Event::Cancelled { reason, .. } => match reason {
            Some(reason) => format!("cancelled: {reason}"),
            None => "cancelled".into(),
        },
        Event::Listening { context, .. } => format!("listening{}", about(context)),
        Event::Notification { method, params } => {
            format!("{method} {}", params.as_raw().as_str())
        }
        Event::Progress {
            progress,
            total,
            message,
            ..
        } => {
            let total = total.map_or(String::new(), |total| format!(" of {}", total.as_str()));
            let message = message.map_or(String::new(), |message| format!(": {message}"));
            format!("progress {}{total}{message}", progress.as_str())
        }
        Event::Answer { answer, .. } => match answer {
            Answer::Result(result) => format!("answer {}", result.as_str()),
            Answer::Error(error) => format!("answer with error {} {}", error.code, error.message),
            Answer::Unusable(reason) => format!("unusable answer: {reason}"),
            Answer::Timeout => "no answer in time".into(),
            Answer::Cancelled => "question cancelled".into(),
            Answer::Closed => "question closed".into(),
            other => format!("{other:?}"),
        },
        Event::PingMissed { misses, limit } => format!("ping missed, {misses} of {limit}"),
        Event::Closed => "closed".into(),
        other => format!("{other:?}"),
    }
}

/// What the protocol layer read of the parameters.
fn about(context: &RequestContext<'_>) -> String {
    let mut text = String::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            text.push_str(name);
            text.push_str(&value);
        }
    };
    add(" ", context.subject.map(|it| it.to_string()));
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
