//! Forwarded requests over HTTP.

use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt;

use super::{Forward, ForwardFailed, ForwardFuture, ForwardedBody};
use crate::net::{HttpClient, Network};

impl<R: Network> Forward for HttpClient<R> {
    fn forward(&self, request: Request<Bytes>) -> ForwardFuture {
        let client = self.clone();
        Box::pin(async move {
            match client.send(request).await {
                Ok(response) => Ok(response.map(|body| {
                    let body = body.map_err(Into::into);
                    Box::pin(body) as ForwardedBody
                })),
                Err(error) if error.is_unsent() => Err(ForwardFailed::unsent(error)),
                Err(error) => Err(ForwardFailed::broken(error)),
            }
        })
    }
}
