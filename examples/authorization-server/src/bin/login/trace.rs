use core::fmt::Write as _;
use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use serde_json::Value;
use tower_service::Service;
use url::form_urlencoded::parse;

/// A service whose requests and responses are printed, without whole secrets.
#[derive(Clone)]
pub(crate) struct Traced<S> {
    origin: String,
    service: S,
}

impl<S> Traced<S> {
    /// Prints what a service at this origin receives.
    pub(crate) fn new(origin: &str, service: S) -> Self {
        let origin = origin.to_owned();
        Self { origin, service }
    }
}

impl<S, B, C> Service<Request<B>> for Traced<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<C>> + Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data: Send, Error: Send> + Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut service, origin) = (self.service.clone(), self.origin.clone());
        Box::pin(async move {
            let (head, body) = request.into_parts();
            // A body that breaks off is shorter than its head says, which the service finds.
            let body = body
                .collect()
                .await
                .map(|body| body.to_bytes())
                .unwrap_or_default();
            let request = Request::from_parts(head, Full::from(body.clone()));
            let mut text = shown(&origin, &request, &body);
            let response = service.call(request).await?;
            let _ = writeln!(text, "  -> {}", response.status());
            fields(
                &mut text,
                response.headers(),
                &["www-authenticate", "dpop-nonce", "location"],
            );
            println!("{text}");
            Ok(response)
        })
    }
}

fn shown<B>(origin: &str, request: &Request<B>, body: &[u8]) -> String {
    let uri = request.uri();
    let mut text = format!("{} {origin}{}\n", request.method(), uri.path());
    fields(
        &mut text,
        request.headers(),
        &["authorization", "dpop", "mcp-protocol-version"],
    );
    parameters(&mut text, uri.query().unwrap_or_default().as_bytes());
    let body: Option<Value> = match serde_json::from_slice(body) {
        Ok(json) => Some(json),
        Err(_) => {
            parameters(&mut text, body);
            None
        }
    };
    let Some(body) = body else {
        return text;
    };
    // Of a message its method, of a registration all.
    let _ = match body["method"].as_str() {
        Some(method) => writeln!(text, "  method: {method}"),
        None => writeln!(text, "  {body}"),
    };
    text
}

fn fields(text: &mut String, headers: &HeaderMap, names: &[&str]) {
    for name in names {
        for value in headers.get_all(*name) {
            let value = value.to_str().unwrap_or_default();
            let value = match (*name, value.split_once(' '), value.split_once('?')) {
                ("authorization", Some((scheme, token)), _) => format!("{scheme} {}", short(token)),
                ("dpop", ..) => short(value),
                ("location", _, Some((uri, query))) => {
                    let mut shown = format!("{uri}\n");
                    parameters(&mut shown, query.as_bytes());
                    shown.trim_end().to_owned()
                }
                _ => value.to_owned(),
            };
            let _ = writeln!(text, "  {name}: {value}");
        }
    }
}

/// The parameters of a query or a form.
fn parameters(text: &mut String, form: &[u8]) {
    const SECRETS: [&str; 7] = [
        "code",
        "nonce",
        "request",
        "state",
        "code_verifier",
        "refresh_token",
        "client_secret",
    ];
    for (name, value) in parse(form) {
        let value = match SECRETS.contains(&&*name) {
            true => short(&value),
            false => value.into_owned(),
        };
        let _ = writeln!(text, "    {name} = {value}");
    }
}

fn short(secret: &str) -> String {
    let mut shown: String = secret.chars().take(8).collect();
    shown.push_str("..");
    shown
}
