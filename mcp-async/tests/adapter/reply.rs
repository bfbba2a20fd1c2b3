//! A response of HTTP.

use core::future::poll_fn;
use core::pin::Pin;

use http::Response;
use http_body::Body as _;
use mcp_async::http::HttpBody;

/// A response, whose body is read while it arrives.
pub(super) struct Reply {
    pub(super) status: u16,
    head: Response<()>,
    body: Option<HttpBody>,
    text: String,
}

impl Reply {
    /// The response of a layer.
    pub(super) fn refused(status: u16) -> Self {
        let response = Response::builder().status(status);
        Self {
            status,
            head: response.body(()).unwrap(),
            body: None,
            text: String::new(),
        }
    }

    pub(super) fn new(response: Response<HttpBody>) -> Self {
        let (parts, body) = response.into_parts();
        Self {
            status: parts.status.as_u16(),
            head: Response::from_parts(parts, ()),
            body: Some(body),
            text: String::new(),
        }
    }

    pub(super) fn header(&self, name: &str) -> &str {
        let value = self.head.headers().get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// The whole body.
    pub(super) async fn text(mut self) -> String {
        while self.read().await {}
        self.text
    }

    /// Reads until the body has this text.
    pub(super) async fn read_until(&mut self, text: &str) {
        while !self.text.contains(text) {
            assert!(self.read().await, "{}", self.text);
        }
    }

    /// Reads a part; false at the end.
    async fn read(&mut self) -> bool {
        let Some(body) = &mut self.body else {
            return false;
        };
        match poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
            Some(frame) => {
                let Ok(frame) = frame;
                let data = frame.into_data().unwrap();
                self.text.push_str(core::str::from_utf8(&data).unwrap());
                true
            }
            None => false,
        }
    }
}
