//! Sessions with servers: whose they are, and their bounds.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex};

use mcp_async::model::{CreateMessageParams, CreateMessageResult, ElicitResult};
use mcp_async::server::{Context, HandlerError, ServerBuilder};
use mcp_async::{Client, Revision, RevisionSet, Server};
use mcp_compose::{Proxy, ProxyBuilder, ProxyLimits, UpstreamState};

use super::{before, both, caller, entry, front, in_each_pair};
use crate::support::{only, pause, run, runtime, said, tools};

#[derive(Default)]
struct Calls(AtomicUsize);

/// A server that counts the calls of each session.
fn counting(revision: Revision) -> ServerBuilder {
    Server::builder("back", "1.0")
        .revisions(RevisionSet::of(&[revision]))
        .tool("count", "Counts", |(): (), cx: Context| async move {
            let calls = cx.session_state::<Calls>().expect("a session");
            Ok((calls.0.fetch_add(1, Ordering::SeqCst) + 1).to_string())
        })
}

fn proxy() -> ProxyBuilder {
    before(&counting(Revision::V2025_11_25), Revision::V2025_11_25)
}

/// A caller that declines what it is asked.
async fn declining(proxy: &Proxy) -> Client {
    let client = only(Revision::V2026_07_28);
    let client = client.on_elicitation(|_, _| async { Ok(ElicitResult::decline()) });
    caller(&front(proxy), client).await
}

async fn count(client: &Client) -> String {
    said(client, "count").await
}

#[test]
fn a_session_that_may_ask_belongs_to_one_legacy_caller() {
    run(async {
        let proxy = proxy().start(runtime()).await;
        let front = front(&proxy);
        let asked = || {
            only(Revision::V2025_06_18).on_elicitation(|_, _| async { Ok(ElicitResult::decline()) })
        };
        let (ada, bob) = (caller(&front, asked()).await, caller(&front, asked()).await);
        let (eve, joe) = (
            caller(&front, only(Revision::V2025_06_18)).await,
            caller(&front, only(Revision::V2026_07_28)).await,
        );
        assert_eq!(
            [count(&ada).await, count(&ada).await, count(&bob).await],
            ["1", "2", "1"]
        );
        // Those who cannot be asked share one.
        assert_eq!([count(&eve).await, count(&joe).await], ["1", "2"]);
        assert_eq!(proxy.in_use().0, 3);
        ada.close().await.expect("it closes");
        drop(ada);
        bob.ping().await.expect("it is alive");
        pause(1).await;
        assert_eq!(proxy.in_use().0, 2);
    });
}

#[test]
fn sessions_are_bounded() {
    run(async {
        let mut limits = ProxyLimits::default();
        (limits.sessions, limits.sessions_per_caller) = (4, 2);
        let proxy = proxy().limits(limits).start(runtime()).await;
        let front = front(&proxy);
        let asked = || {
            only(Revision::V2025_06_18).on_elicitation(|_, _| async { Ok(ElicitResult::decline()) })
        };
        let mut callers = Vec::new();
        for _ in 0..4 {
            callers.push(caller(&front, asked()).await);
        }
        let mut counts = Vec::new();
        for caller in &callers {
            counts.push(count(caller).await);
        }
        // The session of the lists is the proxy's own.
        assert_eq!(counts[..2], ["1", "1"]);
        assert!(counts[2].contains("too many sessions"), "{counts:?}");
        // A place is free again with the end of its caller.
        callers[0].close().await.expect("it closes");
        callers.remove(0);
        pause(1).await;
        assert_eq!(count(&callers[1]).await, "1");
    });
}

#[test]
fn idle_sessions_end() {
    run(async {
        let mut limits = ProxyLimits::default();
        limits.idle = Duration::from_secs(60);
        let proxy = proxy().limits(limits).start(runtime()).await;
        let client = declining(&proxy).await;
        assert_eq!([count(&client).await, count(&client).await], ["1", "2"]);
        assert_eq!(proxy.in_use().0, 2);
        pause(100).await;
        assert_eq!(proxy.in_use().0, 1);
        assert_eq!(count(&client).await, "1");
    });
}

#[test]
fn an_idle_time_of_nothing_is_one_too() {
    run(async {
        let mut limits = ProxyLimits::default();
        limits.idle = Duration::ZERO;
        let proxy = proxy().limits(limits).start(runtime()).await;
        let client = declining(&proxy).await;
        assert_eq!(count(&client).await, "1");
        pause(1).await;
        assert_eq!(count(&client).await, "1");
    });
}

/// A server whose tool says this, and the settings of a caller that it may ask.
fn saying(word: &'static str, revision: Revision) -> ServerBuilder {
    Server::builder("back", "1.0")
        .revisions(RevisionSet::of(&[revision]))
        .tool("say", "Says a word", move |(): (), _: Context| async move {
            Ok(word)
        })
        .tool("wait", "Waits", |(): (), _: Context| {
            core::future::pending::<Result<(), HandlerError>>()
        })
}

async fn say(client: &Client) -> String {
    said(client, "back__say").await
}

#[test]
fn the_end_of_the_proxy_ends_all_sessions() {
    in_each_pair(|upstream, revision| async move {
        let proxy = Proxy::builder().entry(entry("back", &saying("one", upstream)));
        let proxy = proxy.start(runtime()).await;
        let front = front(&proxy);
        let silent = caller(&front, only(revision)).await;
        let asked = only(revision).on_sampling(|_: CreateMessageParams, _| async {
            Ok(CreateMessageResult::new("model", "two"))
        });
        let asked = caller(&front, asked).await;
        assert_eq!([say(&silent).await, say(&asked).await], ["one", "one"]);
        assert_eq!(proxy.in_use().0, 2);
        proxy.close().await;
        pause(1).await;
        assert_eq!(proxy.in_use().0, 0, "{upstream} {revision}");
        assert!(say(&asked).await.contains("cannot be reached"));
        assert!(proxy.states().is_empty());
    });
}

#[test]
fn a_call_waits_for_a_session_that_others_have() {
    run(async {
        let mut limits = ProxyLimits::default();
        limits.sessions_per_caller = 3;
        let proxy = proxy().limits(limits).start(runtime()).await;
        let client = declining(&proxy).await;
        let answers = Arc::new(Mutex::new(Vec::new()));
        for _ in 0..20 {
            let (client, answers) = (client.clone(), Arc::clone(&answers));
            runtime().spawn(Box::pin(async move {
                let answer = count(&client).await;
                answers.lock().expect("no test panics with it").push(answer);
            }));
        }
        pause(5).await;
        let answers = answers.lock().expect("no test panics with it");
        let all: Vec<usize> = answers.iter().filter_map(|it| it.parse().ok()).collect();
        assert_eq!(all.len(), 20, "{answers:?}");
        assert_eq!(proxy.in_use().0, 4);
    });
}

/// No caller stays with a server that was removed, or that another has replaced.
#[test]
fn the_sessions_with_a_server_end_with_it() {
    in_each_pair(|upstream, revision| async move {
        let proxy = Proxy::builder().entry(entry("back", &saying("one", upstream)));
        let proxy = proxy.start(runtime()).await;
        let asked = only(revision).on_sampling(|_: CreateMessageParams, _| async {
            Ok(CreateMessageResult::new("model", "two"))
        });
        let client = caller(&front(&proxy), asked).await;
        assert_eq!(say(&client).await, "one");
        let waiting = async { client.call_tool("back__wait", &()).await };
        let replacing = async {
            pause(1).await;
            proxy.add(entry("back", &saying("two", upstream))).await;
        };
        let (failed, ()) = both(waiting, replacing).await;
        let failed = failed.expect_err("its server is gone").to_string();
        assert!(failed.contains("the request may have run"), "{failed}");
        assert_eq!(say(&client).await, "two", "{upstream} {revision}");
        assert!(proxy.remove("back"));
        pause(1).await;
        assert_eq!(proxy.in_use().0, 0, "{upstream} {revision}");
    });
}

/// However many servers there are, and whatever callers use up.
#[test]
fn sessions_for_lists_are_no_callers() {
    run(async {
        let many = (0..40).map(|at| entry(&format!("s{at}"), &counting(Revision::V2025_11_25)));
        let mut limits = ProxyLimits::default();
        (limits.sessions, limits.sessions_per_caller) = (41, 1);
        let proxy = Proxy::builder().entries(many).limits(limits);
        let proxy = proxy.start(runtime()).await;
        let states = proxy.states();
        assert!(
            states
                .iter()
                .all(|(_, state)| *state == UpstreamState::Ready),
            "{states:?}"
        );
        let asked = only(Revision::V2025_06_18)
            .on_elicitation(|_, _| async { Ok(ElicitResult::decline()) });
        let client = caller(&front(&proxy), asked).await;
        let [first, second] = ["s0__count", "s1__count"];
        assert!(client.call_tool(first, &()).await.is_ok());
        assert!(client.call_tool(second, &()).await.is_err());
        proxy
            .add(entry("late", &counting(Revision::V2025_11_25)))
            .await;
        let added = proxy.states().pop().expect("a server");
        assert_eq!(added.1, UpstreamState::Ready);
    });
}

/// A caller of 2026-07-28 can declare other capabilities with each request, for each of which a session is shared.
#[test]
fn shared_sessions_are_started_at_a_rate_and_end_when_they_are_idle() {
    run(async {
        let mut limits = ProxyLimits::default();
        (limits.sessions_per_caller, limits.starts_per_minute) = (1, 3);
        limits.idle = Duration::from_secs(600);
        let server = tools(&["count"]).revisions(RevisionSet::of(&[Revision::V2026_07_28]));
        let many = (0..5).map(|at| entry(&format!("s{at}"), &server));
        let proxy = Proxy::builder().entries(many).limits(limits);
        let proxy = proxy.start(runtime()).await;
        let client = declining(&proxy).await;
        let mut counts = Vec::new();
        for at in 0..5 {
            let tool = format!("s{at}__count");
            counts.push(
                client
                    .call_tool(&tool, &())
                    .await
                    .map(|result| result.text()),
            );
        }
        assert!(counts[..3].iter().all(Result::is_ok), "{counts:?}");
        assert!(counts[3..].iter().all(Result::is_err), "{counts:?}");
        assert_eq!(proxy.in_use().0, 8);
        pause(61).await;
        assert!(client.call_tool("s3__count", &()).await.is_ok());
        pause(1_000).await;
        assert_eq!(proxy.in_use().0, 5);
        assert!(client.call_tool("s0__count", &()).await.is_ok());
    });
}

#[test]
fn a_server_without_calls_rests_until_the_next_one() {
    for upstream in [Revision::V2025_11_25, Revision::V2026_07_28] {
        run(async {
            let mut limits = ProxyLimits::default();
            (limits.idle, limits.held_time) = (Duration::from_secs(60), Duration::from_secs(60));
            let proxy = Proxy::builder()
                .entry(entry("back", &saying("one", upstream)))
                .limits(limits)
                .end_idle_servers(true)
                .start(runtime())
                .await;
            let client = caller(&front(&proxy), only(Revision::V2025_11_25)).await;
            assert_eq!(say(&client).await, "one");
            for _ in 0..5 {
                pause(40).await;
                assert_eq!(say(&client).await, "one");
                assert_eq!(proxy.in_use().0, 1);
            }
            pause(200).await;
            assert_eq!(proxy.in_use().0, 0);
            assert_eq!(proxy.states()[0].1, UpstreamState::Resting);
            let tools = client.tools().all().await.expect("it lists");
            assert!(
                tools.iter().any(|tool| tool.name == "back__say"),
                "{tools:?}"
            );
            assert_eq!(say(&client).await, "one", "{upstream}");
            assert_eq!(proxy.states()[0].1, UpstreamState::Ready);
            pause(200).await;
            assert!(proxy.remove("back"));
            assert_eq!(proxy.in_use().0, 0);
        });
    }
}
