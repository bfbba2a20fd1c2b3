//! Peers that read a call.

use mcp_benches::calls::{CallPeer, Said};
use serde::Deserialize;

/// `serde_json::from_slice` into types for this one call, as a program would write it by hand.
pub struct SerdeJson;

#[derive(Deserialize)]
struct Call<'m> {
    jsonrpc: &'m str,
    #[serde(rename = "id")]
    _id: u64,
    method: &'m str,
    params: Params<'m>,
}

#[derive(Deserialize)]
struct Params<'m> {
    name: &'m str,
    arguments: Said,
}

impl CallPeer for SerdeJson {
    const NAME: &'static str = "serde_json";

    fn arguments(message: &[u8]) -> Option<Said> {
        let call: Call<'_> = serde_json::from_slice(message).ok()?;
        let is_echo =
            call.jsonrpc == "2.0" && call.method == "tools/call" && call.params.name == "echo";
        is_echo.then_some(call.params.arguments)
    }
}
