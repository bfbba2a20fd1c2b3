//! What a server declares of its extensions, and what cannot be registered.

use mcp_async::Server;
use mcp_async::server::{
    Context, Extension, ExtensionMethod, ListKind, NotificationContext, Resource, ServerBuilder,
    Subscriber,
};
use mcp_proto::json::RawBuf;
use mcp_proto::model::ServerFeatures;
use mcp_proto::{Revision, RevisionSet};
use serde::de::IgnoredAny;

use crate::scripted::{LineClient, member, text};
use crate::server_typed::support::revisions;

fn new() -> ServerBuilder {
    Server::builder("demo", "1")
}

fn raw(json: &str) -> RawBuf {
    RawBuf::parse(json).unwrap()
}

/// EX-01, EX-02, EX-04, EX-10.
#[test]
fn an_extension_is_declared_where_it_is_on() {
    let since = RevisionSet::at_least(Revision::V2025_06_18);
    let server = new()
        .extension(Extension::new("com.example/plain"))
        .extension(Extension::new("com.example/set").settings(raw(r#"{"a":[1]}"#)))
        .extension(Extension::new("com.example/old").revisions(since));
    let legacy = RevisionSet::of(&[Revision::V2025_03_26]);
    let server = server.extension(Extension::new("com.example/gone").revisions(legacy));
    for revision in revisions() {
        let declared = LineClient::capabilities(&server, revision);
        let declared = member(&declared, &["extensions"]);
        let expected = match revision {
            Revision::V2026_07_28 => {
                r#"{"com.example/plain":{},"com.example/set":{"a":[1]},"com.example/old":{}}"#
            }
            Revision::V2025_03_26 => r#"{"com.example/gone":{}}"#,
            Revision::V2025_06_18 | Revision::V2025_11_25 => r#"{"com.example/old":{}}"#,
            _ => "",
        };
        assert_eq!(declared, expected, "{revision}");
        let none = LineClient::capabilities(&new(), revision);
        assert_eq!(member(&none, &["extensions"]), "", "{revision}");
    }
}

fn mistakes(server: ServerBuilder) -> Vec<String> {
    let error = server.build().unwrap_err();
    error.mistakes().iter().map(ToString::to_string).collect()
}

fn nothing(name: &str) -> ExtensionMethod {
    ExtensionMethod::new(name).raw(|params, _| async move { Ok(params) })
}

/// EX-18, TK-67.
#[test]
fn reserved_names_belong_to_their_extensions() {
    const TASKS: &str = "io.modelcontextprotocol/tasks";
    const SKILLS: &str = "io.modelcontextprotocol/skills";
    let of = |name: &str| {
        Extension::new(name)
            .with_method(nothing("tasks/get"))
            .with_method(nothing("skills/list"))
            .with_method(nothing("resources/directory/read"))
            .with_method(nothing("tools/call"))
            .notification("notifications/tasks/x", |_: IgnoredAny, _| {})
            .sends("notifications/tasks")
            .filter("taskIds", |_: IgnoredAny, _: Subscriber| async {
                Ok(Some(1))
            })
            .filter("toolsListChanged", |_: IgnoredAny, _: Subscriber| async {
                Ok(Some(1))
            })
    };
    let protocol = "the protocol defines this name";
    let tasks = format!("the name is reserved for `{TASKS}`");
    let skills = format!("the name is reserved for `{SKILLS}`");
    let mine = [
        format!("method `tasks/get`: {tasks}"),
        format!("method `skills/list`: {skills}"),
        format!("method `resources/directory/read`: {skills}"),
        format!("method `tools/call`: {protocol}"),
        format!("notification `notifications/tasks/x`: {tasks}"),
        format!("notification `notifications/tasks`: {tasks}"),
        format!("filter `taskIds`: {tasks}"),
        format!("filter `toolsListChanged`: {protocol}"),
    ];
    assert_eq!(mistakes(new().extension(of("com.example/mine"))), mine);
    let without = |owner: &str| -> Vec<_> {
        let others = mine.iter().filter(|it| !it.contains(owner));
        others.cloned().collect()
    };
    assert_eq!(mistakes(new().extension(of(TASKS))), without(TASKS));
    assert_eq!(mistakes(new().extension(of(SKILLS))), without(SKILLS));
    let plain = new().method("tasks/get", |params: RawBuf, _| async { Ok(params) });
    assert_eq!(mistakes(plain), [format!("method `tasks/get`: {tasks}")]);
}

#[test]
fn what_cannot_be_served_is_not_built() {
    let twice = |name: &str| {
        Extension::new(name)
            .with_method(nothing("x/get"))
            .notification(
                "notifications/x",
                |_: IgnoredAny, _: NotificationContext| {},
            )
            .filter("x", |_: IgnoredAny, _: Subscriber| async { Ok(Some(1)) })
    };
    assert_eq!(
        mistakes(new().extension(twice("a.b/c")).extension(twice("a.b/d"))),
        [
            "method `x/get`: it is registered twice",
            "notification `notifications/x`: it is registered twice",
            "filter `x`: it is registered twice",
        ]
    );
    // VR-10, EX-03
    for name in ["", "notes", "a.b/", "a..b/c", "a.b/c/d"] {
        let expected = format!("extension `{name}`: its name is not a prefix, a slash and a name");
        assert_eq!(mistakes(new().extension(Extension::new(name))), [expected]);
    }
    let bad = Extension::new("a.b/c")
        .settings(7)
        .with_method(ExtensionMethod::new("x/none"))
        .with_method(nothing(""));
    assert_eq!(
        mistakes(new().extension(bad)),
        [
            "method `x/none`: no handler",
            "method ``: its name is empty",
            "extension `a.b/c`: its settings are no JSON object",
        ]
    );
}

/// EX-19: its items and lists declare what it needs.
#[test]
fn an_extension_lists_its_items_with_those_of_the_server() {
    let resource = |uri: &str| Resource::new(uri, "x").handler(|_| async { Ok("x") });
    let albums = |extension: Extension| extension.needs(ServerFeatures::RESOURCES);
    let server = new()
        .with(resource("x://b"))
        .extension(albums(Extension::new("a.b/c").with(resource("x://a"))));
    let listed = LineClient::new(&server, Revision::V2026_07_28).result("resources/list", "{}");
    assert_eq!(text(&listed, &["resources", "0", "uri"]), "x://a");
    assert_eq!(text(&listed, &["resources", "1", "uri"]), "x://b");
    let twice = server.extension(Extension::new("a.b/d").with(resource("x://a")));
    assert_eq!(
        mistakes(twice),
        ["resource `x://a`: it is registered twice"]
    );
    let empty = Extension::new("a.b/c").list_changed(ListKind::Resources);
    let server = new().extension(albums(empty));
    let declared = LineClient::capabilities(&server, Revision::V2026_07_28);
    assert_eq!(member(&declared, &["resources"]), r#"{"listChanged":true}"#);
}

#[test]
fn mistakes_in_the_settings_of_an_extension_are_reported_with_all_others() {
    let extension = Extension::new("none").mistake("page_size", "it is zero");
    assert_eq!(
        mistakes(new().page_size(0).extension(extension)),
        [
            "extension `none`: `page_size`: it is zero",
            "extension `none`: its name is not a prefix, a slash and a name",
            "setting `page_size`: it is zero",
        ]
    );
}

/// EX-03.
#[test]
fn the_name_of_an_extension_has_a_prefix() {
    for bad in [
        "",
        "name",
        "/name",
        "a b/c",
        "1a.b/c",
        "a..b/c",
        "com.example/-",
    ] {
        let mistake = format!("extension `{bad}`: its name is not a prefix, a slash and a name");
        assert_eq!(mistakes(new().extension(Extension::new(bad))), [mistake]);
    }
    for good in ["a/b", "com.ex-ample/my_name.2"] {
        assert!(
            new().extension(Extension::new(good)).build().is_ok(),
            "{good}"
        );
    }
}

/// EX-19.
#[test]
fn an_extension_needs_its_capabilities() {
    let needs = ServerFeatures::RESOURCES.with(ServerFeatures::LOGGING);
    let server = new().extension(Extension::new("a.b/c").needs(needs));
    let missing = "extension `a.b/c`: the server does not declare";
    assert_eq!(
        mistakes(server.clone()),
        [format!("{missing} {{LOGGING, RESOURCES}}")]
    );
    let server = server.with(Resource::new("x://a", "a").handler(|_| async { Ok("a") }));
    assert_eq!(mistakes(server.clone()), [format!("{missing} {{LOGGING}}")]);
    assert!(server.logging().build().is_ok());
}

/// EX-14: an extension that is off neither sends nor counts as declared by a client.
#[test]
fn an_extension_that_is_off_is_silent() {
    const SENT: &str = "notifications/audit/recorded";
    let server = |audit: Extension| {
        new()
            .extension(audit.sends(SENT))
            .tool("record", "", |(): (), cx: Context| async move {
                let params = RawBuf::parse("{}")?;
                let sent = cx.notify(SENT, &params).await;
                let outside = cx.peer().notify(SENT.into(), None).await;
                let is_declared = cx.has_client_extension("com.example/audit");
                let is_other = cx.has_client_extension("com.example/other");
                Ok(format!("{sent:?} {outside:?} {is_declared} {is_other}"))
            })
    };
    let declared = r#"{"extensions":{"com.example/audit":{},"com.example/other":{}}}"#;
    let check = |server: ServerBuilder, revision: Revision| {
        let mut wire = LineClient::declaring(&server, revision, declared);
        let result = wire.result("tools/call", r#"{"name":"record"}"#);
        (text(&result, &["content", "0", "text"]), wire.heard.len())
    };
    let off = "Err(NotInRevision) Err(NotInRevision) false true";
    let audit = || Extension::new("com.example/audit");
    for revision in revisions().filter(|revision| revision.is_legacy()) {
        assert_eq!(
            check(server(audit()), revision),
            (off.into(), 0),
            "{revision}"
        );
        let on = server(audit().revisions(RevisionSet::all()));
        assert_eq!(check(on, revision), ("Ok(()) Ok(()) true true".into(), 2));
    }
    let modern = Revision::V2026_07_28;
    let legacy = audit().revisions(RevisionSet::legacy());
    let (said, heard) = check(server(legacy), modern);
    assert!(
        said.starts_with("Err(NotInRevision) ") && said.ends_with(" false true"),
        "{said}"
    );
    assert_eq!(heard, 0);
    let (said, heard) = check(server(audit()), modern);
    assert!(
        said.starts_with("Ok(()) ") && said.ends_with(" true true"),
        "{said}"
    );
    assert_eq!(heard, 1);
}
