//! Tasks whose changes are told.

use core::time::Duration;

use mcp_async::client::{CallError, ListenFilter};
use mcp_async::runtime::Runtime as _;
use mcp_async::tasks::client::{TaskEvent, TaskOptions, ToolOutcome};
use mcp_proto::SendError;

use super::support::{
    Asked, Log, Say, TASKS, builder, completed, connect, connect_once, created, task,
};
use crate::client_typed::support::run;
use crate::sim::Sim;

const ACKNOWLEDGED: &str = r#"- notifications/subscriptions/acknowledged {"notifications":{"taskIds":["t"]},"_meta":{"io.modelcontextprotocol/subscriptionId":ID}}"#;

/// A notification of this state of the task.
fn told(task: &str) -> String {
    let open = task.strip_suffix('}').unwrap();
    format!(
        r#"- notifications/tasks {open},"_meta":{{"io.modelcontextprotocol/subscriptionId":ID}}}}"#
    )
}

/// The end of a subscription.
const ENDED: &str =
    r#"ID = {"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":ID}}"#;

/// A server that creates a task, answers subscriptions like this, and completes the task at the poll
/// of this number.
fn polled(mut listen: impl FnMut() -> Say, last: usize) -> impl FnMut(&Asked) -> Say {
    let mut polls = 0;
    move |asked| match &*asked.method {
        "tools/call" => created(),
        "subscriptions/listen" => listen(),
        "tasks/get" => {
            polls += 1;
            match polls < last {
                true => Say::Result(task("working", "")),
                false => completed("polled"),
            }
        }
        _ => Say::Nothing,
    }
}

/// A subscription that is acknowledged.
fn acknowledged() -> Say {
    Say::Lines(vec![ACKNOWLEDGED.to_owned()])
}

/// A subscription that is acknowledged without the task.
fn left_out() -> Say {
    Say::Lines(vec![ACKNOWLEDGED.replace(r#""taskIds":["t"]"#, "")])
}

/// A subscription that ends at once.
fn ended() -> Say {
    Say::Lines(vec![ACKNOWLEDGED.to_owned(), ENDED.to_owned()])
}

async fn call(answer: impl FnMut(&Asked) -> Say + 'static) -> (String, Log) {
    let builder = builder().tasks(TaskOptions::default().listen(true));
    let (client, log) = connect(TASKS, builder, answer).await.unwrap();
    (client.call_tool("job", &()).await.unwrap().text(), log)
}

/// TK-45, EX-13
#[test]
fn a_subscription_takes_the_place_of_polls() {
    run(async {
        let Say::Result(done) = completed("told") else {
            unreachable!()
        };
        let mut listen = String::new();
        let (text, log) = call(move |asked| match &*asked.method {
            "tools/call" => created(),
            "subscriptions/listen" => {
                listen = asked.id.clone().unwrap();
                acknowledged()
            }
            // The end is told after the one poll that follows the acknowledgement.
            "tasks/get" => Say::Lines(vec![
                format!("ID = {}", task("working", "")),
                told(&task("working", r#","statusMessage":"1/1""#)).replace("ID", &listen),
                told(&done).replace("ID", &listen),
            ]),
            _ => Say::Nothing,
        })
        .await;
        assert_eq!(text, "told");
        let methods = log.methods();
        assert_eq!(
            methods[..3],
            ["tools/call", "subscriptions/listen", "tasks/get"]
        );
        assert_eq!(log.count("tasks/get"), 1);
        assert_eq!(
            log.texts("subscriptions/listen", &["notifications"]),
            [r#"{"taskIds":["t"]}"#]
        );
    });
}

#[test]
fn polls_follow_a_subscription_that_ends() {
    run(async {
        let (text, log) = call(polled(ended, 3)).await;
        assert_eq!(text, "polled");
        assert_eq!(log.count("subscriptions/listen"), 1);
        assert_eq!(log.count("tasks/get"), 3);
    });
}

/// SB-02: a server that leaves the id out does not tell of the task.
#[test]
fn polls_stay_where_nothing_is_told() {
    run(async {
        for listen in [left_out, || Say::Error(-32601)] {
            let (text, log) = call(polled(listen, 3)).await;
            assert_eq!(text, "polled");
            assert_eq!(log.count("tasks/get"), 3);
        }
    });
}

/// Tasks and subscriptions leave room for calls.
#[test]
fn tasks_without_a_subscription_left_are_polled() {
    run(async {
        let builder = builder().tasks(TaskOptions::default().listen(true));
        let builder = builder.max_subscriptions(0);
        let (client, log) = connect(TASKS, builder, polled(acknowledged, 3))
            .await
            .unwrap();
        let result = client.call_tool("job", &()).await.unwrap();
        assert_eq!(result.text(), "polled");
        assert_eq!(log.count("subscriptions/listen"), 0);
        let filter = ListenFilter::default().member("taskIds", &["1"]).unwrap();
        assert!(matches!(
            client.listen(filter).await,
            Err(CallError::Refused(SendError::TableFull))
        ));
    });
}

/// TK-45: notifications are optional, be they promised.
#[test]
fn a_silent_subscription_is_polled_slowly() {
    run(async {
        let begun = Sim.now();
        let (text, log) = call(polled(acknowledged, 3)).await;
        assert_eq!(text, "polled");
        assert_eq!(log.count("tasks/get"), 3);
        let took = Sim.now().saturating_since(begun);
        assert!(Duration::from_secs(60) <= took && took <= Duration::from_secs(67));
    });
}

/// SB-02, SB-08: the acknowledgement of a renewed subscription may leave the task out.
#[test]
fn a_renewed_subscription_without_the_task_gives_way_to_polls() {
    run(async {
        let begun = Sim.now();
        let mut listens = [ended, left_out].into_iter();
        let listen = move || listens.next().map_or(Say::Nothing, |listen| listen());
        let builder = builder().tasks(TaskOptions::default().listen(true));
        let (client, log) = connect_once(TASKS, builder, polled(listen, 5)).await;
        let result = client.call_tool("job", &()).await.unwrap();
        assert_eq!(result.text(), "polled");
        assert_eq!(log.count("subscriptions/listen"), 2);
        let took = Sim.now().saturating_since(begun);
        assert!(took < Duration::from_secs(5), "{took:?}");
    });
}

/// TK-37: a server cannot demand polls by notifications that cannot be read.
#[test]
fn hints_do_not_shorten_the_interval() {
    run(async {
        let (mut listen, mut polls) = (String::new(), 0);
        let (text, log) = call(move |asked| match &*asked.method {
            "tools/call" => created(),
            "subscriptions/listen" => {
                listen = asked.id.clone().unwrap();
                acknowledged()
            }
            "tasks/get" => {
                polls += 1;
                let working = task("working", "");
                match polls {
                    6.. => completed("polled"),
                    _ => Say::Lines(vec![
                        format!("ID = {working}"),
                        told(r#"{"taskId":"t"}"#).replace("ID", &listen),
                    ]),
                }
            }
            _ => Say::Nothing,
        })
        .await;
        assert_eq!(text, "polled");
        for pair in log.times("tasks/get").windows(2) {
            let pause = pair[1].saturating_since(pair[0]);
            assert!(pause >= Duration::from_millis(50), "{pause:?}");
        }
    });
}

/// An answer that the server wrote before a notification, and that arrives after it, is old.
#[test]
fn states_do_not_go_back() {
    run(async {
        let at = |second: u64, message: &str| {
            let more = format!(r#","statusMessage":"{message}""#);
            let time = format!(r#""lastUpdatedAt":"2026-07-28T00:00:0{second}Z""#);
            task("working", &more).replace(r#""lastUpdatedAt":"u""#, &time)
        };
        let (mut listen, mut polls) = (String::new(), 0);
        let builder = builder().tasks(TaskOptions::default().listen(true));
        let (client, _) = connect(TASKS, builder, move |asked| match &*asked.method {
            "tools/call" => created(),
            "subscriptions/listen" => {
                listen = asked.id.clone().unwrap();
                acknowledged()
            }
            "tasks/get" => {
                polls += 1;
                let old = at(1, "1/3");
                match polls {
                    1 => Say::Lines(vec![
                        told(&at(2, "2/3")).replace("ID", &listen),
                        format!("ID = {old}"),
                    ]),
                    // A clock that was set back stops nothing.
                    2 => Say::Result(at(0, "3/3")),
                    _ => completed("done"),
                }
            }
            _ => Say::Nothing,
        })
        .await
        .unwrap();
        let outcome = client.call_tool_task("job", &()).await.unwrap();
        let ToolOutcome::Task(mut task) = outcome else {
            panic!("{outcome:?}");
        };
        let mut messages = Vec::new();
        while let Some(event) = task.next().await {
            if let TaskEvent::State(state) = event {
                messages.extend(state.message);
            }
        }
        assert_eq!(messages, ["2/3", "3/3"]);
        assert_eq!(task.result().await.unwrap().text(), "done");
    });
}
