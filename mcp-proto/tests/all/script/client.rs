//! The client's part of the scripts.
//!
//! ```text
//! connect                     opens the connection
//! http, fail, refuse, lose    connects over HTTP; what such a transport reports
//! hold, release               keeps calls of a lost session back
//! call 7 tools/list {}        makes a call, which this number names from then on
//! with progress timeout=5     of the calls that follow
//! ```

use core::marker::PhantomData;
use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use mcp_proto::client::{
    Call, Client, ClientConfig, Event, Failure, Fixed, Reply, Round, Trace, Unusable,
};
use mcp_proto::json::Raw;
use mcp_proto::rpc::{ErrorObject, Method};
use mcp_proto::{
    BufferFull, Instant, Machine, Outcome, Payload, Revision, SentToken, Token, Transmit,
};

pub(crate) use super::messages::raw;
use super::{Fit, Player, Role};

/// Plays a script.
#[track_caller]
pub(crate) fn check(config: ClientConfig<'_>, script: &str) {
    player(config).play(script);
    player(config).in_bytes().play(script);
}

/// Plays a script from the moment on at which a server of this revision answered the handshake;
/// ids go on from 2.
#[track_caller]
pub(crate) fn check_opened(config: ClientConfig<'_>, revision: Revision, script: &str) {
    for mut player in [player(config), player(config).in_bytes()] {
        User::command(&mut player, "connect", "");
        player.drain();
        let answer = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{revision}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
        );
        player.feed(format!("{answer}\n").as_bytes());
        assert_eq!(player.take(|line| Some(format!("{line:?}"))).len(), 3);
        player.play(script);
    }
}

fn player(config: ClientConfig<'_>) -> Player<User<'_>> {
    let client = Client::new(config, Fixed).unwrap();
    Player::new(client, User::default(), &config.limits)
}

/// The application of a client.
#[derive(Default)]
pub(crate) struct User<'c> {
    calls: BTreeMap<u64, SentToken>,
    methods: BTreeMap<u64, (String, Option<String>)>,
    questions: VecDeque<Token>,
    options: Options,
    config: PhantomData<&'c ()>,
}

/// Of the calls that follow: set by the command `with`.
#[derive(Clone, Default)]
struct Options {
    progress: bool,
    timeout: Option<Duration>,
    max_duration: Option<Duration>,
    log_level: Option<String>,
    extensions: Option<Vec<String>>,
    /// Parent, state and baggage.
    trace: [Option<String>; 3],
}

impl<'c> Role for User<'c> {
    type Machine = Client<'c, Fixed<8, 3, 600>>;

    const WRITES: &'static str = ">";
    const READS: &'static str = "<";
    const START: Instant = Instant::from_millis(1_000);
    const FIT: Fit = Fit {
        names_exactly: true,
        is_unchanged: true,
        tries: 600,
    };

    fn reply(
        machine: &mut Self::Machine,
        now: Instant,
        reply: &Reply<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, BufferFull> {
        machine.reply(now, *reply, out)
    }

    fn tell(&mut self, event: &Event<'_>) -> String {
        if let Event::Question { token, .. } = event {
            self.questions.push_back(*token);
        }
        tell(event)
    }

    fn command(player: &mut Player<Self>, verb: &str, rest: &str) {
        let now = player.now;
        let Player { machine, role, .. } = player;
        let mut words = rest.splitn(3, ' ').filter(|word| !word.is_empty());
        let mut next = || words.next();
        let done = match verb {
            "connect" => machine.connect(now),
            "http" => machine.connect_by_exchanges(now),
            "begin" => machine.begin_batch(),
            "with" => {
                role.options = Options::read(rest);
                Ok(())
            }
            "call" => {
                let cookie = next().unwrap().parse().unwrap();
                let method = next().unwrap().to_owned();
                let params = next().map(str::to_owned);
                role.methods.insert(cookie, (method, params));
                return player.call(cookie, None);
            }
            "retry" => {
                let cookie = next().unwrap().parse().unwrap();
                let responses = next().filter(|text| *text != "-");
                return player.call(cookie, Some((responses, next())));
            }
            "cancel" => {
                let cookie: u64 = rest.parse().unwrap();
                machine.cancel(role.calls[&cookie]);
                Ok(())
            }
            "respond" => {
                let token = role.questions.pop_front().unwrap();
                return player.respond(token, rest);
            }
            // Without forgetting the question.
            "reply" => {
                let token = role.questions[0];
                return player.respond(token, rest);
            }
            "forget" => {
                let token = role.questions.pop_back().unwrap();
                machine.unhandle(token);
                Ok(())
            }
            "notify" => {
                let (method, params) = rest.split_once(' ').unwrap_or((rest, ""));
                let params = (!params.is_empty()).then(|| raw(params));
                let params = params.as_ref().map(|params| params as &dyn Payload);
                let method = Method::from(method);
                let sent = player.send(|client, out| client.notify(method, params, out));
                sent.map(drop)
            }
            "end" => player.send(|client, out| client.end_batch(out)).map(drop),
            "fail" => {
                let id = next().unwrap().parse().unwrap();
                let failure = match next().unwrap() {
                    "unreachable" => Failure::Unreachable,
                    "broken" => Failure::Broken,
                    other => panic!("no such failure: {other}"),
                };
                machine.fail(id, failure);
                Ok(())
            }
            "refuse" => {
                let id = next().unwrap().parse().unwrap();
                machine.refuse(now, id, next().unwrap().parse().unwrap());
                Ok(())
            }
            "lose" => {
                machine.lose_session(now);
                Ok(())
            }
            "hold" => {
                machine.hold();
                Ok(())
            }
            "release" => {
                machine.release();
                Ok(())
            }
            other => panic!("no such command: {other}"),
        };
        player.note(done);
    }
}

impl Player<User<'_>> {
    fn call(&mut self, cookie: u64, round: Option<(Option<&str>, Option<&str>)>) {
        let now = self.now;
        let (method, params) = self.role.methods[&cookie].clone();
        let options = self.role.options.clone();
        let params = params.as_deref().map(raw);
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
            cookie,
            ..Call::new(Method::from(method.as_str()))
        };
        let Some((responses, state)) = round else {
            let called = self.send(|client, out| client.call(now, &call, out));
            if let Some((token, _)) = self.note(called) {
                self.role.calls.insert(cookie, token);
            }
            return;
        };
        let token = self.role.calls[&cookie];
        let responses = responses.map(raw);
        let round = Round {
            responses: responses.as_ref().map(|raw| raw as &dyn Payload),
            state: state.map(raw),
        };
        let sent = self.send(|client, out| client.retry(now, token, &call, round, out));
        self.note(sent);
    }

    fn respond(&mut self, token: Token, text: &str) {
        let result;
        let outcome = match text.strip_prefix("error ") {
            Some(code) => Outcome::Error(ErrorObject::new(code.parse().unwrap(), "no")),
            None => {
                result = raw(text);
                Outcome::Result(&result)
            }
        };
        let sent = self.send(|client, out| client.respond(token, outcome, out));
        self.note(sent);
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

fn tell(event: &Event<'_>) -> String {
    let text = |raw: Option<Raw<'_>>| raw.map_or("-".to_owned(), |raw| raw.as_str().to_owned());
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
            Ok(result) => format!("answer {cookie} {}", result.as_str()),
            Err(error) => format!("error {cookie} {} {}", error.code, error.message),
        },
        Event::Failed {
            cookie, failure, ..
        } => match failure {
            mcp_proto::client::Failure::Invalid(_) => format!("failed {cookie} Invalid"),
            failure => format!("failed {cookie} {failure:?}"),
        },
        Event::LateResult { result } => format!("late {}", result.as_raw().as_str()),
        Event::Input {
            cookie,
            requests,
            state,
            ..
        } => format!(
            "input {cookie} {} {}",
            text(requests.map(|requests| requests.as_raw())),
            text(*state)
        ),
        Event::Again { cookie, .. } => format!("again {cookie}"),
        Event::Listening {
            cookie, honoured, ..
        } => {
            format!("listening {cookie} {}", honoured.as_raw().as_str())
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
            format!("progress {cookie} {progress}{total}{message}")
        }
        Event::Notification {
            subscription,
            notification,
        } => {
            let whose = subscription.map_or(String::new(), |(_, cookie)| format!(" {cookie}"));
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
