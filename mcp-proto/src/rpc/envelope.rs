//! Messages on their way out.
//!
//! Each function writes one message, without framing, into a [`Writer`] that continues to
//! count past its end. Parameters and results are written by a closure, because most of them
//! are put together from what the application gave and what the machine adds.

use core::convert::Infallible;

use super::{ErrorObject, Id, Method};
use crate::json::Writer;

/// A request of ours: its id is a number of our own counter (JR-03..06, JR-53).
pub(crate) fn request<E>(
    w: &mut Writer<'_>,
    id: u64,
    method: Method<'_>,
    params: impl FnOnce(&mut Writer<'_>) -> Result<(), E>,
) -> Result<(), E> {
    w.literal(OPEN_ID);
    w.unsigned(id);
    w.literal(METHOD);
    finish_call(w, method, params)
}

/// A request of ours without parameters.
pub(crate) fn bare_request(w: &mut Writer<'_>, id: u64, method: Method<'_>) {
    w.literal(OPEN_ID);
    w.unsigned(id);
    w.literal(METHOD);
    w.text_exact(method.name());
    w.literal("}");
}

/// A notification.
pub(crate) fn notification<E>(
    w: &mut Writer<'_>,
    method: Method<'_>,
    params: impl FnOnce(&mut Writer<'_>) -> Result<(), E>,
) -> Result<(), E> {
    w.literal(OPEN_METHOD);
    finish_call(w, method, params)
}

/// A notification without parameters.
pub(crate) fn bare_notification(w: &mut Writer<'_>, method: Method<'_>) {
    w.literal(OPEN_METHOD);
    w.text_exact(method.name());
    w.literal("}");
}

/// `notifications/cancelled` of ours. `id` writes the id of the request.
pub(crate) fn cancelled(
    w: &mut Writer<'_>,
    id: impl FnOnce(&mut Writer<'_>),
    reason: Option<&'static str>,
) {
    let Ok(()) = notification(w, Method::Cancelled, |w| {
        w.literal(r#"{"requestId":"#);
        id(w);
        if let Some(reason) = reason {
            w.literal(",\"reason\":\"");
            w.literal(reason);
            w.literal("\"");
        }
        w.literal("}");
        Ok::<_, Infallible>(())
    });
}

/// The answer to a request of the peer, whose id is echoed as it came (JR-07).
pub(crate) fn result<E>(
    w: &mut Writer<'_>,
    id: Id<'_>,
    result: impl FnOnce(&mut Writer<'_>) -> Result<(), E>,
) -> Result<(), E> {
    w.literal(OPEN_ID);
    id.write(w);
    w.literal(r#","result":"#);
    result(w)?;
    w.byte(b'}');
    Ok(())
}

/// The error in place of an answer; `None` where the id could not be read (JR-10, JR-51).
pub(crate) fn error(w: &mut Writer<'_>, id: Option<Id<'_>>, error: &ErrorObject<'_>) {
    match id {
        Some(id) => {
            w.literal(OPEN_ID);
            id.write(w);
            w.literal(",");
        }
        None => w.literal(OPEN),
    }
    error_with(w, error.code, |w| {
        w.text(error.message);
        if let Some(data) = error.data {
            w.literal(DATA);
            w.raw(data);
        }
    });
}

/// The error of a response and its end. `rest` writes the message and, after [`DATA`], what belongs to it.
pub(crate) fn error_with(w: &mut Writer<'_>, code: i64, rest: impl FnOnce(&mut Writer<'_>)) {
    w.literal(r#""error":{"code":"#);
    w.signed(code);
    w.literal(r#","message":"#);
    rest(w);
    w.literal("}}");
}

/// A call with an id of any kind, for messages that are written as they were read.
pub(super) fn echo(
    w: &mut Writer<'_>,
    id: Option<Id<'_>>,
    method: Method<'_>,
    params: Option<crate::json::Raw<'_>>,
) {
    match id {
        Some(id) => {
            w.literal(OPEN_ID);
            id.write(w);
            w.literal(METHOD);
        }
        None => w.literal(OPEN_METHOD),
    }
    w.text_exact(method.name());
    if let Some(params) = params {
        w.literal(PARAMS);
        w.raw(params);
    }
    w.literal("}");
}

fn finish_call<E>(
    w: &mut Writer<'_>,
    method: Method<'_>,
    params: impl FnOnce(&mut Writer<'_>) -> Result<(), E>,
) -> Result<(), E> {
    w.text_exact(method.name());
    w.literal(PARAMS);
    params(w)?;
    w.literal("}");
    Ok(())
}

pub(crate) const DATA: &str = r#","data":"#;
pub(crate) const OPEN: &str = r#"{"jsonrpc":"2.0","#;
const OPEN_ID: &str = r#"{"jsonrpc":"2.0","id":"#;
const OPEN_METHOD: &str = r#"{"jsonrpc":"2.0","method":"#;
const METHOD: &str = r#","method":"#;
const PARAMS: &str = r#","params":"#;
