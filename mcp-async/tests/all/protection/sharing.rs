//! Protected servers of several processes that share a store: see the table in `pairs`.

#[path = "../../adapter/pairs.rs"]
mod pairs;

use core::time::Duration;

use http::HeaderValue;
use http::request::Parts;
use mcp_async::http::{AccessError, Http, HttpService, LocalForward, MemoryStore};
use mcp_async::runtime::Runtime as _;
use mcp_async::server::{Principal, StateKeys};
use mcp_async::tasks::store::MemoryTaskStore;

use crate::protection::support::{protection, server};
use crate::scripted::{HttpClient, Serve};
use crate::sim::{self, Sim, advance, now};
use crate::texts::has;

/// AU-17, SH-43
#[test]
fn verified_senders_are_known_at_every_process() {
    now(pairs::check(
        Sim,
        MemoryStore::default(),
        MemoryTaskStore::new(),
    ));
    sim::end();
}

/// Two processes with these settings, which share a store.
pub(super) fn processes(set: impl Fn(Http, usize) -> Http) -> [HttpService; 2] {
    let store = MemoryStore::default().clock(|| Sim.now());
    let forward = LocalForward::default();
    core::array::from_fn(|index| {
        let url = format!("http://process-{index}/mcp");
        let server = server().state_keys(StateKeys::new([7; 32]));
        let http = server.http().share_with(store.clone(), forward.clone());
        let service = set(http.reached_at(&url), index).served();
        forward.insert(url, &service);
        sim::settle();
        service
    })
}

/// AU-17: also if the stream passes through another process.
#[test]
fn a_forwarded_stream_ends_when_its_token_expires() {
    let [first, second] = processes(|http, _| http.protect(protection()));
    let here = HttpClient::signed(&first, "2025-11-25", "ada/mcp/600");
    let there = here.with_token("ada/mcp/-30").at(&second);
    let mut stream = there.get(None);
    assert_eq!(stream.status, 200);
    let pass = |seconds| (0..seconds).for_each(|_| advance(Duration::from_secs(1)));
    pass(20);
    assert!(!stream.has_ended());
    pass(11);
    assert!(stream.has_ended());
    assert_eq!(here.call("who").status, 200);
    sim::end();
}

/// A request of a process whose claims this one cannot read is a mistake of the operator.
#[test]
fn a_forwarded_request_that_is_refused_is_a_warning() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Tenant(u8);

    let notes = crate::connection::spans::Notes::default();
    notes.watch(|| {
        let [first, second] = processes(|http, index| {
            let http = match index {
                0 => http,
                _ => http.share_claims::<Tenant>("tenant"),
            };
            http.authenticate(|head: &Parts| {
                let sent = head.headers.get("authorization");
                let is_known = sent.is_some_and(|sent| sent != "Bearer new");
                let refusal = || AccessError::unauthorized(HeaderValue::from_static("Bearer"));
                let ada = Principal::new("ada").with_claims(Tenant(1));
                let known = is_known.then_some(ada).ok_or_else(refusal);
                async move { known }
            })
        });
        let here = HttpClient::signed(&first, "2025-11-25", "old");
        notes.take();
        assert_eq!(here.with_token("new").call("who").status, 401);
        let seen = notes.take().join("\n");
        assert!(!seen.contains("WARN"), "a client may be refused: {seen}");
        assert_eq!(here.at(&second).call("who").status, 503);
    });
    let seen = notes.take().join("\n");
    let expected = "its head cannot be read";
    has(&seen, ["WARN", expected]);
    sim::end();
}
