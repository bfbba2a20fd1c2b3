//! Questions to the client, in both eras.

use interop_rust::of;
use interop_rust::value;
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, ProtocolVersion};
use serde_json::{Value, json};

use crate::Context;
use crate::content::text;

/// What a handler answers, or what it has to ask first.
pub(crate) enum Answer {
    Complete(Value),
    Ask(Value),
}

/// A request of its own in the era of the handshake; in the other the call ends with the question and comes again.
pub(crate) async fn ask(
    cx: &Context,
    answered: Option<Value>,
    question: Value,
) -> Result<Answer, ErrorData> {
    match answered {
        Some(answer) => Ok(Answer::Complete(answer)),
        None if modern(cx) => Ok(Answer::Ask(again(json!({"question": question}), None))),
        None => Ok(Answer::Complete(value(
            &cx.peer.send_request(of(question)).await.map_err(lost)?,
        ))),
    }
}

pub(crate) fn replied(
    answer: Answer,
    told: impl FnOnce(&Value) -> String,
) -> Result<Answer, ErrorData> {
    Ok(match answer {
        Answer::Complete(reply) => Answer::Complete(json!({"content": [text(told(&reply))]})),
        question => question,
    })
}

pub(crate) fn again(questions: Value, state: Option<&str>) -> Value {
    let mut result = json!({"resultType": "input_required", "inputRequests": questions});
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    result
}

pub(crate) fn modern(cx: &Context) -> bool {
    cx.protocol_version() == Some(ProtocolVersion::V_2026_07_28)
}

pub(crate) fn form(message: &str, requested: Value) -> Value {
    json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": requested}})
}

pub(crate) fn sampling(prompt: &str) -> Value {
    let message = json!({"role": "user", "content": text(prompt)});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}})
}

pub(crate) fn lost(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::new(ErrorCode::INTERNAL_ERROR, error.to_string(), None)
}
