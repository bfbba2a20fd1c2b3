//! The rates at which callers send.

use core::net::IpAddr;
use core::time::Duration;

use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER};
use http::request::Parts;
use mcp_proto::Instant;
use mcp_proto::rpc::code;

use super::HttpEndpoint;
use crate::http::server::messages::answer::{self, Answer};
use crate::http::server::processes::Forwarded;
use crate::server::{Buckets, RateLimit};
use crate::shares::CallerId;

/// The remaining messages of each caller.
#[derive(Default)]
pub(super) struct RequestRates {
    shards: [Buckets<CallerId>; SHARDS],
}

impl RequestRates {
    /// Takes so many messages of this caller, or returns the time until it may send them.
    fn take(
        &self,
        caller: CallerId,
        limit: RateLimit,
        messages: usize,
        now: Instant,
    ) -> Result<(), Duration> {
        let messages = u32::try_from(messages).unwrap_or(u32::MAX);
        let last = match &caller {
            CallerId::Principal(name) => name.bytes().next_back(),
            CallerId::Address(IpAddr::V4(address)) => address.octets().last().copied(),
            // The last byte of the network.
            CallerId::Address(IpAddr::V6(address)) => address.octets().get(7).copied(),
        };
        let [first, ..] = &self.shards;
        let shard = usize::from(last.unwrap_or_default()) % SHARDS;
        let shard = self.shards.get(shard).unwrap_or(first);
        shard.take(caller, limit, messages, now)
    }
}

impl HttpEndpoint {
    /// Counts messages of the sender of a request; the refusal if there are too many of them. Those that another process has
    /// forwarded were counted there, and a sender without a principal and an address is not known again.
    pub(in crate::http::server) fn count_messages(
        &self,
        parts: &Parts,
        caller: Option<&CallerId>,
        messages: usize,
    ) -> Option<Answer> {
        let limit = self.options.rate_limit?;
        let is_forwarded =
            self.processes.is_some() && parts.extensions.get::<Forwarded>().is_some();
        if messages == 0 || is_forwarded {
            return None;
        }
        let (caller, now) = (caller?.clone(), self.runtime.now());
        let taken = self.request_rates.take(caller, limit, messages, now);
        taken.err().map(too_many)
    }
}

/// The refusal of what may be sent again after this time.
fn too_many(after: Duration) -> Answer {
    let text = "limit reached: requests of one caller";
    let mut answer = answer::error(StatusCode::TOO_MANY_REQUESTS, code::INTERNAL_ERROR, text);
    let seconds = after.as_millis().div_ceil(1_000).max(1);
    if let Ok(seconds) = HeaderValue::try_from(seconds.to_string()) {
        answer.headers_mut().insert(RETRY_AFTER, seconds);
    }
    answer
}

/// Threads rarely wait for each other.
const SHARDS: usize = 8;
