//! `ping`: whether the server is there.

use std::time::Instant;

use crate::exit::Failure;
use crate::json::Members;
use crate::out;
use crate::session::Session;
use mcp_tokio::json::RawBuf;

/// Asks so often whether the server is there, and says how long each answer takes.
pub(crate) async fn run(session: &Session<'_>, count: u32) -> Result<(), Failure> {
    let mut times = Vec::new();
    for _ in 0..count {
        let asked = Instant::now();
        session.wait(session.client.ping()).await?;
        let milliseconds = asked.elapsed().as_secs_f64() * 1000.0;
        if !session.common.json {
            out::text(&format!("answered in {milliseconds:.2} ms"))?;
        }
        times.push(milliseconds);
    }
    if session.common.json {
        let mut document = Members::default();
        document.put("milliseconds", RawBuf::encode(&times).unwrap_or_default());
        out::document(&document.object().unwrap_or_default())?;
    }
    Ok(())
}
