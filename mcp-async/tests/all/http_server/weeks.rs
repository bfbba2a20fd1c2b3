//! A server that runs for long, on a clock that is not real.

use core::time::Duration;

use allocation_counter::measure;
use mcp_async::http::HttpService;

use crate::http_server::legacy::server;
use crate::scripted::{HttpClient, Reply, Serve, call, modern, modern_message, send};
use crate::sim::{advance, end};

/// An hour of clients that come and go in all ways, beside a session that stays.
fn hour(service: &HttpService, staying: &HttpClient, stream: &mut Reply) {
    let ended = HttpClient::open(service, "2025-11-25");
    assert_eq!(ended.post(&call(1, "echo")).status, 200);
    assert_eq!(ended.delete().status, 204);

    let left = HttpClient::open(service, "2025-06-18");
    assert_eq!(left.post(&call(1, "echo")).status, 200);

    let broken = HttpClient::open(service, "2025-11-25");
    let streams = [broken.get(None), broken.post(&call(1, "slow"))];
    assert!(streams.iter().all(|reply| reply.status == 200));
    drop(streams);

    let text = modern_message(r#"1 tools/call {"name":"echo","arguments":{}}"#);
    assert_eq!(send(service, modern(&text)).status, 200);

    assert_eq!(staying.post(&call(1, "echo")).status, 200);
    assert!(!stream.has_ended());
    let _comments = stream.text();
    advance(Duration::from_secs(3600));
}

#[test]
fn a_week_of_sessions_leaves_no_memory_behind() {
    let http = server().http().idle_timeout(Duration::from_secs(1800));
    let service = http.served();
    let staying = HttpClient::open(&service, "2025-11-25");
    let mut stream = staying.get(None);
    let mut days = |count| (0..24 * count).for_each(|_| hour(&service, &staying, &mut stream));
    // Tables and queues grow.
    days(1);
    let rest = measure(|| days(6));
    assert!(rest.count_total > 0);
    assert_eq!(rest.bytes_current, 0);
    end();
}
