//! A single round of a request, whose questions the caller answers.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use mcp_proto::json::RawBuf;

use super::Request;
use super::decode::Decode;
use crate::client::state::inputs::{InputAnswers, InputQuestions};
use crate::connection::Progress;
use crate::error::CallError;

/// The result of a [single round](Request::one_round).
#[derive(Clone, Debug)]
pub enum RoundResult {
    /// The result, as the server wrote it.
    Result(RawBuf),
    /// The server asks, and the request is over. A new request with the answers continues it.
    Input(InputQuestions),
}

/// A [single round](Request::one_round) of a request.
#[must_use = "a request is sent when its future is polled"]
pub struct OneRound<'a, H = fn(Progress<'_>)>(Request<'a, RawBuf, H>);

impl<'a, T, H> Request<'a, T, H> {
    /// Returns the request with the result as the server wrote it, neither decoded nor checked against an output schema.
    pub fn raw(self) -> Request<'a, RawBuf, H> {
        Request {
            inner: self.inner,
            ask: self.ask,
            meta: self.meta,
            extension: self.extension,
            declared: self.declared,
            is_fresh: self.is_fresh,
            options: self.options,
            trace: self.trace,
            on_progress: self.on_progress,
            decode: Decode::Raw(|result| RawBuf::from(result)),
            by_hand: self.by_hand,
            asked: self.asked,
            listed: self.listed,
            deadline: self.deadline,
            stage: self.stage,
        }
    }

    /// Sends the request once, with the answers to the questions of the round before, and returns the questions of a server of
    /// 2026-07-28 in place of asking the callbacks of the client. The questions are of methods that the client declares. The result is
    /// [`raw`](Self::raw), and is neither kept nor taken from what is kept.
    ///
    /// A legacy server asks the callbacks all the same, because its questions are requests of their own.
    ///
    /// ```
    /// use mcp_async::Client;
    /// use mcp_async::client::{CallError, InputAnswers, RoundResult};
    /// use mcp_async::json::RawBuf;
    ///
    /// async fn book(client: &Client) -> Result<RawBuf, CallError> {
    ///     let mut answers = InputAnswers::default();
    ///     loop {
    ///         match client.call_tool("book", &()).one_round(answers).await? {
    ///             RoundResult::Result(result) => return Ok(result),
    ///             RoundResult::Input(questions) => {
    ///                 answers = InputAnswers {
    ///                     responses: Some(client.answer_inputs(questions.requests).await?),
    ///                     state: questions.state,
    ///                 };
    ///             }
    ///         }
    ///     }
    /// }
    /// # let _ = book;
    /// ```
    pub fn one_round(self, answers: InputAnswers) -> OneRound<'a, H> {
        let mut request = self.raw();
        request.by_hand = Some(answers);
        OneRound(request)
    }
}

impl<H: FnMut(Progress<'_>)> Future for OneRound<'_, H> {
    type Output = Result<RoundResult, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self(request) = self.get_mut();
        let polled = request.poll_raw(cx);
        polled.map(|result| match request.asked.take() {
            Some(questions) => Ok(RoundResult::Input(questions)),
            None => result.map(RoundResult::Result),
        })
    }
}

impl<H> fmt::Debug for OneRound<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OneRound").field(&self.0).finish()
    }
}
