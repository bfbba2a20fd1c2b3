//! A connection of HTTP/2, which many requests share.

#[cfg(feature = "http2")]
pub(super) type SharedConnection =
    hyper::client::conn::http2::SendRequest<http_body_util::Full<bytes::Bytes>>;

#[cfg(not(feature = "http2"))]
pub(super) use self::without_http2::SharedConnection;

/// The type without values: HTTP/2 is offered to no server.
#[cfg(not(feature = "http2"))]
mod without_http2 {
    use core::convert::Infallible;

    use bytes::Bytes;
    use http::{Request, Response};
    use http_body_util::Full;
    use hyper::body::Incoming;
    use hyper::client::conn::TrySendError;

    #[derive(Clone)]
    pub(crate) struct SharedConnection(Infallible);

    impl SharedConnection {
        pub(crate) const fn is_closed(&self) -> bool {
            match self.0 {}
        }

        pub(crate) async fn try_send_request(
            &mut self,
            _: Request<Full<Bytes>>,
        ) -> Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
            match self.0 {}
        }
    }
}
