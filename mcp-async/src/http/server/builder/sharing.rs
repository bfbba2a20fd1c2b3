//! The settings of an endpoint whose sessions several processes share.

use core::time::Duration;
use std::sync::Arc;

use http::Uri;
use http::header::{self, HeaderName};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Http;
use crate::http::server::endpoint::sessions::mint;
use crate::http::server::processes::sharing::{Means, ProcessSettings};
use crate::http::{Forward, SessionStore};
use crate::server::RegisterError;
use crate::server::serving::Server;

impl Http {
    /// Shares the legacy sessions with the other processes of this server, through a store that all
    /// of them reach, so that a balancer needs no affinity. `forward` forwards requests for a
    /// session that another live process owns to that process.
    ///
    /// The others need the URL at which they [reach](Self::reached_at) this process, and all of
    /// them the same [keys](crate::server::ServerBuilder::state_keys), because they sign their
    /// messages to each other. The sender of a forwarded request is the one that was verified where
    /// it arrived: the owner receives all that its token states, or the name of the
    /// [`Principal`](crate::server::Principal) and its [shared claims](Self::share_claims). No token,
    /// cookie or proof is forwarded, so `keep_tokens` is a mistake; of the other fields, the owner
    /// receives those of the protocol, of traces, and those that
    /// [`forward_headers`](Self::forward_headers) names. Values that a layer put into the
    /// extensions of the request stay where it arrived, and the URL has to lead past a layer that
    /// demands credentials. Write access to the store is enough to end sessions, and to read the
    /// messages of clients in both directions; it is not enough to act as a client.
    ///
    /// Sessions of [`legacy_sse`](Self::legacy_sse) are not shared.
    pub fn share_with(mut self, store: impl SessionStore + 'static, forward: impl Forward) -> Self {
        self.sharing.means = Some(Means {
            store: Arc::new(store),
            forward: Arc::new(forward),
        });
        self
    }

    /// Sets the URL at which the other processes of a [shared](Self::share) endpoint reach this one:
    /// `https://10.0.0.5:8000/mcp`, with the path of the endpoint. Between hosts it should be `https`.
    pub fn reached_at(mut self, url: impl Into<String>) -> Self {
        self.sharing.url = Some(url.into());
        self
    }

    /// Lets the owner of a [shared](Self::share) session receive these fields of a forwarded request, too.
    /// Fields that hold credentials are a mistake.
    pub fn forward_headers(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        for name in names {
            if CREDENTIALS.contains(&name) {
                let reason = format_args!("`{name}` holds credentials");
                let mistake = RegisterError::setting("forward_headers", &reason);
                self.mistakes.push(mistake);
            }
            self.sharing.headers.push(name);
        }
        self
    }

    /// Lets the owner of a [shared](Self::share) session receive the claims of this type that
    /// [`authenticate`](Self::authenticate), or a layer in front of the service, has put into the
    /// [`Principal`](crate::server::Principal). They travel under this name, by which a process refuses requests
    /// with claims that it does not know: a program that shares further claims is deployed to all processes
    /// before one of them has such principals. A name that is taken is a mistake. Claims that are not shared
    /// are missing at the owner; the first principal that has such claims is a warning in the log.
    pub fn share_claims<T>(mut self, name: &'static str) -> Self
    where
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        if self.sharing.has_claims(name) {
            let reason = format!("{name:?} is shared already");
            let mistake = RegisterError::setting("share_claims", &reason);
            self.mistakes.push(mistake);
        }
        self.sharing.add_claims::<T>(name);
        self
    }

    /// Sets how long the other processes of a [shared](Self::share) endpoint take this process for alive after
    /// it has said so to the store, which it does three times in that time; 15 seconds otherwise. When it is
    /// over, other processes take over the sessions of this process as soon as their clients send
    /// something, and this process serves none of them before it has asked the store.
    ///
    /// A shorter lease makes a killed process be followed sooner. It should be at least six times as long
    /// as one call of the store may take. A lease of less than one second is a mistake.
    pub fn lease(mut self, lease: Duration) -> Self {
        if lease < MIN_LEASE {
            let reason = "it is shorter than one second";
            self.mistakes.push(RegisterError::setting("lease", &reason));
        }
        self.options.lease = lease;
        self
    }

    /// Returns the settings of an endpoint that shares its sessions, and notes what it lacks.
    pub(super) fn check_sharing(&mut self, server: &Server) -> Option<ProcessSettings> {
        let mut mistake = |reason: &str| {
            let mistake = RegisterError::setting("share", &reason);
            self.mistakes.push(mistake);
        };
        let Some(means) = &self.sharing.means else {
            if self.sharing.is_used() || self.processes.is_some() {
                mistake("without a store, settings for several processes have no effect");
            }
            return None;
        };
        if self.processes.is_some() {
            mistake("`processes_on` has an effect with `serve` only: `reached_at`");
        }
        let keys = server.sealed_with();
        if keys.is_none() {
            mistake("the processes need the same keys: `state_keys` of the server");
        }
        let url = self.sharing.url.as_deref();
        let reason = match url {
            None => "the other processes need the URL of this one: `reached_at`",
            Some(_) => "`reached_at` is no URL with `http` or `https`",
        };
        let url = url.and_then(process_url);
        if url.is_none() {
            mistake(reason);
        }
        let name = mint();
        if name.is_none() {
            mistake("the operating system has no random numbers");
        }
        #[cfg(feature = "auth")]
        if self
            .options
            .guard
            .as_ref()
            .is_some_and(|guard| guard.keeps_tokens)
        {
            mistake(
                "`keep_tokens` cannot be shared: tokens stay in the process that they arrive at",
            );
        }
        Some(self.sharing.shared(means, name?, url?, keys?))
    }
}

fn process_url(url: &str) -> Option<Uri> {
    let uri = url.parse::<Uri>().ok()?;
    let is_whole = uri.host().is_some() && matches!(uri.scheme_str(), Some("http" | "https"));
    is_whole.then_some(uri)
}

/// Fields that no process forwards.
const CREDENTIALS: [HeaderName; 4] = [
    header::AUTHORIZATION,
    header::COOKIE,
    header::PROXY_AUTHORIZATION,
    HeaderName::from_static("dpop"),
];

/// The shortest lease of a process.
const MIN_LEASE: Duration = Duration::from_secs(1);
