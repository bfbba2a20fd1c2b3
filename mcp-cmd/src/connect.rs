//! From the command line to a connected client, and to its end.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Poll;
use core::time::Duration;
use std::sync::Arc;

use clap::CommandFactory;

use super::elicit::{Console, elicit};
use super::exit::{Exit, Failure};
use super::find::find_target;
use super::http_trace::HttpTrace;
use super::interrupt::Interrupt;
use super::login::authorization;
use super::options::{Common, Options, Server};
use super::plain::{escaped, line};
use super::response::LastResponse;
use super::roots::roots;
use super::sample::{by_command, by_hand};
use super::screen::Screen;
use super::style::{BLUE, DIM, GREEN, RED, YELLOW, paint};
use super::target::label;
use mcp_tokio::client::{ClientBuilder, ConnectError, Negotiation, Timeouts};
use mcp_tokio::compose::{ServerProgram, ServerTarget, ServerUrl};
use mcp_tokio::mcp_async::Tap;
use mcp_tokio::mcp_async::model::{LoggingLevel, LoggingMessageParams};
use mcp_tokio::tasks::client::TaskOptions;
use mcp_tokio::{Child, Client, Command, Runtime, child, http, streams};

/// Starts the server or connects to it, does the work with it, and ends both in order.
///
/// # Errors
///
/// The server cannot be started or spoken to, or the work fails.
pub(crate) async fn with_server<T>(
    common: &Common,
    server: &Server,
    screen: &Screen,
    interrupt: &Interrupt,
    work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let target = find_target(common, server)?;
    let label = label(&target, common);
    let asked = Arc::new(AtomicBool::new(false));
    let work = async |client: &Client| {
        if !common.root.is_empty() {
            interrupt.or(settle(client, &asked)).await?;
        }
        work(client).await
    };
    match target {
        ServerTarget::Program(program) => {
            let settings = || builder(common, screen, &label, &asked);
            let command = |done: &_| command(&program, common, screen, &label, done);
            let done = with_program(common, settings, command, screen, interrupt, work).await;
            done.map_err(|failure| misplaced(failure, &program))
        }
        ServerTarget::Url(remote) => {
            let secrets = screen.secrets().clone();
            secrets.add_url(&remote.url);
            for (name, value) in &remote.headers {
                secrets.add_header(name, value);
            }
            let response = LastResponse::new(&secrets);
            let authorization = authorization(common, &remote, screen, &response);
            let (noted, trace) = (
                response.clone(),
                common.trace.then(|| HttpTrace::new(screen)),
            );
            let builder = builder(common, screen, &label, &asked)?
                .authorize(authorization)
                .on_http(move |event| {
                    secrets.note(&event);
                    noted.note(&event);
                    if let Some(trace) = &trace {
                        trace.show(&event);
                    }
                });
            let done = with_remote(builder, &remote, interrupt, work).await;
            done.map_err(|failure| response.explain(failure, common, &remote))
        }
    }
}

/// Lets a server take in the roots that it asks for after the handshake: its answer to a call that
/// overtakes them would know none of them.
async fn settle(client: &Client, asked: &AtomicBool) {
    if client.info().revision.is_legacy() {
        // A server that asks for them has done so before it answers.
        let _ = client.ping().timeout(SETTLED_AFTER * 10).await;
        if asked.load(Ordering::Relaxed) {
            tokio::time::sleep(SETTLED_AFTER).await;
        }
    }
}

/// Adds to a failure the arguments of the server that are options of this program, if the server gave no answer.
fn misplaced(failure: Failure, program: &ServerProgram) -> Failure {
    if !matches!(failure.exit, Exit::Connect | Exit::Timeout) {
        return failure;
    }
    let definition = Options::command();
    let names = || definition.get_arguments().filter_map(|it| it.get_long());
    let mut words = program.arguments.iter().filter_map(|word| word.to_str());
    let is_ours = |word: &&str| {
        let name = word.strip_prefix("--").map(|name| name.split('=').next());
        name.flatten()
            .is_some_and(|name| names().any(|ours| ours == name))
    };
    match words.find(is_ours) {
        None => failure,
        Some(word) => Failure {
            text: format!(
                "{}; `{word}` is an argument of the server here: options of mcp-cmd stand before `--`",
                failure.text
            ),
            ..failure
        },
    }
}

async fn with_remote<T>(
    mut builder: Settings,
    remote: &ServerUrl,
    interrupt: &Interrupt,
    work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    for (name, value) in &remote.headers {
        builder = builder.header(name, value);
    }
    let client = interrupt.or(builder.connect(http(&remote.url))).await??;
    finish(client, work).await
}

/// Does the work, and closes the client.
async fn finish<T>(
    client: Client,
    work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let result = work(&client).await;
    // A failure of the server or of its session at the end is not the result of the work.
    let _ = client.close().await;
    result
}

async fn with_program<T>(
    common: &Common,
    settings: impl Fn() -> Result<Settings, Failure>,
    command: impl Fn(&Arc<AtomicBool>) -> Command,
    screen: &Screen,
    interrupt: &Interrupt,
    work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let done = Arc::new(AtomicBool::new(false));
    let command = command(&done);
    let work = async |client: &Client| {
        let result = work(client).await;
        done.store(result.is_ok(), Ordering::Relaxed);
        result
    };
    if !common.trace {
        let client = interrupt.or(settings()?.connect(child(command))).await??;
        return finish(client, work).await;
    }
    let attempt = async |negotiation| {
        let settings = settings()?.negotiation(negotiation);
        interrupt.or(traced(&command, settings, screen)).await
    };
    let mut outcome = attempt(Negotiation::Probe).await?;
    if let Err(ConnectError::ExitedEarly(_)) = outcome
        && speaks_legacy(common)
    {
        // Some servers of old leave when they hear a question that they do not know.
        outcome = attempt(Negotiation::Handshake).await?;
    }
    let (client, mut child) = outcome?;
    let result = beside(finish(client, work), child.wait()).await;
    let _ = child.shutdown().await;
    result
}

/// Connects over streams that show what passes, which the library leaves to its users.
async fn traced(
    command: &Command,
    settings: Settings,
    screen: &Screen,
) -> Result<(Client, Child), ConnectError> {
    let process = command.spawn(Runtime);
    let process = process.map_err(|error| ConnectError::Start(Arc::new(error)))?;
    let mut child = process.child;
    let wire = (
        Tap::new(process.stdout, shown_on(screen, paint(GREEN, "<-"))),
        Tap::new(process.stdin, shown_on(screen, paint(BLUE, "->"))),
    );
    match beside(settings.connect(streams(wire)), child.wait()).await {
        Ok(client) => Ok((client, child)),
        Err(ConnectError::Closed) => Err(ConnectError::ExitedEarly(child.exited_early().await)),
        Err(error) => {
            let _ = child.shutdown().await;
            Err(error)
        }
    }
}

/// Shows a line of the wire as no terminal can mistake it.
fn shown_on(screen: &Screen, direction: String) -> impl Fn(&str) + use<> {
    let screen = screen.clone();
    move |line| screen.say(format!("{direction} {}", escaped(line)))
}

/// The future, with the other one polled meanwhile, whatever becomes of that.
async fn beside<T>(future: impl Future<Output = T>, other: impl Future) -> T {
    let (mut future, mut other) = (pin!(future), pin!(other));
    let mut over = false;
    poll_fn(|task| {
        over = over || other.as_mut().poll(task).is_ready();
        match future.as_mut().poll(task) {
            Poll::Ready(value) => Poll::Ready(value),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Returns the command to start. Standard error of the server is shown until the work is `done`:
/// messages about the end of the connection are not shown.
pub(crate) fn command(
    program: &ServerProgram,
    common: &Common,
    screen: &Screen,
    label: &str,
    done: &Arc<AtomicBool>,
) -> Command {
    let command = program.command();
    let command = command.envs(common.env.iter().map(|(name, value)| (name, value)));
    if common.quiet {
        return command;
    }
    let (screen, label, done) = (screen.clone(), label.to_owned(), Arc::clone(done));
    command.on_stderr(move |text| {
        if !done.load(Ordering::Relaxed) {
            screen.say(paint(DIM, format_args!("{label}: {}", line(text))));
        }
    })
}

type Settings = ClientBuilder<Console>;

/// The settings of a client. `asked` becomes true when the server asks for roots.
fn builder(
    common: &Common,
    screen: &Screen,
    label: &str,
    asked: &Arc<AtomicBool>,
) -> Result<Settings, Failure> {
    let mut builder = Client::builder("mcp-cmd", env!("CARGO_PKG_VERSION"))
        .timeouts(timeouts(common))
        .with_state(Console {
            screen: screen.clone(),
            server: label.to_owned(),
        })
        .on_elicitation(elicit)
        .tasks(TaskOptions::default());
    if let Some(revisions) = common.revisions {
        builder = builder.revisions(revisions);
    }
    if !common.root.is_empty() {
        let (roots, asked) = (roots(&common.root)?, Arc::clone(asked));
        builder = builder.on_roots(move |_| {
            asked.store(true, Ordering::Relaxed);
            core::future::ready(Ok(roots.clone()))
        });
    }
    if let Some(command) = &common.sample_with {
        let command = command.clone();
        builder = builder
            .on_sampling(move |asked, cx| by_command(asked, command.clone(), cx))
            .sampling_tools();
    } else if screen.can_ask() {
        builder = builder.on_sampling(by_hand);
    }
    if !common.quiet {
        let screen = screen.clone();
        builder = builder.on_log(move |message| screen.say(log(&message)));
    }
    Ok(builder)
}

pub(crate) fn timeouts(common: &Common) -> Timeouts {
    let usual = Timeouts::default();
    let connect = common.connect_timeout.unwrap_or(usual.connect);
    let request = common.timeout.unwrap_or(usual.request);
    let longest = usual.max_duration.max(request);
    Timeouts {
        connect,
        request,
        max_duration: common.max_time.unwrap_or(longest),
        probe: usual.probe.min(connect),
    }
}

fn speaks_legacy(common: &Common) -> bool {
    common
        .revisions
        .unwrap_or_default()
        .newest_legacy()
        .is_some()
}

fn log(message: &LoggingMessageParams) -> String {
    let style = match message.level {
        LoggingLevel::Debug | LoggingLevel::Info => DIM,
        LoggingLevel::Notice => GREEN,
        LoggingLevel::Warning => YELLOW,
        _ => RED,
    };
    let level = paint(style, format_args!("[{}]", message.level));
    let text = super::json::words(message.data.as_raw());
    match &message.logger {
        Some(logger) => format!("{level} {}: {}", line(logger), line(&text)),
        None => format!("{level} {}", line(&text)),
    }
}

/// The time that a server has to take in the roots that it was sent.
const SETTLED_AFTER: Duration = Duration::from_millis(100);

/// The longest time of a call when a person sits at the terminal: questions take their time, and
/// Ctrl-C is at hand.
pub(crate) const AT_A_TERMINAL: Duration = Duration::from_secs(3600);
