//! The status of an endpoint, for operators.

use core::time::Duration;

use crate::http::server::HttpService;

/// The readiness of an endpoint for requests, for the check of a balancer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Readiness {
    /// It serves.
    Ready,
    /// It [shuts down](HttpService::shutdown): new requests are refused.
    Draining,
    /// Its lease may be over, because the store does not answer: sessions that are
    /// [shared](crate::http::server::Http::share) are refused. Requests of 2026-07-28 are served.
    StoreUnreachable,
}

/// The state of an endpoint, and what it has done since it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpStatus {
    /// The readiness of the endpoint for requests.
    pub readiness: Readiness,
    /// Legacy sessions in this process.
    pub sessions: usize,
    /// Requests of 2026-07-28 that have not been answered at once and run, subscriptions included.
    pub exchanges: usize,
    /// Tasks that run in this process, and other [work in the background](crate::server::Background).
    pub tasks: usize,
    /// Calls that might have become tasks and ran in their exchange, because a limit of tasks was reached.
    pub kept_in_exchange: u64,
    /// Sessions that were taken over from other processes.
    pub takeovers: u64,
    /// Sessions that other processes have taken over or ended.
    pub displaced: u64,
    /// Requests that were forwarded to other processes.
    pub forwarded: u64,
    /// Requests that other processes have forwarded to this one.
    pub received: u64,
    /// The time that the store took to renew the lease last; `None` before the first time, or
    /// without a store.
    pub store_latency: Option<Duration>,
}

impl HttpService {
    /// Returns the state of the endpoint. A program that [serves](crate::http::server::Http::serve) has the service by
    /// [`with_service`](crate::http::server::Http::with_service).
    ///
    /// ```
    /// use mcp_async::http::{HttpService, Readiness};
    ///
    /// /// For the check of a balancer.
    /// fn status_code(service: &HttpService) -> u16 {
    ///     match service.status().readiness {
    ///         Readiness::Ready => 200,
    ///         _ => 503,
    ///     }
    /// }
    /// ```
    pub fn status(&self) -> HttpStatus {
        self.endpoint.status()
    }
}
