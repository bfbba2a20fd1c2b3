//! `subscriptions/listen`: SB-01 to SB-14, CN-11, CN-17.

use mcp_proto::Limits;
use mcp_proto::server::ServerConfig;

use crate::script::server::{check, config};

/// Plays a script with abbreviations: `listen ID FILTER` from the client, `acknowledged ID FILTER`
/// and `ended ID` from the server, and `ABOUT ID` for the members that name a subscription.
#[track_caller]
pub(crate) fn play(config: ServerConfig<'static>, script: &str) {
    let about = r#""_meta":{"io.modelcontextprotocol/subscriptionId":ID}"#;
    let line = |line: &str| {
        let mut words = line.trim().splitn(4, ' ');
        let mut next = || words.next().unwrap_or_default();
        let (mark, verb, id, filter) = (next(), next(), next(), next());
        let about = about.replace("ID", id);
        match (mark, verb) {
            (">", "listen") => {
                format!(r#"> {id} subscriptions/listen {{"notifications":{filter},META}}"#)
            }
            ("<", "acknowledged") => format!(
                r#"< - notifications/subscriptions/acknowledged {{{about},"notifications":{filter}}}"#
            ),
            ("<", "ended") => format!(r#"< {id} = {{"resultType":"complete",{about}}}"#),
            ("<", "told") => {
                let (method, members) = filter.split_once(' ').unwrap_or((filter, ""));
                format!("< - notifications/{method} {{{about}{members}}}")
            }
            _ => line.to_owned(),
        }
    };
    let lines: Vec<String> = script.lines().map(line).collect();
    check(config, &lines.join("\n"));
}

/// SB-01, SB-02, SB-03, SB-14.
#[test]
fn sb_02_the_honoured_subset_is_acknowledged_first() {
    #[track_caller]
    fn check(config: ServerConfig<'static>, filter: &str, honoured: &str) {
        let script = format!(
            "> listen \"l\" {filter}
            = listening 0
            < acknowledged \"l\" {honoured}"
        );
        play(config, &script);
    }
    let all = r#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["file:///a","b:\u0063"]}"#;
    check(config(), all, &all.replace("\\u0063", "c"));
    check(config(), "{}", "{}");
    check(
        config(),
        r#"{"toolsListChanged":false,"promptsListChanged":1,"nonsense":true}"#,
        "{}",
    );
    check(
        config(),
        r#"{"resourceSubscriptions":["a:b","a:b"]}"#,
        r#"{"resourceSubscriptions":["a:b"]}"#,
    );
    check(ServerConfig::new("s", "1"), all, "{}");
}

#[test]
fn filters_that_are_none() {
    for (params, what) in [
        ("", "notifications is missing or malformed"),
        (
            r#""notifications":1,"#,
            "notifications is missing or malformed",
        ),
        (
            r#""notifications":{},"notifications":{},"#,
            "notifications occurs twice",
        ),
        (
            r#""notifications":{"resourceSubscriptions":"a"},"#,
            "resourceSubscriptions is missing or malformed",
        ),
        (
            r#""notifications":{"resourceSubscriptions":["a",1]},"#,
            "resourceSubscriptions is missing or malformed",
        ),
        (
            r#""notifications":{"resourceSubscriptions":["\udead"]},"#,
            "resourceSubscriptions is missing or malformed",
        ),
    ] {
        play(
            config(),
            &format!(
                "> 1 subscriptions/listen {{{params}META}}
                < 1 ! -32602 {what}
                watched a
                = false"
            ),
        );
    }
}

/// SB-01, RS-11, TL-02: each hears what it asked for, once for several changes.
#[test]
fn sb_01_changes_are_told_to_whom_they_concern() {
    play(
        config(),
        r#"> listen 1 {"toolsListChanged":true}
        = listening 0
        < acknowledged 1 {"toolsListChanged":true}
        > listen "1" {"promptsListChanged":true,"toolsListChanged":true,"resourceSubscriptions":["file:///d"]}
        = listening 1
        < acknowledged "1" {"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["file:///d"]}
        in-flight
        = 0
        changed tools & changed tools & changed resources & updated file:///d/e & updated file:///other
        < told 1 tools/list_changed
        < told "1" tools/list_changed
        < told "1" resources/updated ,"uri":"file:///d"
        changed prompts & updated file:///d
        < told "1" prompts/list_changed
        < told "1" resources/updated ,"uri":"file:///d"
        watched file:///d/x
        = true
        # SB-11
        > - notifications/cancelled {"requestId":"1"}
        = cancelled 1
        watched file:///d/x
        = false
        changed tools
        < told 1 tools/list_changed"#,
    );
}

/// SB-08, CN-11, CN-17: what changed before is told, then the result, then the cancellation.
#[test]
fn sb_08_ending() {
    play(
        config(),
        r#"> listen 4 {"toolsListChanged":true}
        = listening 0
        < acknowledged 4 {"toolsListChanged":true}
        changed tools & end 0 & end 0
        < told 4 tools/list_changed
        < ended 4
        < - notifications/cancelled {"requestId":4}
        end 0
        > - notifications/cancelled {"requestId":4}
        ~ UnknownCancellation
        > listen 4 {}
        = listening 1
        < acknowledged 4 {}"#,
    );
}

/// An application may answer a listen by itself, and end all of them when it goes.
#[test]
fn listens_end_with_the_server() {
    play(
        config(),
        r#"> listen 1 {}
        = listening 0
        < acknowledged 1 {}
        > listen 2 {}
        = listening 1
        < acknowledged 2 {}
        fail 0 -32603
        < 1 ! -32603 no
        cancel-all
        < ended 2
        < - notifications/cancelled {"requestId":2}
        > listen 3 {}
        = listening 2
        < acknowledged 3 {}
        answer 2 {}
        < ended 3
        < - notifications/cancelled {"requestId":3}"#,
    );
}

/// SB-07.
#[test]
fn sb_07_no_progress_on_a_listen() {
    play(
        config(),
        r#"> 1 subscriptions/listen {"notifications":{},"_meta":{"progressToken":1,MODERN}}
        = listening 0
        < acknowledged 1 {}
        progress 0 1
        ! Stale"#,
    );
}

/// LG-06: log messages of no request travel on it, even if it asked for some.
#[test]
fn lg_06_no_logs_on_a_listen() {
    play(
        config(),
        r#"> 1 subscriptions/listen {"notifications":{},"_meta":{"io.modelcontextprotocol/logLevel":"debug",MODERN}}
        = listening 0
        < acknowledged 1 {}
        log 0 error "x"
        ! Stale
        log - error "x"
        ! NotReady"#,
    );
}

/// What there is no room for is refused as a whole.
#[test]
fn listens_are_bounded() {
    let long = |len| {
        format!(
            r#"{{"resourceSubscriptions":["a:b","c:{}"]}}"#,
            "x".repeat(len)
        )
    };
    play(
        config(),
        &format!(
            "> listen 1 {}
            < 1 ! -32603 limit reached: subscriptions
            watched a:b
            = false",
            long(300)
        ),
    );
    // An acknowledgement that no outbox holds.
    let small = ServerConfig {
        limits: Limits {
            output: 2300,
            ..Limits::default()
        },
        ..config()
    };
    play(
        small,
        &format!(
            r#"> listen 1 {{"resourceSubscriptions":["a:b"]}}
            = listening 0
            < acknowledged 1 {{"resourceSubscriptions":["a:b"]}}
            > listen 2 {0}
            = listening 1
            < acknowledged 2 {0}"#,
            long(0)
        ),
    );
}

/// What was ended is not told of again, even if its last messages never leave.
#[test]
fn an_ended_listen_has_no_event() {
    for (last, told) in [
        ("hangup", "= closed"),
        (r#"> - notifications/cancelled {"requestId":4}"#, ""),
    ] {
        play(
            config(),
            &format!(
                "> listen 4 {{}}
                = listening 0
                < acknowledged 4 {{}}
                end 0 & {last}
                {told}"
            ),
        );
    }
}
