//! The tasks that a process runs while its endpoint lives: they renew its lease, publish its changes and
//! receive those of the others.

use core::pin::pin;
use std::sync::{Arc, Weak};

use super::super::endpoint::HttpEndpoint;
use super::announcements::Announcer;
use super::background::Failures;
use super::changes;
use super::this_process::{LEAVE, Processes};
use crate::net::time::{Either, RuntimeSleep, race, timeout};
use crate::runtime::Runtime;
use crate::server::jitter;

/// Starts the tasks of an endpoint. They end some time after it.
pub(in crate::http::server) fn start<R: Runtime>(endpoint: &Arc<HttpEndpoint<R>>) {
    let Some(processes) = &endpoint.processes else {
        return;
    };
    let weak = || (Arc::downgrade(endpoint), Arc::clone(processes));
    let (end, processes) = weak();
    R::spawn(Box::pin(renew(end, processes)));
    let (end, processes) = weak();
    R::spawn(Box::pin(changes::receive(end, processes)));
    let (end, processes) = weak();
    let report = Arc::downgrade(&processes);
    R::spawn(Box::pin(changes::publish(end, processes)));
    endpoint.server.on_announcement(Box::new(move |change| {
        if let Some(processes) = report.upgrade() {
            processes.outbox.report(change);
        }
    }));
}

/// Renews the lease until the endpoint is gone, or has been shut down and has no session left. Those whose calls
/// have no end, or which the store does not release, are left behind.
async fn renew<R: Runtime>(endpoint: Weak<HttpEndpoint<R>>, processes: Arc<Processes>) {
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
        timeout::<R, _>(grace + LEAVE, sessions.emptied()).await
    };
    let mut left = pin!(race(released, processes.ended.wait()));
    while endpoint.strong_count() > 0 {
        let renewal = pin!(processes.renew::<R>());
        let Either::Right(renewed) = race(left.as_mut(), renewal).await else {
            break;
        };
        let wait = match &renewed {
            Ok(()) => processes.lease / 3,
            Err(_) => processes.lease / 10,
        };
        failures.note(renewed);
        let asked = pin!(processes.announcements.asked());
        let next = race(asked, RuntimeSleep::<R>::after(jitter(wait)));
        if let Either::Left(_) = race(left.as_mut(), next).await {
            break;
        }
    }
    // Others may take over what is left of its sessions at once.
    processes.withdraw::<R>().await;
}
