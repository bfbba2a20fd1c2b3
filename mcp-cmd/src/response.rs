//! The last response of a server at a URL, for errors.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::exit::{Cause, Exit, Failure};
use super::failures::scopes;
use super::options::{Common, Login};
use super::plain::line;
use super::secrets::Secrets;
use super::url::shown;
use mcp_tokio::auth::mcp_auth::Challenge;
use mcp_tokio::compose::ServerUrl;
use mcp_tokio::http::{HttpEvent, HttpStep};

/// The last response of a server, for an error that says that it was no answer.
#[derive(Clone)]
pub(crate) struct LastResponse {
    state: Arc<Mutex<State>>,
    secrets: Secrets,
}

#[derive(Default)]
struct State {
    /// Posted exchanges whose response has not come, and whether they had a token.
    posted: Vec<(u64, bool)>,
    last: Option<Response>,
}

struct Response {
    exchange: u64,
    status: u16,
    has_token: bool,
    content_type: String,
    /// The beginning of the body.
    body: Vec<u8>,
    challenges: Vec<Challenge>,
    secrets: Secrets,
}

impl LastResponse {
    /// No response yet. Errors do not show the secrets.
    pub(crate) fn new(secrets: &Secrets) -> Self {
        Self {
            state: Arc::default(),
            secrets: secrets.clone(),
        }
    }

    pub(crate) fn note(&self, event: &HttpEvent<'_>) {
        let mut state = self.lock();
        let exchange = event.exchange;
        match event.step {
            // The client asks for streams that servers need not have.
            HttpStep::Request {
                method, headers, ..
            } if method == "POST" => {
                let has_token = headers.contains_key("authorization");
                state.posted.push((exchange, has_token));
            }
            HttpStep::Response { status, headers } => {
                let posted = state.posted.iter().position(|it| it.0 == exchange);
                let Some(posted) = posted else { return };
                let (_, has_token) = state.posted.swap_remove(posted);
                let content_type = headers.get("content-type").map(|value| value.as_bytes());
                let content_type = String::from_utf8_lossy(content_type.unwrap_or_default());
                // A notification has no answer.
                if status.is_success() && content_type.is_empty() {
                    return;
                }
                let challenges = headers.get_all("www-authenticate").iter();
                state.last = Some(Response {
                    exchange,
                    status: status.as_u16(),
                    has_token,
                    content_type: content_type.into_owned(),
                    body: Vec::new(),
                    challenges: Challenge::parse_all(challenges.map(|value| value.as_bytes())),
                    secrets: self.secrets.clone(),
                });
            }
            HttpStep::Data(data) => {
                let last = state.last.as_mut();
                if let Some(last) = last.filter(|last| last.exchange == exchange) {
                    let room = MOST.saturating_sub(last.body.len());
                    last.body.extend(data.iter().take(room));
                }
            }
            HttpStep::Failed(_) => state.posted.retain(|posted| posted.0 != exchange),
            _ => {}
        }
    }

    /// The reason why the token of the last request was refused, if it was.
    pub(crate) fn of_token(&self) -> Option<String> {
        let state = self.lock();
        let last = state.last.as_ref()?;
        let is_denied = last.has_token && matches!(last.status, 401 | 403);
        is_denied.then(|| last.denial())
    }

    /// The failure with what the server sent, and with what the user can do.
    pub(crate) fn explain(&self, failure: Failure, common: &Common, remote: &ServerUrl) -> Failure {
        let url = shown(&remote.url);
        let has_header = remote.has_authorization();
        let state = self.lock();
        let last = state.last.as_ref();
        let login = |wanted: &str| match last.filter(|last| last.has_token) {
            Some(last) if has_header => {
                format!(
                    "refuses the header Authorization ({}); it wants {wanted}",
                    last.denial()
                )
            }
            Some(last) => format!(
                "refuses the stored token ({}); it wants {wanted}",
                last.denial()
            ),
            None => format!("wants {wanted}"),
        };
        let may_log_in = !has_header && common.login != Login::None;
        let why = match (&failure.cause, last) {
            (Cause::Answer, Some(last)) => {
                let text = format!("{}{}", failure.text, last.described(&url));
                return Failure { text, ..failure };
            }
            (Cause::Login(it), _) if may_log_in => format!(
                "the server {}, and there is no terminal to log in; log in first, in a terminal: mcp-cmd {url}",
                login(&it.wanted)
            ),
            (Cause::Login(it), _) if it.is_published => {
                let none = ", and --login none forbids to log in";
                let end = if has_header { "" } else { none };
                format!("the server {}{end}", login(&it.wanted))
            }
            // Where no login is possible its errors are of no interest.
            (Cause::Login(_) | Cause::Authorization, Some(last)) if !may_log_in => {
                format!("the server answered with {}{}", last.denial(), last.scope())
            }
            _ => return failure,
        };
        let text = match failure.exit {
            Exit::Connect => format!("no connection: {why}"),
            _ => why,
        };
        Failure { text, ..failure }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Response {
    /// The status with what the challenge says: `status 401, invalid_token: expired`.
    fn denial(&self) -> String {
        let mut text = format!("status {}", self.status);
        for (before, name) in [(", ", "error"), (": ", "error_description")] {
            if let Some(value) = self.parameter(name) {
                text.push_str(before);
                text.push_str(&value);
            }
        }
        text
    }

    /// The [`scopes`] that the challenge names.
    fn scope(&self) -> String {
        scopes(&self.parameter("scope").unwrap_or_default())
    }

    fn parameter(&self, name: &str) -> Option<String> {
        let mut values = self.challenges.iter().filter_map(|it| it.parameter(name));
        values.next().map(|value| self.cut(value))
    }

    /// The beginning of a text of the server, on one line and without secrets.
    fn cut(&self, text: &str) -> String {
        let text = line(text);
        self.secrets.mask(&text).chars().take(LINE).collect()
    }

    /// Describes what was sent in the place of an answer, to the end of a sentence.
    fn described(&self, url: &str) -> String {
        let body = String::from_utf8_lossy(&self.body);
        let mut lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
        let kind = match &*self.content_type {
            "" => "nothing",
            kind => kind,
        };
        let mut text = format!("; {url} sent {}", line(kind));
        if let Some(first) = lines.next() {
            text.push_str(&format!(": {}", self.cut(first)));
        }
        if matches!(self.status, 401 | 403) {
            text.push_str(&format!("; {}{}", self.denial(), self.scope()));
        }
        let path = url.split_once("://").map_or(url, |(_, rest)| rest);
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        let (host, path) = path.split_once('/').unwrap_or((path, ""));
        if matches!(self.status, 404 | 405) && path.is_empty() {
            let scheme = url.split("://").next().unwrap_or_default();
            text.push_str(&format!("; did you mean {scheme}://{host}/mcp?"));
        }
        text
    }
}

/// The bytes of a body that are kept.
const MOST: usize = 500;
/// The characters that are shown of one text.
const LINE: usize = 100;
