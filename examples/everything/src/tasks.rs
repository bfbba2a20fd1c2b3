//! Tools whose calls become tasks.

use core::time::Duration;

use mcp_async::ErrorReply;
use mcp_async::server::{Context, Elicited, HandlerError, ServerBuilder, Tool};
use mcp_async::tasks::server::{TaskPolicy, Tasks};
use schemars::JsonSchema;
use serde::Deserialize;
use smol::Timer;

#[derive(Deserialize, JsonSchema)]
struct Greet {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Compute {
    /// How long it takes.
    #[schemars(range(min = 0, max = 3600))]
    seconds: f64,
    label: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Delete {
    filename: String,
}

#[derive(Deserialize, JsonSchema)]
struct Confirmed {
    confirm: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Named {
    name: String,
}

/// Adds the tools, and the extension for tasks.
pub(super) fn register(server: ServerBuilder) -> ServerBuilder {
    server
        .tool("greet", "Greets at once", |args: Greet, _| async move {
            Ok(format!("Hello, {}!", args.name))
        })
        .with(
            Tool::new("slow_compute")
                .description("Takes its time")
                .task(TaskPolicy::Optional)
                .handler(|args: Compute, _| async move {
                    let duration = Duration::try_from_secs_f64(args.seconds)?;
                    Timer::after(duration).await;
                    let label = args.label.unwrap_or_default();
                    Ok(format!("computed {label} in {} s", args.seconds))
                }),
        )
        .with(
            Tool::new("failing_job")
                .description("Fails after a second, as a tool")
                .task(TaskPolicy::Required)
                .handler(|(): (), _| async move {
                    Timer::after(Duration::from_secs(1)).await;
                    Err::<(), _>(HandlerError::visible("the job has failed"))
                }),
        )
        .with(
            Tool::new("protocol_error_job")
                .description("Fails with an error of the protocol")
                .task(TaskPolicy::Optional)
                .handler(|(): (), _| async move {
                    let error = ErrorReply::new(-32603, "the job has failed");
                    Err::<(), _>(HandlerError::reply(error))
                }),
        )
        .with(
            Tool::new("confirm_delete")
                .description("Deletes nothing, after a question")
                .task(TaskPolicy::Optional)
                .handler(confirm_delete),
        )
        .with(
            Tool::new("multi_input")
                .description("Asks two questions at the same time")
                .task(TaskPolicy::Optional)
                .handler(multi_input),
        )
        .with(
            Tool::new("test_tool_with_task")
                .description("Asks in its call, and then becomes a task")
                .deferred_task(TaskPolicy::Required)
                .handler(|(): (), cx: Context| async move {
                    let named = cx
                        .elicit::<Named>("user_name", "What is your name?")
                        .await?;
                    let Elicited::Accepted(named) = named else {
                        return Err(HandlerError::visible("no name was given"));
                    };
                    cx.begin_task().await;
                    Timer::after(Duration::from_millis(200)).await;
                    Ok(format!("Hello, {}!", named.name))
                }),
        )
        .tasks(Tasks::new().poll_interval(Duration::from_millis(200)))
}

async fn confirm_delete(args: Delete, cx: Context) -> Result<String, HandlerError> {
    let question = format!("Delete {}?", args.filename);
    let answer = cx.elicit::<Confirmed>("confirm", &question).await?;
    Ok(match answer {
        Elicited::Accepted(Confirmed { confirm: true }) => format!("{} is deleted", args.filename),
        _ => format!("{} is kept", args.filename),
    })
}

async fn multi_input((): (), cx: Context) -> Result<String, HandlerError> {
    let (first, second) = futures_lite::future::zip(
        cx.elicit::<Named>("first", "Who is first?"),
        cx.elicit::<Named>("second", "Who is second?"),
    )
    .await;
    let name = |answer| match answer {
        Elicited::Accepted(Named { name }) => name,
        _ => "nobody".to_owned(),
    };
    Ok(format!("{}, {}", name(first?), name(second?)))
}
