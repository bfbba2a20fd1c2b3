//! The server of `fixture tasks`: tools whose calls become tasks.
//!
//! `MCP_TASK_TTL_MS` (60000, or `null` for no limit) and `MCP_TASK_POLL_MS` (50) are the times that
//! it states. `MCP_TASK_STORE` names a folder that keeps tasks over restarts, and `MCP_TASK_LEASE_MS` the lease of its process.

use core::future::poll_fn;
use core::net::Ipv4Addr;
use core::ops::RangeInclusive;
use core::task::Poll;
use core::time::Duration;
use std::io;
use std::path::PathBuf;
use std::{env, fs};

use mcp_async::net::HttpListener;
use mcp_async::runtime::RuntimeHandle;
use mcp_async::server::{AskError, Context, Elicited, HandlerError, ServerBuilder, Tool, stdio};
use mcp_async::tasks::server::{TaskPolicy, Tasks};
use mcp_async::tasks::store::DiskTaskStore;
use mcp_async::{ErrorReply, Server};
use mcp_proto::model::ClientFeatures;
use mcp_proto::rpc::code;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::protected::protection;
use crate::running::{Entered, Running};

#[derive(Deserialize, JsonSchema)]
struct Job {
    #[schemars(range(min = 0, max = 10_000))]
    steps: u32,
    /// The milliseconds of a step.
    #[schemars(range(min = 0, max = 60_000))]
    ms: u64,
    fail: Option<Failure>,
    /// How many questions it asks.
    #[schemars(range(min = 1, max = 16))]
    ask: Option<u32>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Failure {
    Tool,
    Protocol,
    Panic,
}

#[derive(Deserialize, JsonSchema)]
struct JobOnly {
    #[schemars(range(min = 0, max = 10_000))]
    steps: u32,
    /// The milliseconds of a step.
    #[schemars(range(min = 0, max = 60_000))]
    ms: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Given {
    answer: String,
}

/// What `fixture tasks` serves, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskServer<'a> {
    /// The port of `http://127.0.0.1:PORT/mcp`, or standard input and output.
    port: Option<&'a str>,
    /// Clients need the tokens of the protected server.
    is_protected: bool,
    /// Sessions of 2025-11-25 have the tasks of that revision.
    is_core: bool,
}

impl<'a> TaskServer<'a> {
    /// Reads what follows `tasks` on the command line.
    pub(crate) fn parse(words: &[&'a str]) -> Option<Self> {
        let is_option = |word: &&&str| word.starts_with("--");
        let (options, words): (Vec<_>, Vec<_>) = words.iter().partition(is_option);
        let port = match *words {
            ["stdio"] => None,
            ["http", port] => Some(port),
            _ => return None,
        };
        let known = |word: &str| word == "--core" || (word == "--auth" && port.is_some());
        options.iter().all(|word| known(word)).then_some(Self {
            port,
            is_protected: options.contains(&"--auth"),
            is_core: options.contains(&"--core"),
        })
    }

    /// Serves until interrupted, or until standard input ends.
    pub(crate) async fn serve(self, runtime: RuntimeHandle) -> io::Result<()> {
        let server = server(runtime.clone(), self.is_core)?;
        let Some(port) = self.port else {
            return server.serve(stdio(runtime)).await;
        };
        let port: u16 = port.parse().map_err(io::Error::other)?;
        let mut http = server.http();
        if self.is_protected {
            http = http.protect(protection(port));
        }
        http.serve(HttpListener::bind(runtime, (Ipv4Addr::LOCALHOST, port)))
            .await
    }
}

fn server(runtime: RuntimeHandle, is_core: bool) -> io::Result<ServerBuilder<Running>> {
    let ttl = match env::var("MCP_TASK_TTL_MS").as_deref() {
        Ok("null") => None,
        Ok(ttl) => Some(ttl.parse().map_err(io::Error::other)?),
        Err(_) => Some(60_000),
    };
    let poll = match env::var("MCP_TASK_POLL_MS") {
        Ok(poll) => poll.parse().map_err(io::Error::other)?,
        Err(_) => 50,
    };
    let mut tasks = Tasks::new()
        .ttl(ttl.map(Duration::from_millis))
        .poll_interval(Duration::from_millis(poll));
    if is_core {
        tasks = tasks.core_2025_11_25();
    }
    if let Some(folder) = env::var_os("MCP_TASK_STORE").map(PathBuf::from) {
        fs::create_dir_all(&folder)?;
        let store = DiskTaskStore::open(folder.join("tasks.redb")).map_err(io::Error::other)?;
        tasks = tasks.store(store);
    }
    if let Ok(lease) = env::var("MCP_TASK_LEASE_MS") {
        tasks = tasks.lease(Duration::from_millis(
            lease.parse().map_err(io::Error::other)?,
        ));
    }
    let server = Server::builder("fixture-tasks", env!("CARGO_PKG_VERSION"))
        .with_state(Running::new(runtime))
        .with(
            Tool::new("job")
                .description("Works in steps, and may ask or fail")
                .deferred_task(TaskPolicy::Optional)
                .handler(job),
        )
        .with(
            Tool::new("job_only")
                .description("Works in steps, as a task only")
                .task(TaskPolicy::Required)
                .handler(|args: JobOnly, cx: Context<Running>| async move {
                    let running = cx.state().enter();
                    work(&cx, &running, 1..=args.steps, args.steps, args.ms).await;
                    Ok(format!("done {}", args.steps))
                }),
        )
        .tool(
            "jobs",
            "Counts the jobs that run",
            |(): (), cx: Context<Running>| async move { Ok(cx.state().count().to_string()) },
        )
        .tool("echo", "Says its text again", |args: Echo, _| async move {
            Ok(args.text)
        })
        .tasks(tasks);
    Ok(server)
}

async fn job(args: Job, cx: Context<Running>) -> Result<String, HandlerError> {
    let Job {
        steps,
        ms,
        fail,
        ask,
    } = args;
    let questions = ask.unwrap_or(0);
    if questions > 0 && !cx.client().contains(ClientFeatures::ELICITATION_FORM) {
        // The client cannot be asked, and is refused before there is a task.
        cx.elicit::<Given>("q1", "q1?").await?;
    }
    let takes_time = u64::from(steps).saturating_mul(ms) > 0;
    let is_task = (takes_time || questions > 0) && cx.begin_task().await;
    let running = cx.state().enter();
    let middle = steps / 2;
    let mut answers = Vec::new();
    // A call that is repeated with the answers asks first.
    let asks_first = !is_task && cx.revision().has_input_required();
    if asks_first {
        answers = ask_all(&cx, questions).await?;
    }
    work(&cx, &running, 1..=middle, steps, ms).await;
    if fail == Some(Failure::Panic) {
        panic!("the job panics");
    }
    if !asks_first && questions > 0 {
        cx.progress(f64::from(middle) + 0.5)
            .message("waiting")
            .await;
        answers = ask_all(&cx, questions).await?;
    }
    work(&cx, &running, middle.saturating_add(1)..=steps, steps, ms).await;
    match fail {
        Some(Failure::Tool) => return Err(HandlerError::visible("failed")),
        Some(_) => {
            let error = ErrorReply::new(code::INTERNAL_ERROR, "job failed");
            return Err(HandlerError::reply(error));
        }
        None => {}
    }
    Ok(match answers.is_empty() {
        true => format!("done {steps}"),
        false => format!("done {steps} {}", answers.join(",")),
    })
}

/// Works through these steps.
async fn work(
    cx: &Context<Running>,
    running: &Entered,
    range: RangeInclusive<u32>,
    steps: u32,
    ms: u64,
) {
    for step in range {
        if ms > 0 {
            running.sleep(ms).await;
        }
        let message = format!("{step}/{steps}");
        cx.progress(step.into())
            .total(steps.into())
            .message(&message)
            .await;
    }
}

/// Asks so many questions at the same time, and returns the answers in their order.
async fn ask_all(cx: &Context<Running>, questions: u32) -> Result<Vec<String>, HandlerError> {
    let texts: Vec<_> = (1..=questions)
        .map(|n| (format!("q{n}"), format!("q{n}?")))
        .collect();
    let mut asked: Vec<_> = texts
        .iter()
        .map(|(key, message)| (cx.elicit::<Given>(key, message), None))
        .collect();
    poll_fn(|task| {
        let mut open = false;
        for (question, answer) in &mut asked {
            if answer.is_none() {
                match core::pin::Pin::new(question).poll(task) {
                    Poll::Ready(given) => *answer = Some(given),
                    Poll::Pending => open = true,
                }
            }
        }
        match open {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    })
    .await;
    let answers = asked.into_iter().filter_map(|(_, answer)| answer);
    answers
        .map(|answer: Result<_, AskError>| match answer? {
            Elicited::Accepted(given) => Ok(given.answer),
            Elicited::Declined | Elicited::Cancelled => Err(HandlerError::visible("declined")),
        })
        .collect()
}
