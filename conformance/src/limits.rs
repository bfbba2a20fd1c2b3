//! The default limits, for drivers that probe them.

use mcp_proto::{Limits, http};

/// One line of JSON; sizes in bytes, times in milliseconds.
pub(crate) fn line() -> String {
    // Without a rest pattern, so that a new limit is not forgotten here.
    let Limits {
        message,
        depth,
        in_flight,
        batch,
        batch_bytes,
        subscription_bytes,
        subscriptions,
        output,
    } = Limits::default();
    let http::HttpLimits {
        body,
        sessions,
        session_idle,
        head,
    } = http::HttpLimits::default();
    let rows = [
        ("max_message", message as u128),
        ("max_body", body as u128),
        ("max_depth", depth.into()),
        ("max_in_flight", in_flight as u128),
        ("max_sessions", sessions as u128),
        ("max_batch", batch as u128),
        ("max_batch_bytes", batch_bytes as u128),
        ("max_subscription_bytes", subscription_bytes as u128),
        ("max_subscriptions", subscriptions as u128),
        ("max_output", output as u128),
        ("session_idle_ms", session_idle.as_millis()),
        ("head_ms", head.as_millis()),
    ];
    let members: Vec<String> = rows
        .into_iter()
        .map(|(name, value)| format!("\"{name}\": {value}"))
        .collect();
    format!("{{{}}}", members.join(", "))
}
