//! The pages that a user reads.

use bytes::Bytes;
use http::{Response, StatusCode};
use url::Url;

use crate::answer;
use crate::authorize::Authorization;

/// Asks the user. The page shows the client, what it asks for, and the host that receives the code.
pub(crate) fn page(action: &str, handle: &str, authorization: &Authorization) -> Response<Bytes> {
    let url = Url::parse(&authorization.redirect).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let scopes = match authorization.scopes.join(" ") {
        none if none.is_empty() => "no particular scope".into(),
        scopes => scopes,
    };
    let resource = authorization.resource.as_deref();
    let rows = [
        ("User", authorization.subject.as_str()),
        ("Client", authorization.client.name()),
        ("Client id", &authorization.client.id),
        ("Scopes", &scopes),
        ("Resource", resource.unwrap_or("not stated")),
        ("Redirects to", host),
    ];
    let rows: String = rows
        .iter()
        .map(|(name, value)| format!("<dt>{name}<dd>{}", escape(value)))
        .collect();
    let body = format!(
        "<!doctype html><title>Authorize</title><h1>Allow access?</h1><dl>{rows}</dl>\
         <form method=\"post\" action=\"{}\"><input type=\"hidden\" name=\"page\" value=\"{handle}\">\
         <button name=\"decision\" value=\"allow\">Allow</button> \
         <button name=\"decision\" value=\"deny\">Deny</button></form>",
        escape(action)
    );
    answer::page(StatusCode::OK, body)
}

/// Says why the user is not sent anywhere.
pub(crate) fn refusal(reason: &str) -> Response<Bytes> {
    let reason = escape(reason);
    let body = format!("<!doctype html><title>Refused</title><h1>Refused</h1><p>{reason}");
    answer::page(StatusCode::BAD_REQUEST, body)
}

fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
