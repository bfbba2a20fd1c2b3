//! What a process does as long as it lives: it renews its lease, reads its inbox, and tells the others of
//! changes.

use core::future::poll_fn;
use core::task::Poll;
use core::time::Duration;
use std::sync::{Arc, Weak};

use super::super::endpoint::HttpEndpoint;
use super::message::Message;
use super::this_process::Processes;
use crate::http::StoreError;
use crate::net::time::{RuntimeSleep, timeout};
use crate::observe;
use crate::runtime::Runtime;

/// Starts the tasks of an endpoint. They end some time after it.
pub(in crate::http::server) fn start<R: Runtime>(endpoint: &Arc<HttpEndpoint<R>>) {
    let Some(processes) = &endpoint.processes else {
        return;
    };
    let weak = || (Arc::downgrade(endpoint), Arc::clone(processes));
    let (end, processes) = weak();
    R::spawn(Box::pin(renew(end, processes)));
    let (end, processes) = weak();
    R::spawn(Box::pin(receive(end, processes)));
    let (end, processes) = weak();
    R::spawn(Box::pin(announce(end, processes)));
    let report = Arc::downgrade(&weak().1);
    endpoint.server.on_announcement(Box::new(move |change| {
        if let Some(processes) = report.upgrade() {
            processes.report(change);
        }
    }));
}

/// Renews the lease until the endpoint is gone, or has been shut down and has no session left.
async fn renew<R: Runtime>(endpoint: Weak<HttpEndpoint<R>>, processes: Arc<Processes>) {
    let mut failures = Failures::default();
    while lives(&endpoint) {
        let announced = timeout::<R, _>(processes.lease, processes.announce()).await;
        failures.note(announced.unwrap_or_else(|| Err(StoreError::new("no lease in time"))));
        let closing = endpoint
            .upgrade()
            .is_some_and(|endpoint| endpoint.is_closing());
        RuntimeSleep::<R>::after(if closing {
            CLOSING
        } else {
            processes.lease / 3
        })
        .await;
    }
    // Others may take its sessions over at once.
    if let Err(error) = processes.relay.withdraw(&processes.name).await {
        observe::store_failed(&error);
    }
    for inbound in processes.pending().values() {
        inbound.fail();
    }
}

fn lives<R: Runtime>(endpoint: &Weak<HttpEndpoint<R>>) -> bool {
    let endpoint = endpoint.upgrade();
    endpoint.is_some_and(|endpoint| !endpoint.is_closing() || !endpoint.sessions.all().is_empty())
}

/// Reads the inbox until the endpoint is gone.
async fn receive<R: Runtime>(endpoint: Weak<HttpEndpoint<R>>, processes: Arc<Processes>) {
    let mut failures = Failures::default();
    loop {
        let received = processes.relay.receive(&processes.name).await;
        let Some(endpoint) = endpoint.upgrade().filter(|_| lives(&endpoint)) else {
            return;
        };
        match received {
            Ok(messages) => {
                failures.note(Ok(()));
                for message in messages {
                    take(&endpoint, &processes, &message);
                }
            }
            Err(error) => {
                failures.note(Err(error));
                drop(endpoint);
                RuntimeSleep::<R>::after(RETRY).await;
            }
        }
    }
}

/// A message of another process.
fn take<R: Runtime>(endpoint: &Arc<HttpEndpoint<R>>, processes: &Arc<Processes>, message: &[u8]) {
    let Some((message, body)) = Message::decode(message) else {
        return;
    };
    match message {
        Message::Request { from, number, head } => {
            let endpoint = Arc::clone(endpoint);
            let serve = |request| async move { endpoint.serve(request).await };
            let request = (head, body.to_vec());
            let processes = Arc::clone(processes);
            R::spawn(Box::pin(processes.serve_forwarded(
                (from, number),
                request,
                serve,
            )));
        }
        Message::Response { number, head, end } => {
            if let Some(inbound) = processes.pending().get(&number) {
                inbound.arrive(Some(head), 0, body, end);
            }
        }
        Message::Moved { number } => {
            if let Some(inbound) = processes.pending().get(&number) {
                inbound.moved();
            }
        }
        Message::Part { number, part, end } => {
            if let Some(inbound) = processes.pending().get(&number) {
                inbound.arrive(None, part, body, end);
            }
        }
        Message::Read {
            from,
            number,
            parts,
        } => {
            if let Some(serving) = processes.served(&from, number) {
                serving.read(parts);
            }
        }
        Message::Cancel { from, number } => {
            if let Some(serving) = processes.served(&from, number) {
                serving.cancel();
            }
        }
        Message::Changed(change) => endpoint.server.announced(&change),
    }
}

/// Tells the other processes of changes until the endpoint is gone.
async fn announce<R: Runtime>(endpoint: Weak<HttpEndpoint<R>>, processes: Arc<Processes>) {
    let mut failures = Failures::default();
    loop {
        let waiting = poll_fn(|cx| {
            let mut outbox = processes.outbox();
            match outbox.changes.is_empty() {
                true => {
                    outbox.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
                false => Poll::Ready(core::mem::take(&mut outbox.changes)),
            }
        });
        let changes = timeout::<R, _>(processes.lease, waiting)
            .await
            .unwrap_or_default();
        if !lives(&endpoint) {
            return;
        }
        for change in changes {
            let message = Message::Changed(change).encode(&[]);
            failures.note(processes.relay.broadcast(&processes.name, &message).await);
        }
    }
}

/// Of failures in a row only the first one is reported.
#[derive(Default)]
struct Failures(bool);

impl Failures {
    fn note(&mut self, outcome: Result<(), StoreError>) {
        let failed = core::mem::replace(&mut self.0, outcome.is_err());
        if let Err(error) = outcome
            && !failed
        {
            observe::store_failed(&error);
        }
    }
}

/// How long a process waits before it reads its inbox again after a failure.
const RETRY: Duration = Duration::from_millis(500);

/// How often a process that is shut down looks for sessions that are left.
const CLOSING: Duration = Duration::from_millis(500);
