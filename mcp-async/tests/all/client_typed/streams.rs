//! What comes unasked: logs, notifications, subscriptions.

use mcp_async::in_memory;

use mcp_async::Client;
use mcp_async::client::{CallError, ListenFilter, Update};
use mcp_async::model::{LoggingLevel, SubscriptionFilter};
use mcp_proto::Revision;

use crate::client_typed::support::{Seen, each, join, only, poll_once, run};
use crate::scripted::{LinePeer, acknowledged, line_server, message, tools_changed};
use crate::server_typed::support::Offer as _;
use crate::sim::{Sim, begin, settle};

#[test]
fn logs_are_a_stream_from_the_level_on() {
    each(|demo, revision| async move {
        let client = join(&demo.server, revision).await;
        let mut logs = client.logs();
        client.set_log_level(LoggingLevel::Warning).await.unwrap();
        client.call_tool("logs", &()).await.unwrap();
        client.set_log_level(LoggingLevel::Debug).await.unwrap();
        client.call_tool("logs", &()).await.unwrap();
        client.close().await.unwrap();
        let mut heard = Vec::new();
        while let Some(message) = logs.next().await {
            assert_eq!(message.logger.as_deref(), Some("demo"));
            heard.push(message.data.decode::<String>().unwrap());
        }
        assert_eq!(heard, ["loud", "quiet", "loud"], "{revision}");
        assert_eq!(logs.dropped(), 0);
    });
}

#[test]
fn one_call_may_ask_for_logs() {
    each(|demo, revision| async move {
        let seen = Seen::default();
        let heard = seen.clone();
        let client = only(revision)
            .on_log(move |message| heard.note(message.level.as_str()))
            .connect(in_memory(Sim.into(), &demo.server.server()))
            .await
            .unwrap();
        let call = client.call_tool("logs", &());
        call.with_logs(LoggingLevel::Error).await.unwrap();
        let heard = seen.take();
        match revision {
            Revision::V2026_07_28 => assert_eq!(heard, ["error"]),
            // LG-03: a legacy server that was not told a level sends what it likes.
            _ => assert!(heard.contains(&"error".to_owned()), "{revision}"),
        }
    });
}

#[test]
fn a_reader_that_is_slow_loses_the_oldest() {
    each(|demo, revision| async move {
        let client = join(&demo.server, revision).await;
        let mut logs = client.logs();
        client.set_log_level(LoggingLevel::Error).await.unwrap();
        for _ in 0..1030 {
            client.call_tool("logs", &()).await.unwrap();
        }
        assert_eq!(logs.dropped(), 6, "{revision}");
        assert!(logs.next().await.is_some());
    });
}

#[test]
fn a_resource_is_listened_to_until_the_stream_is_dropped() {
    each(|demo, revision| async move {
        let server = demo.server.change_notifications().build().unwrap();
        let registry = server.registry();
        let seen = Seen::default();
        let heard = seen.clone();
        let client = only(revision)
            .on_notification(move |notification| heard.note(notification.method.to_string()))
            .connect(in_memory(Sim.into(), &server))
            .await
            .unwrap();
        let update = || {
            registry.resource_updated("note://1");
            registry.resource_updated("note://2");
            settle();
            seen.take().len()
        };
        assert_eq!(update(), 0, "{revision}");
        let mut first = client.subscribe("note://1").await.unwrap();
        let second = client.subscribe("note://1").await.unwrap();
        assert!(update() > 0, "{revision}");
        assert_eq!(
            first.next().await,
            Some(Update::Resource("note://1".into()))
        );
        // The other one still needs it.
        drop(second);
        settle();
        assert_eq!(update(), 1, "{revision}");
        assert_eq!(
            first.next().await,
            Some(Update::Resource("note://1".into()))
        );
        drop(first);
        settle();
        assert_eq!(update(), 0, "the server was told, {revision}");
    });
}

/// SB-05.
#[test]
fn lists_are_listened_to_as_far_as_the_server_tells() {
    each(|demo, revision| async move {
        let server = demo.server.change_notifications().build().unwrap();
        let registry = server.registry();
        let client = join(&server, revision).await;
        let filter = SubscriptionFilter {
            tools_list_changed: true,
            ..SubscriptionFilter::default()
        };
        let mut tools = client.listen(filter.clone()).await.unwrap();
        assert_eq!(*tools.honoured(), filter, "{revision}");
        let mut all = client.changes().await.unwrap();
        registry.remove_prompt("greet");
        registry.remove_tool("echo");
        settle();
        assert_eq!(tools.next().await, Some(Update::Tools), "{revision}");
        let both = [all.next().await.unwrap(), all.next().await.unwrap()];
        assert!(both.contains(&Update::Prompts) && both.contains(&Update::Tools));
        client.close().await.unwrap();
        assert_eq!(tools.next().await, None, "{revision}");
        assert_eq!(all.next().await, None);
        let late = client.subscribe("note://1").await;
        assert!(matches!(late, Err(CallError::Closed)), "{late:?}");
    });
}

/// A server that declares no notifications is not asked for any.
#[test]
fn what_no_server_tells_is_not_asked_for() {
    each(|demo, revision| async move {
        let client = join(&demo.server, revision).await;
        let mut changes = client.changes().await.unwrap();
        assert_eq!(*changes.honoured(), SubscriptionFilter::default());
        assert!(poll_once(core::pin::pin!(changes.next())).is_pending());
        let resource = client.subscribe("note://1").await;
        assert!(
            matches!(
                resource,
                Err(CallError::MissingCapability("resources.subscribe"))
            ),
            "{resource:?} in {revision}"
        );
        client.close().await.unwrap();
        assert_eq!(changes.next().await, None, "{revision}");
    });
    let (client, mut lines) = discovered(r#"{"tools":{}}"#);
    let _changes = run(client.changes()).unwrap();
    assert!(run(client.subscribe("note://1")).is_err());
    assert_eq!(lines.read(), "");
    // What an extension adds is its own.
    let filter = ListenFilter::default().member("com.example/rooms", &["kitchen"]);
    let _rooms = begin(client.listen(filter.unwrap()));
    assert!(lines.read().contains("com.example/rooms"));
}

/// What a legacy server tells directly after the handshake, before anything listens.
#[test]
fn changes_before_the_first_subscription_are_told() {
    let (client, mut lines) = opened(r#"{"tools":{"listChanged":true}}"#);
    for list in ["tools", "prompts", "tools", "tools"] {
        lines.send(&changed(list));
    }
    let mut tools = run(client.listen(tools_and(&[]))).unwrap();
    assert_eq!(run(tools.next()), Some(Update::Tools));
    assert!(
        poll_once(core::pin::pin!(tools.next())).is_pending(),
        "once"
    );
    let mut all = run(client.changes()).unwrap();
    assert_eq!(run(all.next()), Some(Update::Prompts));
    assert!(
        poll_once(core::pin::pin!(all.next())).is_pending(),
        "it was told"
    );
}

/// Changes of lists before and during subscriptions that cannot begin, or whose caller gives up.
#[test]
fn changes_outlive_a_subscription_that_fails() {
    let (client, mut lines) =
        opened(r#"{"tools":{"listChanged":true},"resources":{"subscribe":true}}"#);
    for is_told_before in [true, false] {
        for is_answered in [true, false] {
            if is_told_before {
                lines.send(&changed("tools"));
            }
            let failing = begin(client.listen(tools_and(&["note://1"])));
            let asked = lines.read();
            assert!(asked.contains("resources/subscribe"), "{asked}");
            if !is_told_before {
                lines.send(&changed("tools"));
            }
            if is_answered {
                let id = asked.split("\"id\":").nth(1).unwrap();
                let id = &id[..id.find([',', '}']).unwrap()];
                let refused = format!("{id} ! -32603 no");
                lines.send(&refused);
                let failed = run(failing);
                assert!(matches!(failed, Err(CallError::Server(_))), "{failed:?}");
            } else {
                drop(failing);
            }
            lines.read();
            let mut tools = run(client.listen(tools_and(&[]))).unwrap();
            assert_eq!(run(tools.next()), Some(Update::Tools));
            let next = poll_once(core::pin::pin!(tools.next()));
            assert!(next.is_pending(), "once");
        }
    }
}

fn tools_and(resources: &[&str]) -> SubscriptionFilter {
    SubscriptionFilter {
        tools_list_changed: true,
        resource_subscriptions: resources.iter().map(|&uri| uri.to_owned()).collect(),
        ..SubscriptionFilter::default()
    }
}

fn changed(list: &str) -> String {
    format!("- notifications/{list}/list_changed")
}

/// A client of a server of 2025-11-25 with these capabilities.
fn opened(capabilities: &str) -> (Client, LinePeer) {
    let builder = Client::builder("test", "0");
    line_server::connect(builder, Revision::V2025_11_25, capabilities)
}

/// A client of a server of 2026-07-28 with these capabilities.
fn discovered(capabilities: &str) -> (Client, LinePeer) {
    let builder = Client::builder("test", "0");
    line_server::connect(builder, Revision::V2026_07_28, capabilities)
}

/// Acknowledgement, update and end in one read: all of it is told, in order.
#[test]
fn a_subscription_may_end_as_soon_as_it_begins() {
    let (client, mut lines) = discovered(r#"{"tools":{"listChanged":true}}"#);
    let changes = begin(client.changes());
    assert!(lines.read().contains("subscriptions/listen"));
    let meta = r#""_meta":{"io.modelcontextprotocol/subscriptionId":2}"#;
    let told = [
        acknowledged("2"),
        tools_changed("2"),
        format!(r#"2 = {{"resultType":"complete",{meta}}}"#),
    ];
    lines.send(&told.map(|text| message(&text)).join("\n"));
    let mut changes = run(changes).unwrap();
    assert!(changes.honoured().tools_list_changed);
    assert_eq!(run(changes.next()), Some(Update::Tools));
    assert_eq!(run(changes.next()), None);
}
