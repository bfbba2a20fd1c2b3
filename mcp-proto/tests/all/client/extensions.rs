//! Extensions on a client: EX-01, EX-02, EX-09, EX-14, EX-16, TK-32.

use mcp_proto::client::{Call, Client, ClientConfig, Fixed, Negotiation};
use mcp_proto::json::{Map, Raw};
use mcp_proto::model::ClientCapabilities;
use mcp_proto::rpc::{Incoming, Message, Method};
use mcp_proto::{
    Channel, CustomMethod, Instant, Machine as _, Pipe, ResultType, Revision, RevisionSet,
    SendError,
};

use crate::client::connect::accepting;
use crate::script::client as script;

const METHODS: &[CustomMethod<'static>] = &[
    CustomMethod::new("events/ask"),
    CustomMethod::new("notifications/events/event"),
];

const TYPES: &[ResultType<'static>] = &[
    ResultType {
        name: "task",
        extension: "com.example/tasks",
        methods: &["tools/call"],
    },
    ResultType {
        name: "com.example/later",
        extension: "com.example/later",
        methods: &["tools/list", "events/list"],
    },
];

/// A modern connection to a server with tools; ids go on from 2. `META` stands for what every
/// request carries.
#[track_caller]
fn modern(script: &str) {
    let config = ClientConfig {
        identify: false,
        result_types: TYPES,
        methods: METHODS,
        ..accepting(RevisionSet::modern())
    };
    let meta = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
    let opened = r#"connect
        > {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{META}}}
        < {"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}
        = connected 2026-07-28
        "#;
    script::check(config, &format!("{opened}{script}").replace("META", meta));
}

/// EX-01, EX-02: an extension is declared in the revisions that it is turned on for, in those of
/// 2026-07-28 if nothing else is said.
#[test]
fn ex_02_extensions_are_declared_by_revision() {
    let settings = Raw::parse(br#"{"sizes":[1,2]}"#, 8).unwrap();
    let extensions = [
        ("com.example/new", Raw::EMPTY_OBJECT),
        ("com.example/old", settings),
        ("com.example/two", Raw::EMPTY_OBJECT),
        ("com.example/off", Raw::EMPTY_OBJECT),
    ];
    let two = RevisionSet::of(&[Revision::V2025_11_25, Revision::V2026_07_28]);
    let revisions = [
        ("com.example/old", RevisionSet::all()),
        ("com.example/two", two),
        ("com.example/off", RevisionSet::EMPTY),
    ];
    let check = |revision: Revision, experimental: bool, declared: &str| {
        let own = [("x", Raw::EMPTY_OBJECT)];
        let config = ClientConfig {
            identify: false,
            capabilities: ClientCapabilities {
                experimental: experimental.then(|| Map::new(&own)),
                extensions: Some(Map::new(&extensions)),
                ..ClientCapabilities::default()
            },
            extension_revisions: &revisions,
            negotiation: Negotiation::Handshake,
            ..accepting(RevisionSet::of(&[revision]))
        };
        let declared = match experimental {
            true => format!(r#"{{"experimental":{{"x":{{}}}},"extensions":{declared}}}"#),
            false => format!(r#"{{"extensions":{declared}}}"#),
        };
        let line = match revision.is_legacy() {
            true => format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{declared},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
            ),
            false => format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{revision}","io.modelcontextprotocol/clientCapabilities":{declared}}}}}}}"#
            ),
        };
        script::check(config, &format!("connect\n> {line}"));
    };
    for experimental in [false, true] {
        for revision in [
            Revision::V2024_11_05,
            Revision::V2025_03_26,
            Revision::V2025_06_18,
        ] {
            let declared = r#"{"com.example/old":{"sizes":[1,2]}}"#;
            check(revision, experimental, declared);
        }
        check(
            Revision::V2025_11_25,
            experimental,
            r#"{"com.example/old":{"sizes":[1,2]},"com.example/two":{}}"#,
        );
        check(
            Revision::V2026_07_28,
            experimental,
            r#"{"com.example/new":{},"com.example/old":{"sizes":[1,2]},"com.example/two":{}}"#,
        );
    }
}

/// EX-09, TK-32: a type of results is one of those that an extension defines for the method.
#[test]
fn ex_09_types_of_results_belong_to_methods() {
    for (method, kind, is_known) in [
        ("tools/call", "task", true),
        ("tools/call", "t\\u0061sk", true),
        ("tools/list", "task", false),
        ("events/list", "task", false),
        ("tools/list", "com.example/later", true),
        ("events/list", "com.example/later", true),
        ("tools/call", "com.example/later", false),
        ("tools/call", "Task", false),
        ("tools/call", "", false),
    ] {
        let told = match is_known {
            true => format!(r#"answer 7 {{"resultType":"{kind}"}}"#),
            false => "failed 7 ResultType".into(),
        };
        modern(&format!(
            r#"call 7 {method} {{}}
            > {{"jsonrpc":"2.0","id":2,"method":"{method}","params":{{"_meta":{{META}}}}}}
            < {{"jsonrpc":"2.0","id":2,"result":{{"resultType":"{kind}"}}}}
            = {told}"#
        ));
    }
}

/// EX-09: a result of a type of an extension is reported although its call is over.
#[test]
fn ex_09_a_late_result_of_an_extension_is_reported_once() {
    let task = r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"task","taskId":"a"}}"#;
    let called = r#"call 7 tools/call {}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{META}}}
        "#;
    let told = r#"= late {"resultType":"task","taskId":"a"}"#;
    let cancelled =
        r#"> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
    modern(&format!(
        "{called}cancel 7\n{cancelled}\n< {task}\n{told}\n< {task}\n~ LateResponse"
    ));
    // The answer overtakes the cancellation.
    modern(&format!(
        "{called}cancel 7 & < {task}\n{told}\n< {task}\n~ LateResponse"
    ));
    // The call took too long.
    modern(&format!(
        r#"with timeout=5
        {called}+ 5
        > {{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":2,"reason":"timed out"}}}}
        = failed 7 Timeout
        < {task}
        {told}"#
    ));
    // One that is answered is not late.
    modern(&format!(
        r#"{called}< {task}
        = answer 7 {{"resultType":"task","taskId":"a"}}
        < {task}
        ~ LateResponse"#
    ));
    for late in [
        r#""result":{"resultType":"complete"}"#,
        r#""result":{"resultType":"com.example/later"}"#,
        r#""result":{}"#,
        r#""result":7"#,
        r#""error":{"code":1,"message":"task"}"#,
    ] {
        modern(&format!(
            "{called}cancel 7\n{cancelled}\n< {{\"jsonrpc\":\"2.0\",\"id\":2,{late}}}\n~ LateResponse"
        ));
    }
}

/// TK-07, TK-62: a late answer of 2025-11-25 that creates a task is reported, whose result has no type.
#[test]
fn tk_62_a_late_task_of_a_session_is_reported() {
    let check_with = |types, revision: Revision, late: &str, told: &str| {
        let config = ClientConfig {
            result_types: types,
            methods: METHODS,
            negotiation: Negotiation::Handshake,
            ..accepting(RevisionSet::of(&[revision]))
        };
        let script = format!(
            r#"connect
            > {{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"t","version":"1"}}}}}}
            < {{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}
            = connected {revision} "s"
            > {{"jsonrpc":"2.0","method":"notifications/initialized"}}
            call 7 tools/call {{}}
            > {{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{}}}}
            call 8 events/list {{}}
            > {{"jsonrpc":"2.0","id":3,"method":"events/list","params":{{}}}}
            cancel 7
            > {{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":2}}}}
            cancel 8
            > {{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":3}}}}
            < {{"jsonrpc":"2.0","id":3,"result":{late}}}
            ~ LateResponse
            < {{"jsonrpc":"2.0","id":2,"result":{late}}}
            {told}
            < {{"jsonrpc":"2.0","id":2,"result":{late}}}
            ~ LateResponse"#
        );
        script::check(config, &script);
    };
    let check = |revision, late: &str, told: &str| check_with(TYPES, revision, late, told);
    let task = r#"{"task":{"taskId":"a"}}"#;
    let none = "~ LateResponse";
    check_with(&[], Revision::V2025_11_25, task, none);
    check(Revision::V2025_11_25, task, &format!("= late {task}"));
    check(Revision::V2025_06_18, task, none);
    for result in [
        r#"{"task":{"taskId":"a"},"content":[]}"#,
        r#"{"task":"a"}"#,
        r#"{"resultType":"task"}"#,
        r#"{"resultType":"com.example/later"}"#,
        "{}",
    ] {
        check(Revision::V2025_11_25, result, none);
    }
}

/// The answers to as many of the latest calls are recognized as may be in flight, which are 8 here, and a method without such results is not noted.
#[test]
fn ex_09_late_results_of_the_latest_calls() {
    let mut script = String::new();
    let call = |id: u64, method: &str| {
        format!(
            r#"call 7 {method} {{}}
            > {{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"_meta":{{META}}}}}}
            cancel 7
            > {{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}
            "#
        )
    };
    let late =
        |id: u64| format!(r#"< {{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"task"}}}}"#);
    (2..11).for_each(|id| script.push_str(&call(id, "tools/call")));
    (11..40).for_each(|id| script.push_str(&call(id, "events/ask")));
    script.push_str(&format!("{}\n~ LateResponse\n", late(2)));
    (3..11).for_each(|id| {
        script.push_str(&format!(
            "{}\n= late {{\"resultType\":\"task\"}}\n",
            late(id)
        ));
    });
    modern(&script);
}

/// EX-01, EX-05, EX-09: a request declares the extensions that it chooses, and has their types of
/// results.
#[test]
fn ex_05_requests_choose_extensions() {
    let settings = Raw::parse(br#"{"a":[1]}"#, 8).unwrap();
    let extensions = [
        ("com.example/tasks", settings),
        ("com.example/later", Raw::EMPTY_OBJECT),
        ("com.example/off", Raw::EMPTY_OBJECT),
    ];
    let config = ClientConfig {
        identify: false,
        capabilities: ClientCapabilities {
            extensions: Some(Map::new(&extensions)),
            ..ClientCapabilities::default()
        },
        extension_revisions: &[("com.example/off", RevisionSet::EMPTY)],
        result_types: TYPES,
        ..accepting(RevisionSet::modern())
    };
    let called = |id: u64, extensions: &str| {
        format!(
            r#"> {{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{"extensions":{extensions}}}}}}}}}
            < {{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"task"}}}}"#
        )
    };
    let all = r#"{"com.example/tasks":{"a":[1]},"com.example/later":{}}"#;
    let task = r#"{"resultType":"task"}"#;
    let script = format!(
        r#"connect
        > {{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{"extensions":{all}}}}}}}}}
        < {{"jsonrpc":"2.0","id":1,"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}}}}}}}}
        = connected 2026-07-28
        call 7 tools/call
        {}
        = answer 7 {task}
        with extensions=com.example/tasks
        call 7 tools/call
        {}
        = answer 7 {task}
        with extensions=com.example/later,com.example/off
        call 7 tools/call
        {}
        = failed 7 ResultType
        with extensions=
        call 7 tools/call
        {}
        = failed 7 ResultType"#,
        called(2, all),
        called(3, r#"{"com.example/tasks":{"a":[1]}}"#),
        called(4, r#"{"com.example/later":{}}"#),
        called(5, "{}"),
    );
    script::check(config, &script);
}

/// Subscriptions leave room for other calls.
#[test]
fn subscriptions_have_a_bound_of_their_own() {
    one_subscription(|config| config.max_subscriptions = 1);
    // Half of the requests at most.
    one_subscription(|config| config.limits.in_flight = 3);
}

#[track_caller]
fn one_subscription(bound: fn(&mut ClientConfig<'_>)) {
    let mut config = ClientConfig {
        identify: false,
        ..accepting(RevisionSet::modern())
    };
    bound(&mut config);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let sent = |id: u64, method: &str| {
        format!(r#"> {{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{meta}}}}}"#)
    };
    let listen = "subscriptions/listen";
    let script = format!(
        r#"connect
        {}
        < {{"jsonrpc":"2.0","id":1,"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}}}}}}}}
        = connected 2026-07-28
        call 7 {listen}
        {}
        call 8 {listen}
        ! TableFull
        call 9 tools/list
        {}
        < {{"jsonrpc":"2.0","id":2,"error":{{"code":-32601,"message":"no"}}}}
        = error 7 -32601 no
        call 8 {listen}
        {}
        cancel 8
        > {{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":4}}}}
        call 7 {listen}
        {}"#,
        sent(1, "server/discover"),
        sent(2, listen),
        sent(3, "tools/list"),
        sent(4, listen),
        sent(5, listen),
    );
    script::check(config, &script);
}

/// EX-14: a notification of an own method reaches the application, with the listen that it names.
#[test]
fn ex_14_own_notifications() {
    let event = r#"{"jsonrpc":"2.0","method":"notifications/events/event","params":PARAMS}"#;
    let of = |id: &str| {
        let params = format!(r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#);
        event.replace("PARAMS", &params)
    };
    modern(&format!(
        r#"call 7 subscriptions/listen {{"notifications":{{"events":true}}}}
        > {{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{{"notifications":{{"events":true}},"_meta":{{META}}}}}}
        < {{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":2}},"notifications":{{"events":true}}}}}}
        = listening 7 {{"events":true}}
        < {}
        = told 7 notifications/events/event
        # Of no listen that there is.
        < {}
        ~ Misplaced
        < {}
        ~ Misplaced
        # On the stream of a request.
        < {}
        = told notifications/events/event
        < {}
        ~ UnknownNotification"#,
        of("2"),
        of("3"),
        of(r#""2""#),
        event.replace("PARAMS", r#"{"a":1}"#),
        event.replace("event\"", "other\"").replace("PARAMS", "{}"),
    ));
    for revision in RevisionSet::legacy().iter() {
        let config = ClientConfig {
            methods: METHODS,
            ..accepting(RevisionSet::of(&[revision]))
        };
        let script = format!(
            "< {}\n= told notifications/events/event\n< {}\n~ UnknownNotification",
            event.replace("PARAMS", "{}"),
            event.replace("event\"", "other\"").replace("PARAMS", "{}"),
        );
        script::check_opened(config, revision, &script);
    }
}

/// EX-16: a server of a session may ask what the application handles, a modern one never.
#[test]
fn ex_16_own_questions() {
    let ask = r#"{"jsonrpc":"2.0","id":"q","method":"events/ask","params":{"a":1}}"#;
    for revision in RevisionSet::legacy().iter() {
        let config = ClientConfig {
            methods: METHODS,
            ..accepting(RevisionSet::of(&[revision]))
        };
        let script = format!(
            r#"< {ask}
            = asked events/ask {{"a":1}}
            respond {{"b":2}}
            > {{"jsonrpc":"2.0","id":"q","result":{{"b":2}}}}
            < {{"jsonrpc":"2.0","id":1,"method":"events/other"}}
            > 1 ! -32601"#
        );
        script::check_opened(config, revision, &script);
    }
    modern(&format!("< {ask}\n= request events/ask"));
    modern(
        r#"call 7 tools/call {}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{META}}}
        < {"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"events/ask","params":{}}}}}
        = failed 7 Input"#,
    );
}

/// A table that holds fewer requests than their limit.
#[test]
fn subscriptions_leave_room_in_a_small_table() {
    let config = accepting(RevisionSet::modern());
    let mut client = Client::new(config, Fixed::new().questions::<1>()).unwrap();
    let (now, mut out) = (Instant::ZERO, [0; 1024]);
    client.connect(now).unwrap();
    client.poll_transmit(now, Channel::PIPE, &mut out).unwrap();
    let server = br#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#;
    let server = Incoming::Message(Message::parse(server, 16));
    let _ = client.handle(now, &Pipe, server);
    let mut call = |method| client.call(now, &Call::new(Method::from(method)), &mut out);
    for _ in 0..2 {
        assert!(call("subscriptions/listen").is_ok());
    }
    let refused = call("subscriptions/listen").map(drop);
    assert_eq!(refused, Err(SendError::TableFull));
    assert!(call("acme/x").is_ok());
}
