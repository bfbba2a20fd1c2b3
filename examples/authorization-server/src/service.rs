use core::convert::Infallible;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::{BufMut as _, Bytes};
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Either, Full, Limited};
use tower_service::Service;

use crate::{AuthorizationServer, answer};

/// The body of a request has at most this many bytes.
const MAX_BODY: usize = 64 * 1024;

type Answering<B, E> = Pin<Box<dyn Future<Output = Result<Response<B>, E>> + Send>>;

impl AuthorizationServer {
    /// Reads a request and answers it, after its client's document has been fetched if need be.
    async fn answer<B>(self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: Body<Data: Send, Error: Send> + Send,
    {
        let (head, body) = request.into_parts();
        // A limit on the body alone boxes its errors.
        let body = body.map_err(|_| "the body was not sent whole");
        let mut body = core::pin::pin!(Limited::new(body, MAX_BODY));
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let data = frame.ok().map(http_body::Frame::into_data);
            match data {
                Some(Ok(data)) => bytes.put(data),
                Some(Err(_)) => {}
                None => return answer::empty(StatusCode::PAYLOAD_TOO_LARGE).map(Full::new),
            }
        }
        let request = Request::from_parts(head, Bytes::from(bytes));
        if let Some((id, fetched)) = self.fetch(&request)
            && let Ok(document) = fetched.await
        {
            self.learn(&id, &document);
        }
        self.handle(&request).map(Full::new)
    }
}

impl<B> Service<Request<B>> for AuthorizationServer
where
    B: Body<Data: Send, Error: Send> + Send + 'static,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Answering<Full<Bytes>, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let answering = self.clone().answer(request);
        Box::pin(async { Ok(answering.await) })
    }
}

/// An authorization server and another service on the same origin, as in 2025-03-26: the paths of
/// the authorization server are its own, all others are of the service.
#[derive(Clone, Debug)]
pub struct SameOrigin<S> {
    server: AuthorizationServer,
    service: S,
}

impl<S> SameOrigin<S> {
    /// Puts the authorization server next to a service.
    pub const fn new(server: AuthorizationServer, service: S) -> Self {
        Self { server, service }
    }
}

impl<S, B, C> Service<Request<B>> for SameOrigin<S>
where
    S: Service<Request<B>, Response = Response<C>>,
    S::Future: Send + 'static,
    B: Body<Data: Send, Error: Send> + Send + 'static,
{
    type Response = Response<Either<Full<Bytes>, C>>;
    type Error = S::Error;
    type Future = Answering<Either<Full<Bytes>, C>, S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if self.server.serves(request.uri().path()) {
            let answering = self.server.clone().answer(request);
            return Box::pin(async { Ok(answering.await.map(Either::Left)) });
        }
        let answering = self.service.call(request);
        Box::pin(async { Ok(answering.await?.map(Either::Right)) })
    }
}
