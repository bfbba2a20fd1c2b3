use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::failed::BodyFailed;
use super::inflate::Inflater;
use super::pool::Use;

/// The body of a response, as it arrives.
///
/// Dropping it before its end closes the exchange: over HTTP/1.1 its connection, over HTTP/2 its
/// stream.
///
/// ```
/// use http_body_util::{BodyExt, Limited};
/// use mcp_async::net::ResponseBody;
///
/// /// A response of 64 KiB at most.
/// async fn small(body: ResponseBody) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
///     Ok(Limited::new(body, 64 << 10).collect().await?.to_bytes().to_vec())
/// }
/// ```
pub struct ResponseBody {
    body: Incoming,
    /// Taken when nothing more is to come.
    inflater: Option<Inflater>,
    in_use: Use,
}

impl ResponseBody {
    pub(super) fn new(body: Incoming, inflater: Option<Inflater>, in_use: Use) -> Self {
        if body.is_end_stream() {
            in_use.end();
        }
        Self {
            body,
            inflater,
            in_use,
        }
    }

    /// The end of an unpacked body: whether it was the end of what was packed, too.
    fn finish(&mut self) -> Option<Result<Frame<Bytes>, BodyFailed>> {
        match self.inflater.take()?.finish() {
            Ok(bytes) if bytes.is_empty() => None,
            Ok(bytes) => Some(Ok(Frame::data(bytes))),
            Err(error) => Some(Err(BodyFailed::new(error))),
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BodyFailed;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyFailed>>> {
        let this = &mut *self;
        loop {
            if let Some(inflater) = &mut this.inflater {
                match inflater.inflate() {
                    Ok(None) => {}
                    Ok(Some(bytes)) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                    Err(error) => {
                        this.inflater = None;
                        return Poll::Ready(Some(Err(BodyFailed::new(error))));
                    }
                }
            }
            let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
            if this.body.is_end_stream() {
                this.in_use.end();
            }
            let Some(frame) = frame else {
                this.in_use.end();
                return Poll::Ready(this.finish());
            };
            let frame = frame.map_err(BodyFailed::new)?;
            match (&mut this.inflater, frame.into_data()) {
                (Some(inflater), Ok(bytes)) => inflater.feed(bytes),
                (None, Ok(bytes)) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                // Trailers.
                (_, Err(frame)) => return Poll::Ready(Some(Ok(frame))),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inflater.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match self.inflater {
            Some(_) => SizeHint::default(),
            None => self.body.size_hint(),
        }
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody").finish_non_exhaustive()
    }
}
