//! Questions of a task that were asked together.

use core::task::{Context, Poll, ready};

use mcp_proto::json::{EncodeError, Raw, RawBuf, Str, Writer};
use mcp_proto::{Payload, Revision};

use super::requests::Requests;
use crate::error::CallError;
use crate::payload::encode;
use crate::runtime::BoxFuture;

/// Questions of a task: the callbacks run, and then their answers are sent.
pub(super) struct Questions {
    pub(super) keys: Vec<String>,
    stage: Stage,
    /// The number of failed attempts to send the answers.
    failures: u32,
}

enum Stage {
    Asking(BoxFuture<'static, Result<RawBuf, CallError>>),
    Updating(RawBuf, BoxFuture<'static, Result<(), CallError>>),
    /// The answers could not be sent.
    Unsent(RawBuf),
}

/// Reasons for which questions are not answered.
pub(super) enum Unanswered {
    /// A callback refused one of them, or the client does not answer such questions.
    Refused(CallError),
    /// The server did not take the answers.
    Sending(CallError),
    /// The server did not take the answers, and they may be sent [again](Questions::retry) later.
    Unsent,
}

impl Questions {
    pub(super) fn ask(requests: &Requests, keys: Vec<String>, asked: RawBuf) -> Self {
        let client = requests.client.clone();
        Self {
            keys,
            stage: Stage::Asking(Box::pin(async move { client.answer_inputs(asked).await })),
            failures: 0,
        }
    }

    /// Returns true if the answers are being sent.
    pub(super) const fn is_on_the_wire(&self) -> bool {
        matches!(self.stage, Stage::Updating(..))
    }

    /// Returns the number of callbacks that are being asked.
    pub(super) fn pending(&self) -> usize {
        match self.stage {
            Stage::Asking(_) => self.keys.len(),
            _ => 0,
        }
    }

    /// Sends answers again that could not be sent.
    pub(super) fn retry(&mut self, requests: &Requests) {
        if let Stage::Unsent(answers) = &mut self.stage {
            let answers = core::mem::take(answers);
            let update = Box::pin(requests.clone().update(answers.clone()));
            self.stage = Stage::Updating(answers, update);
        }
    }

    /// Ready when the server has acknowledged the answers.
    pub(super) fn poll(
        &mut self,
        requests: &Requests,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Unanswered>> {
        loop {
            match &mut self.stage {
                Stage::Asking(answers) => match ready!(answers.as_mut().poll(cx)) {
                    Ok(answers) => {
                        let update = Box::pin(requests.clone().update(answers.clone()));
                        self.stage = Stage::Updating(answers, update);
                    }
                    Err(error) => return Poll::Ready(Err(Unanswered::Refused(error))),
                },
                Stage::Updating(answers, update) => {
                    let Err(error) = ready!(update.as_mut().poll(cx)) else {
                        return Poll::Ready(Ok(()));
                    };
                    if self.failures >= ATTEMPTS || !requests.may_succeed(&error) {
                        return Poll::Ready(Err(Unanswered::Sending(error)));
                    }
                    self.failures += 1;
                    self.stage = Stage::Unsent(core::mem::take(answers));
                    return Poll::Ready(Err(Unanswered::Unsent));
                }
                Stage::Unsent(_) => return Poll::Pending,
            }
        }
    }
}

/// The keys of these questions, and the object of them.
pub(super) fn encoded(questions: Vec<(Str<'_>, Raw<'_>)>) -> Option<(Vec<String>, RawBuf)> {
    let keys = questions.iter().map(|(key, _)| key.to_cow().into_owned());
    let keys = keys.collect();
    let questions = encode(&Members(questions), Revision::V2026_07_28).ok()?;
    Some((keys, questions))
}

/// Answers are sent again so often.
const ATTEMPTS: u32 = 10;

/// Members of an object, with their keys as they came.
struct Members<'b>(Vec<(Str<'b>, Raw<'b>)>);

impl Payload for Members<'_> {
    fn write(&self, writer: &mut Writer<'_>, _: Revision) -> Result<(), EncodeError> {
        let mut before = "{";
        for (key, value) in &self.0 {
            writer.literal(before);
            writer.text_exact(*key);
            writer.literal(":");
            writer.raw(*value);
            before = ",";
        }
        writer.literal("}");
        Ok(())
    }
}
