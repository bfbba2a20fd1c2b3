//! A record of every call.

use core::fmt;
use core::panic::AssertUnwindSafe;
use core::time::Duration;
use std::panic::catch_unwind;
use std::sync::Arc;

use hmac_sha256::Hash as Sha256;
use mcp_proto::rpc::{Method, code};
use tower_layer::Layer;

use super::observed::{CallEnd, Observer, observed};
use super::{Around, Layered};
use crate::audit_record::AuditRecord;
use crate::call_outcome::CallOutcome;
use crate::connection::{Job, discard};
use crate::error::Printable;
use crate::observe::{self, public_uri};
use crate::server::{Call, Service};

/// A layer that hands a record of every call to a function, once the call has ended: answered, cancelled, panicked or out of time.
///
/// The function is called on the connection and must not block: what writes a file belongs behind a channel. The layer that was added
/// last sees a call first, so add this one last: then calls that other layers refuse are recorded, too. Requests that no
/// service gets are not: those that the protocol layer answers (`initialize`, `ping`, an unknown method) or refuses, those that HTTP refuses,
/// and `subscriptions/listen`. In 2026-07-28 each round of a call with questions is a request.
///
/// ```
/// use mcp_async::server::layers::Audit;
///
/// let server = mcp_async::Server::builder("demo", "1.0").layer(Audit::new(|record| {
///     let who = record.principal.as_deref().unwrap_or("-");
///     let what = record.subject.as_deref().unwrap_or("-");
///     eprintln!("{who} {} {what} {:?} {:?}", record.method, record.outcome, record.duration);
/// }));
/// # let _ = server;
/// ```
#[derive(Clone)]
pub struct Audit(Arc<Hook>);

type Hook = dyn Fn(&AuditRecord) + Send + Sync;

impl Audit {
    /// Calls this function with each record.
    pub fn new(hook: impl Fn(&AuditRecord) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hook))
    }
}

impl Around for Audit {
    fn call(&self, call: Call<'_>, service: &dyn Service) -> Job {
        let context = call.context();
        let record = AuditRecord {
            principal: context.principal().map(|it| it.name().to_owned()),
            session: context.session_id().map(|id| pseudonym(&id)),
            method: call.method.name().to_cow().into_owned(),
            subject: subject(&call),
            revision: call.request.revision,
            outcome: CallOutcome::Cancelled,
            duration: Duration::ZERO,
        };
        let hook = Arc::clone(&self.0);
        observed(call, service, Recording { record, hook })
    }
}

impl<S> Layer<S> for Audit {
    type Service = Layered<Self, S>;

    fn layer(&self, inner: S) -> Self::Service {
        Layered::new(self.clone(), inner)
    }
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Audit")
    }
}

/// The record of a call that has not ended.
struct Recording {
    record: AuditRecord,
    hook: Arc<Hook>,
}

impl Observer for Recording {
    fn ended(&mut self, end: CallEnd, duration: Duration) {
        self.record.duration = duration;
        self.record.outcome = match end {
            CallEnd::Answered(outcome) => outcome,
            CallEnd::Panicked | CallEnd::TimedOut => CallOutcome::Error(code::INTERNAL_ERROR),
            CallEnd::Cancelled => CallOutcome::Cancelled,
        };
        // It may be called while a panic of the handler unwinds.
        let hooked = catch_unwind(AssertUnwindSafe(|| (self.hook)(&self.record)));
        if let Err(panic) = hooked {
            discard(panic);
            observe::panicked();
        }
    }
}

/// The name or the URI that the call is about, as far as it is for logs.
fn subject(call: &Call<'_>) -> Option<String> {
    let subject = call.request.subject?.to_cow();
    let text = match call.method {
        Method::ToolsCall | Method::PromptsGet => &*subject,
        Method::ResourcesRead | Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => {
            public_uri(&subject)
        }
        // A cursor or the id of a task, with which others could ask.
        _ => return None,
    };
    let longest = 128;
    Some(Printable { text, longest }.to_string())
}

/// A name of a session that is not its id: the first 64 bits of the hash of that.
fn pseudonym(id: &str) -> String {
    let hash = Sha256::hash(id.as_bytes());
    let digits = hash.iter().take(8).map(|byte| format!("{byte:02x}"));
    digits.collect()
}
