//! One round of input in 2026-07-28: questions that are asked together, and their answers.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use mcp_proto::json::{EncodeError, Raw, RawBuf, Writer};
use mcp_proto::rpc::Method;
use mcp_proto::{Payload, Revision};

use super::handler::{Answer, Handler, IncomingQuestion};
use crate::connection::guarded;
use crate::error::ErrorReply;

/// The questions of a round, and the answers as they come.
pub(in crate::client) struct Inputs {
    questions: RawBuf,
    /// In the order of the questions.
    inputs: Vec<Input>,
}

enum Input {
    Asked(Answer),
    Answered(Box<dyn Payload + Send>),
}

impl Inputs {
    /// Asks everything at once; the core has checked that the questions are known and declared.
    pub(in crate::client) fn ask(
        questions: RawBuf,
        revision: Revision,
        handler: &dyn Handler,
    ) -> Self {
        let object = questions.as_raw().object().unwrap_or_default();
        let inputs = object.members().map(|(key, question)| {
            let question = question.object().unwrap_or_default();
            let method = question
                .get("method")
                .and_then(Raw::string)
                .unwrap_or_default();
            let question = IncomingQuestion {
                revision,
                key: Some(key),
                method: Method::from(method),
                params: question
                    .get("params")
                    .and_then(Raw::object)
                    .unwrap_or_default(),
            };
            // As in a legacy session, a panic in a callback is a refusal that tells nothing.
            let reply = guarded(|| handler.question(question));
            Input::Asked(reply.unwrap_or_else(|| Answer::refuse(ErrorReply::internal())))
        });
        Self {
            inputs: inputs.collect(),
            questions,
        }
    }

    /// Ready when every question is answered, or one was refused: then there is no further
    /// round (MR-15).
    pub(in crate::client) fn poll_answers(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), ErrorReply>> {
        let mut waits = false;
        for input in &mut self.inputs {
            let Input::Asked(reply) = input else { continue };
            let polled = guarded(|| Pin::new(reply).poll(cx));
            match polled.unwrap_or_else(|| Poll::Ready(Err(ErrorReply::internal()))) {
                Poll::Ready(Ok(value)) => *input = Input::Answered(value),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => waits = true,
            }
        }
        if waits {
            Poll::Pending
        } else {
            Poll::Ready(Ok(()))
        }
    }
}

/// `inputResponses`: an object with the answer to each question under its key.
impl Payload for Inputs {
    fn write(&self, writer: &mut Writer<'_>, revision: Revision) -> Result<(), EncodeError> {
        writer.literal("{");
        let mut separator = "";
        let questions = self.questions.as_raw().object().unwrap_or_default();
        for ((key, _), input) in questions.members().zip(&self.inputs) {
            let Input::Answered(value) = input else {
                continue;
            };
            writer.literal(separator);
            writer.text_exact(key);
            writer.literal(":");
            value.write(writer, revision)?;
            separator = ",";
        }
        writer.literal("}");
        Ok(())
    }
}
