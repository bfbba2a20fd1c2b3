//! Several questions in one call. In 2026-07-28 each `await` without an answer ends the round, and the
//! handler runs again from its start; answers of earlier rounds are available at once.

use futures_lite::future::zip;
use schemars::JsonSchema;
use serde::Deserialize;

use mcp_async::model::ClientFeatures;
use mcp_async::model::{CreateMessageParams, SamplingMessage};
use mcp_async::server::{Context, Elicited, HandlerError, ServerBuilder};

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Color {
    color: String,
}

#[derive(Deserialize, JsonSchema)]
struct Confirmation {
    ok: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Anything {
    value: String,
}

pub(super) fn register(server: ServerBuilder) -> ServerBuilder {
    server
        .tool(
            "test_input_required_result_elicitation",
            "Asks for a name",
            |(): (), cx: Context| async move {
                let name: Name = accepted(cx.elicit("user_name", "What is your name?").await?)?;
                Ok(format!("Hello, {}!", name.name))
            },
        )
        .tool(
            "test_input_required_result_sampling",
            "Asks the client's model",
            |(): (), cx: Context| async move {
                let question = question("What is the capital of France?");
                let answer = cx.sample("capital_question", question).await?;
                Ok(format!("Sampling result: {}", answer.content.text()))
            },
        )
        .tool(
            "test_input_required_result_list_roots",
            "Asks for the roots",
            |(): (), cx: Context| async move {
                let roots = cx.roots_as("client_roots").await?;
                Ok(format!("Found {} root(s)", roots.len()))
            },
        )
        .tool(
            "test_input_required_result_request_state",
            "Is sure that the client gave back its state",
            |(): (), cx: Context| async move {
                // A state that was tampered with never gets here.
                confirmed(&cx).await?;
                Ok("state-ok: requestState validated")
            },
        )
        .tool(
            "test_input_required_result_tampered_state",
            "Is refused with a state that was tampered with",
            |(): (), cx: Context| async move {
                confirmed(&cx).await?;
                Ok("integrity-ok: state verified")
            },
        )
        .tool(
            "test_input_required_result_multiple_inputs",
            "Asks three questions at once",
            |(): (), cx: Context| async move {
                let name = cx.elicit("user_name", "What is your name?");
                let greeting = cx.sample("greeting", question("Generate a greeting"));
                let roots = cx.roots_as("client_roots");
                let (name, (greeting, roots)) = zip(name, zip(greeting, roots)).await;
                let name: Name = accepted(name?)?;
                let (greeting, roots) = (greeting?.content.text(), roots?.len());
                Ok(format!(
                    "Name: {}; Greeting: {greeting}; Roots: {roots}",
                    name.name
                ))
            },
        )
        .tool(
            "test_input_required_result_multi_round",
            "Asks two questions, one after the other",
            |(): (), cx: Context| async move {
                let name = cx.elicit("step1", "Step 1: What is your name?").await?;
                let name: Name = accepted(name)?;
                let color = cx
                    .elicit("step2", "Step 2: What is your favorite color?")
                    .await?;
                let color: Color = accepted(color)?;
                let (name, color) = (name.name, color.color);
                Ok(format!("Multi-round complete for {name} who likes {color}"))
            },
        )
        .tool(
            "test_input_required_result_capabilities",
            "Asks only what the client can answer",
            |(): (), cx: Context| async move {
                let elicited = async {
                    if !cx.client().contains(ClientFeatures::ELICITATION_FORM) {
                        return Ok(None);
                    }
                    let answer = cx.elicit("elicit_input", "Elicitation input").await?;
                    let answer: Anything = accepted(answer)?;
                    Ok::<_, HandlerError>(Some(answer.value))
                };
                let sampled = async {
                    if !cx.client().contains(ClientFeatures::SAMPLING) {
                        return Ok(None);
                    }
                    let answer = cx
                        .sample("sample_input", question("Sample request"))
                        .await?;
                    Ok::<_, HandlerError>(Some(answer.content.text()))
                };
                let (elicited, sampled) = zip(elicited, sampled).await;
                let answers: Vec<String> = [elicited?, sampled?].into_iter().flatten().collect();
                if answers.is_empty() {
                    return Ok("No supported capabilities declared".into());
                }
                Ok(format!("capabilities-ok: received {}", answers.join(", ")))
            },
        )
}

async fn confirmed(cx: &Context) -> Result<(), HandlerError> {
    let answer: Confirmation = accepted(cx.elicit("confirm", "Please confirm").await?)?;
    if answer.ok {
        Ok(())
    } else {
        Err(HandlerError::visible("not confirmed"))
    }
}

fn question(text: &str) -> CreateMessageParams {
    CreateMessageParams::new(vec![SamplingMessage::user(text)], 100)
}

/// The form, or what the person did instead, for the model to read.
pub(super) fn accepted<T>(answer: Elicited<T>) -> Result<T, HandlerError> {
    match answer {
        Elicited::Accepted(form) => Ok(form),
        Elicited::Declined => Err(HandlerError::visible("the person declined")),
        Elicited::Cancelled => Err(HandlerError::visible("the person did not answer")),
    }
}
