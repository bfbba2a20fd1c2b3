//! Conversations as text.
//!
//! ```text
//! connect                     a command of the application
//! > {"jsonrpc":..}            what the client writes, in this order
//! < {"jsonrpc":..}            what the server writes
//! = connected 2025-11-25      what the application is told
//! ~ LateResponse              what is ignored, and why
//! + 5000                      milliseconds pass; the timer is called when it is due
//! http, fail, refuse, lose    connects over HTTP; what such a transport tells
//! hold, release               keeps calls of a lost session back
//! ! NotReady                  what a command is refused with
//! ```
//!
//! Calls are named by their cookies. Before the next command everything that the client said
//! must have been expected. Each write is tried with every buffer that is too small first.

use core::fmt::Debug;
use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use mcp_proto::client::{
    Call, Client, ClientConfig, Event, Failure, Fixed, Round, Trace, Unusable,
};
use mcp_proto::json::Raw;
use mcp_proto::rpc::{ErrorObject, Method};
use mcp_proto::{
    Action, Channel, Inbox, Instant, Machine, Outcome, Payload, Revision, SendError, SentToken,
    Source, Token, Transmit,
};

/// Runs a conversation.
#[track_caller]
pub(crate) fn check(config: ClientConfig<'_>, script: &str) {
    Player::new(config).play(script);
}

/// Runs a conversation from the moment on at which a server of this revision answered the
/// handshake; ids go on from 2.
#[track_caller]
pub(crate) fn check_opened(config: ClientConfig<'_>, revision: Revision, script: &str) {
    let mut player = Player::new(config);
    player.command("connect");
    player.drain();
    player.command(&format!(
        r#"< {{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{revision}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    ));
    player.drain();
    assert_eq!(player.log.len(), 3, "{:?}", player.log);
    player.log.clear();
    player.play(script);
}

type Storage = Fixed<8, 3, 600>;

struct Player<'c> {
    client: Client<'c, Storage>,
    now: Instant,
    inbox: Inbox<[u8; 8192]>,
    calls: BTreeMap<u64, SentToken>,
    methods: BTreeMap<u64, (String, Option<String>)>,
    questions: VecDeque<Token>,
    log: VecDeque<String>,
    /// What a token was last called, to name the calls in events.
    options: Options,
}

/// Of the calls that follow: set by the command `with`.
#[derive(Clone, Default)]
struct Options {
    progress: bool,
    timeout: Option<Duration>,
    cap: Option<Duration>,
    log_level: Option<String>,
    trace: Option<(String, Option<String>)>,
}

impl<'c> Player<'c> {
    fn new(config: ClientConfig<'c>) -> Self {
        Self {
            inbox: Inbox::new([0; 8192], &config.limits),
            client: Client::new(config, Fixed).unwrap(),
            now: Instant::from_millis(1_000),
            calls: BTreeMap::new(),
            methods: BTreeMap::new(),
            questions: VecDeque::new(),
            log: VecDeque::new(),
            options: Options::default(),
        }
    }

    #[track_caller]
    fn play(&mut self, script: &str) {
        for line in script.lines().map(str::trim) {
            if !line.is_empty() && !line.starts_with('#') {
                self.line(line);
            }
        }
        self.silent("the end");
    }

    #[track_caller]
    fn line(&mut self, line: &str) {
        match line.split_at(1).0 {
            ">" | "=" | "~" | "!" => {
                let said = self.log.pop_front();
                assert_eq!(said.as_deref(), Some(line), "then: {:?}", self.log);
            }
            _ => {
                self.silent(line);
                self.command(line);
                self.drain();
            }
        }
    }

    #[track_caller]
    fn silent(&self, before: &str) {
        assert!(
            self.log.is_empty(),
            "unexpected before {before}: {:#?}",
            self.log
        );
    }

    fn command(&mut self, line: &str) {
        let mut words = line.splitn(4, ' ');
        let verb = words.next().unwrap_or_default();
        let mut next = || words.next();
        match verb {
            "connect" => {
                if let Err(error) = self.client.connect(self.now) {
                    self.refused(error);
                }
            }
            "<" => self.feed(line.get(2..).unwrap_or_default()),
            "+" => {
                let passed = next().unwrap().parse().unwrap();
                self.now = self.now + Duration::from_millis(passed);
                if self
                    .client
                    .poll_timeout()
                    .is_some_and(|due| due <= self.now)
                {
                    self.client.handle_timeout(self.now);
                    assert!(self.client.poll_timeout().is_none_or(|due| due > self.now));
                }
            }
            "with" => self.options = Options::read(line.get(5..).unwrap_or_default()),
            "call" => {
                let cookie = next().unwrap().parse().unwrap();
                let method = next().unwrap().to_owned();
                let params = next().map(str::to_owned);
                self.methods.insert(cookie, (method, params));
                self.call(cookie, None);
            }
            "retry" => {
                let cookie = next().unwrap().parse().unwrap();
                let responses = next().filter(|text| *text != "-");
                let state = next();
                self.call(cookie, Some((responses, state)));
            }
            "cancel" => {
                let cookie: u64 = next().unwrap().parse().unwrap();
                self.client.cancel(self.calls[&cookie]);
            }
            "respond" => {
                let token = self.questions.pop_front().unwrap();
                self.respond(token, line.get(8..).unwrap());
            }
            // Without forgetting the question.
            "reply" => self.respond(self.questions[0], line.get(6..).unwrap()),
            "forget" => {
                let token = self.questions.pop_back().unwrap();
                self.client.forget(token);
            }
            "notify" => {
                let now = self.now;
                let method = Method::from(next().unwrap());
                let params = next().map(raw);
                let params = params.as_ref().map(|params| params as &dyn Payload);
                self.send(|client, out| client.notify(now, method, params, out));
            }
            "begin" => {
                if let Err(error) = self.client.begin_batch() {
                    self.refused(error);
                }
            }
            "end" => {
                let now = self.now;
                self.send(|client, out| client.end_batch(now, out));
            }
            "hangup" => self.client.hang_up(self.now),
            "http" => {
                if let Err(error) = self.client.connect_by_exchanges(self.now) {
                    self.refused(error);
                }
            }
            "fail" => {
                let id = next().unwrap().parse().unwrap();
                let failure = match next().unwrap() {
                    "unreachable" => Failure::Unreachable,
                    "broken" => Failure::Broken,
                    other => panic!("no such failure: {other}"),
                };
                self.client.fail(id, failure);
            }
            "refuse" => {
                let id = next().unwrap().parse().unwrap();
                let status = next().unwrap().parse().unwrap();
                self.client.refuse(self.now, id, status);
            }
            "lose" => {
                self.client.lose_session(self.now);
            }
            "hold" => self.client.hold(),
            "release" => self.client.release(),
            other => panic!("no such command: {other}"),
        }
    }

    fn call(&mut self, cookie: u64, round: Option<(Option<&str>, Option<&str>)>) {
        let (method, params) = self.methods[&cookie].clone();
        let options = self.options.clone();
        let params = params.as_deref().map(raw);
        let call = Call {
            params: params.as_ref().map(|params| params as &dyn Payload),
            timeout: options.timeout,
            cap: options.cap,
            progress: options.progress,
            log_level: options.log_level.as_deref(),
            trace: options.trace.as_ref().map(|(parent, state)| Trace {
                parent,
                state: state.as_deref(),
            }),
            cookie,
            ..Call::new(Method::from(method.as_str()))
        };
        let now = self.now;
        match round {
            None => {
                let mut token = None;
                self.send(|client, out| {
                    let (called, transmit) = client.call(now, &call, out)?;
                    token = Some(called);
                    Ok(transmit)
                });
                if let Some(token) = token {
                    self.calls.insert(cookie, token);
                }
            }
            Some((responses, state)) => {
                let token = self.calls[&cookie];
                let responses = responses.map(raw);
                let round = Round {
                    responses: responses.as_ref().map(|raw| raw as &dyn Payload),
                    state: state.map(raw),
                };
                self.send(|client, out| client.retry(now, token, &call, round, out));
            }
        }
    }

    fn respond(&mut self, token: Token, text: &str) {
        let now = self.now;
        match text.strip_prefix("error ") {
            Some(code) => {
                let error = ErrorObject::new(code.parse().unwrap(), "no");
                self.send(|client, out| client.respond(now, token, Outcome::Error(error), out));
            }
            None => {
                let result = raw(text);
                self.send(|client, out| client.respond(now, token, Outcome::Result(&result), out));
            }
        }
    }

    fn feed(&mut self, line: &str) {
        let bytes = [line.as_bytes(), b"\n"].concat();
        let spare = self.inbox.spare_mut().expect("the inbox was emptied");
        spare[..bytes.len()].copy_from_slice(&bytes);
        self.inbox.filled(bytes.len());
        while let Some(incoming) = self.inbox.next_message() {
            let reserve = self.client.reserve();
            match self.client.handle(self.now, &Source::PIPE, incoming) {
                Action::Event(event) => {
                    if let Event::Question { token, .. } = event {
                        self.questions.push_back(token);
                    }
                    self.log.push_back(tell(&event));
                }
                Action::Reply(reply) => {
                    let now = self.now;
                    let said = fit(&mut self.client, reserve, |client, out| {
                        client.reply(now, reply, out).map_err(SendError::from)
                    });
                    // An answer that was gathered leaves nothing yet.
                    self.log.extend(said.ok().filter(|said| said != "> "));
                }
                Action::Ignore(mcp_proto::Why::Absorbed) => {}
                Action::Ignore(why) => self.log.push_back(format!("~ {why:?}")),
            }
            assert!(self.client.poll_timeout().is_none_or(|due| due > self.now));
            drain(&mut self.client, self.now, &mut self.log);
        }
    }

    fn drain(&mut self) {
        drain(&mut self.client, self.now, &mut self.log);
    }

    fn send(
        &mut self,
        send: impl FnMut(&mut Client<'c, Storage>, &mut [u8]) -> Result<Transmit, SendError>,
    ) {
        match fit(&mut self.client, usize::MAX, send) {
            Ok(line) if line == "> " => {}
            Ok(line) => self.log.push_back(line),
            Err(error) => self.refused(error),
        }
    }

    fn refused(&mut self, error: SendError) {
        self.log.push_back(format!("! {error:?}"));
    }
}

impl Options {
    fn read(text: &str) -> Self {
        let mut options = Self::default();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let millis = |text: &str| Some(Duration::from_millis(text.parse().unwrap()));
            match word.split_once('=') {
                None if word == "progress" => options.progress = true,
                Some(("timeout", text)) => options.timeout = millis(text),
                Some(("cap", text)) => options.cap = millis(text),
                Some(("level", text)) => options.log_level = Some(text.to_owned()),
                Some(("parent", text)) => options.trace = Some((text.to_owned(), None)),
                Some(("state", text)) => {
                    let trace = options.trace.as_mut().expect("a parent before the state");
                    trace.1 = Some(text.to_owned());
                }
                _ => panic!("no such option: {word}"),
            }
        }
        options
    }
}

fn drain(client: &mut Client<'_, Storage>, now: Instant, log: &mut VecDeque<String>) {
    while client.next_channel().is_some() {
        let said = fit(client, usize::MAX, |client, out| {
            let transmit = client.poll_transmit(now, Channel::PIPE, out)?;
            Ok(transmit.expect("a channel was named"))
        });
        log.push_back(said.unwrap());
    }
    let nothing = client
        .poll_transmit(now, Channel::PIPE, &mut [0; 9])
        .unwrap();
    assert_eq!(nothing, None);
    while let Some(event) = client.poll_event() {
        log.push_back(tell(&event));
    }
}

/// Writes into every buffer that is too small, which changes nothing, and then into one that
/// is just large enough.
fn fit<C: Debug>(
    client: &mut C,
    reserve: usize,
    mut write: impl FnMut(&mut C, &mut [u8]) -> Result<Transmit, SendError>,
) -> Result<String, SendError> {
    let before = format!("{client:?}");
    let mut out = [0; 4096];
    for len in 0..out.len() {
        match write(client, &mut out[..len]) {
            Err(SendError::BufferFull { needed }) => {
                assert!(needed > len, "{needed} into {len}");
                if len % 16 == 0 {
                    assert!(format!("{client:?}") == before, "changed by {len} bytes");
                }
            }
            Err(error) => {
                assert!(format!("{client:?}") == before, "changed by {error}");
                return Err(error);
            }
            Ok(transmit) => {
                assert!(transmit.len == len || transmit.len == 0);
                assert!(transmit.len <= reserve);
                let text = core::str::from_utf8(&out[..transmit.len]).unwrap();
                assert!(
                    text.is_empty() || Raw::parse(text.as_bytes(), 128).is_ok(),
                    "{text}"
                );
                assert!(!text.contains('\n'));
                return Ok(format!("> {text}"));
            }
        }
    }
    panic!("nothing is enough");
}

fn tell(event: &Event<'_>) -> String {
    let text = |raw: Option<Raw<'_>>| raw.map_or("-".to_owned(), |raw| raw.as_str().to_owned());
    match event {
        Event::Connected(server) => {
            let name = server.server.and_then(|server| server.get("name"));
            let said = server
                .instructions
                .map_or(String::new(), |said| format!(" {said:?}"));
            match name {
                Some(name) => format!("= connected {} {}{said}", server.revision, name.as_str()),
                None => format!("= connected {}{said}", server.revision),
            }
        }
        Event::ConnectFailed(error) => format!("= {error}"),
        Event::Answer {
            cookie, outcome, ..
        } => match outcome {
            Ok(result) => format!("= answer {cookie} {}", result.as_str()),
            Err(error) => format!("= error {cookie} {} {}", error.code, error.message),
        },
        Event::Failed {
            cookie, failure, ..
        } => match failure {
            mcp_proto::client::Failure::Invalid(_) => format!("= failed {cookie} Invalid"),
            failure => format!("= failed {cookie} {failure:?}"),
        },
        Event::Input {
            cookie,
            requests,
            state,
            ..
        } => format!(
            "= input {cookie} {} {}",
            text(requests.map(|requests| requests.as_raw())),
            text(*state)
        ),
        Event::Again { cookie, .. } => format!("= again {cookie}"),
        Event::Listening {
            cookie, honoured, ..
        } => {
            format!("= listening {cookie} {}", honoured.as_raw().as_str())
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
            format!("= progress {cookie} {progress}{total}{message}")
        }
        Event::Notification {
            subscription,
            notification,
        } => {
            let whose = subscription.map_or(String::new(), |(_, cookie)| format!(" {cookie}"));
            format!("= told{whose} {}", notification.method)
        }
        Event::Question { method, params, .. } => {
            format!("= asked {method} {}", params.as_raw().as_str())
        }
        Event::QuestionCancelled { reason, .. } => match reason {
            Some(reason) => format!("= unasked {reason}"),
            None => "= unasked".to_owned(),
        },
        Event::PingMissed { misses, limit } => format!("= missed {misses} of {limit}"),
        Event::Unusable(Unusable::Invalid(invalid)) => format!("= invalid {}", invalid.reason),
        Event::Unusable(Unusable::Batch) => "= batch".to_owned(),
        Event::Unusable(Unusable::Request(request)) => format!("= request {}", request.method),
        Event::Unusable(Unusable::Error(error)) => format!("= error - {}", error.code),
        Event::Closed(reason) => format!("= closed {reason:?}"),
        other => panic!("what is {other:?}?"),
    }
}

/// JSON of the test's own.
pub(crate) fn raw(text: &str) -> Raw<'_> {
    Raw::parse(text.as_bytes(), 128).expect("the script holds JSON")
}
