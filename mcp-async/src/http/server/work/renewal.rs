//! The tasks that a process runs while its endpoint lives: they renew its lease, publish its changes and
//! receive those of the others.

use core::pin::pin;
use std::sync::{Arc, Weak};

use super::background::Failures;
use super::changes;
use crate::http::server::endpoint::HttpEndpoint;
use crate::http::server::processes::announcements::Announcer;
use crate::http::server::processes::this_process::{LEAVE, Processes};
use crate::runtime::{Either, Sleep, race, within};
use crate::server::jitter;

/// Starts the tasks of an endpoint. They end some time after it.
pub(in crate::http::server) fn start(endpoint: &Arc<HttpEndpoint>) {
    let Some(processes) = &endpoint.processes else {
        return;
    };
    let runtime = &processes.runtime;
    let weak = || (Arc::downgrade(endpoint), Arc::clone(processes));
    let (end, own) = weak();
    runtime.spawn(Box::pin(renew(end, own)));
    let (end, own) = weak();
    runtime.spawn(Box::pin(changes::receive(end, own)));
    let (end, own) = weak();
    let report = Arc::downgrade(&own);
    runtime.spawn(Box::pin(changes::publish(end, own)));
    endpoint
        .server
        .inner
        .on_announcement(Box::new(move |change| {
            if let Some(processes) = report.upgrade() {
                processes.outbox.report(change);
            }
        }));
}

/// Renews the lease until the endpoint is gone, or has been shut down and has no session left. Those whose calls
/// have no end, or which the store does not release, are left behind.
async fn renew(endpoint: Weak<HttpEndpoint>, processes: Arc<Processes>) {
    let mut failures = Failures::default();
    let _announcer = Announcer(&processes.announcements);
    let sessions = endpoint.upgrade().map(|alive| {
        let grace = alive.options.shutdown_timeout;
        (Arc::clone(&alive.sessions), grace)
    });
    let Some((sessions, grace)) = sessions else {
        return;
    };
    let released = async {
        processes.closing.wait().await;
        within(&processes.runtime, grace + LEAVE, sessions.emptied()).await
    };
    let mut left = pin!(race(released, processes.ended.wait()));
    while endpoint.strong_count() > 0 {
        let renewal = pin!(processes.renew());
        let Either::Right(renewed) = race(left.as_mut(), renewal).await else {
            break;
        };
        let wait = match &renewed {
            Ok(()) => processes.lease / 3,
            Err(_) => processes.lease / 10,
        };
        failures.note(renewed);
        let asked = pin!(processes.announcements.asked());
        let next = race(asked, Sleep::after(&processes.runtime, jitter(wait)));
        if let Either::Left(_) = race(left.as_mut(), next).await {
            break;
        }
    }
    // Others may take over what is left of its sessions at once.
    processes.withdraw().await;
}
