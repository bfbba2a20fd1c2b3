//! Extensions that an application declares.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mcp_async::client::{CallError, ConnectError, Extension, ListenFilter, Update};
use mcp_async::model::{Meta, SubscriptionFilter};
use mcp_proto::json::RawBuf;
use mcp_proto::{Revision, RevisionSet};

use super::support::{Say, connect};
use crate::client_typed::support::{only, run};

const NAME: &str = "com.example/translate";
const SERVER: &str = r#"{"tools":{},"extensions":{"com.example/translate":{"languages":["de"]},"com.example/odd":1}}"#;
const CAPABILITIES: &[&str] = &["_meta", "io.modelcontextprotocol/clientCapabilities"];

fn settings() -> BTreeMap<&'static str, u32> {
    BTreeMap::from([("version", 2)])
}

/// EX-01, EX-04, EX-08, EX-10
#[test]
fn a_method_of_an_extension_needs_the_declaration_of_the_server() {
    run(async {
        let builder = only(Revision::V2026_07_28)
            .extension(Extension::new(NAME))
            .extension(Extension::new(NAME).settings(&settings()).data(7_u8))
            .experimental_capability("anything", &settings());
        let (client, log) = connect(SERVER, builder, |_| {
            Say::Result(r#"{"resultType":"complete","words":3}"#.to_owned())
        })
        .await
        .unwrap();
        let declared = client.server_extension(NAME).unwrap();
        assert_eq!(declared.as_raw().as_str(), r#"{"languages":["de"]}"#);
        assert!(client.server_extension("com.example/odd").is_none());
        assert_eq!(client.extension_data::<u8>(NAME), Some(&7));
        assert_eq!(client.extension_data::<u16>(NAME), None);
        let words: BTreeMap<String, RawBuf> = client
            .extension_request(NAME, "com.example/count", &())
            .await
            .unwrap();
        assert_eq!(words["words"].as_raw().as_str(), "3");
        let params = settings();
        let refused = client.extension_request::<RawBuf>("com.example/odd", "x/y", &params);
        let error = refused.await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the call was not sent: the server does not declare the extension com.example/odd"
        );
        assert!(matches!(error, CallError::MissingExtension(_)));
        assert_eq!(log.methods(), ["com.example/count"]);
        let nothing = client.extension_request(NAME, "com.example/count", &());
        let () = nothing.await.unwrap();
        // A raw call may be forced.
        let forced = client.request::<RawBuf>("x/y", &settings()).await;
        assert!(forced.is_ok());
        let declared = log.texts("x/y", CAPABILITIES).remove(0);
        assert!(declared.contains(r#""extensions":{"com.example/translate":{"version":2}}"#));
        assert!(declared.contains(r#""experimental":{"anything":{"version":2}}"#));
    });
}

/// EX-02: declared in the revisions that the application names.
#[test]
fn initialize_declares_extensions_that_are_on_there() {
    run(async {
        let legacy = RevisionSet::of(&[Revision::V2025_11_25]);
        let builder = only(Revision::V2025_11_25)
            .extension(Extension::new(NAME).revisions(legacy))
            .extension(Extension::new("com.example/other"));
        let (client, log) = connect(SERVER, builder, |_| Say::Nothing).await.unwrap();
        assert!(client.server_extension(NAME).is_some());
        let declared = log.texts("initialize", &["capabilities", "extensions"]);
        assert_eq!(declared, [r#"{"com.example/translate":{}}"#]);
    });
}

/// VR-10, EX-03, EX-04
#[test]
fn names_have_a_prefix_and_settings_are_objects() {
    let check = |builder, name: &str| {
        run(async {
            let refused = connect(SERVER, builder, |_| Say::Nothing).await;
            let Err(ConnectError::Extension(wrong)) = refused.map(drop) else {
                panic!("{name} is taken");
            };
            assert_eq!(wrong, name);
        });
    };
    let builder = || only(Revision::V2026_07_28);
    check(builder().extension(Extension::new(NAME).settings(&1)), NAME);
    check(
        builder().extension(Extension::new("translate")),
        "translate",
    );
    check(builder().experimental_capability("x", &[1]), "x");
}

/// EX-16: only servers of older revisions ask on their own.
#[test]
fn requests_of_an_extension_are_answered() {
    run(async {
        let notes = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&notes);
        let builder = only(Revision::V2025_11_25)
            .extension(Extension::new(NAME).notification("com.example/changed"))
            .on_request(
                "com.example/confirm",
                |asked: BTreeMap<String, String>, _| async move {
                    Ok(BTreeMap::from([("confirmed", asked["action"] == "save")]))
                },
            )
            .on_notification(move |notification| {
                let name = notification.method.name().to_cow().into_owned();
                noted.lock().unwrap().push(name);
            });
        let (client, log) = connect(SERVER, builder, |asked| match &*asked.method {
            "ping" => Say::Lines(vec![
                r#"1 com.example/confirm {"action":"save"}"#.to_owned(),
                r#"2 com.example/confirm {"action":1}"#.to_owned(),
                "- com.example/changed".to_owned(),
                "- com.example/unknown".to_owned(),
                "ID = {}".to_owned(),
            ]),
            _ => Say::Nothing,
        })
        .await
        .unwrap();
        client.ping().await.unwrap();
        crate::sim::settle();
        assert_eq!(log.texts("answer", &["confirmed"]), ["true", "-"]);
        assert_eq!(*notes.lock().unwrap(), ["com.example/changed"]);
    });
}

/// EX-16
#[test]
fn a_request_without_parameters_and_result_takes_and_returns_nothing() {
    run(async {
        let builder = only(Revision::V2025_11_25)
            .extension(Extension::new(NAME))
            .on_request("com.example/done", |(): (), _| async { Ok(()) });
        let (client, log) = connect(SERVER, builder, |asked| match &*asked.method {
            "ping" => Say::Lines(vec![
                "1 com.example/done".to_owned(),
                r#"2 com.example/done {"a":1}"#.to_owned(),
                "ID = {}".to_owned(),
            ]),
            _ => Say::Nothing,
        })
        .await
        .unwrap();
        client.ping().await.unwrap();
        crate::sim::settle();
        assert_eq!(log.texts("answer", &[]), ["{}", "{}"]);
    });
}

/// EX-13, EX-14
#[test]
fn a_subscription_has_members_of_extensions() {
    run(async {
        let builder = only(Revision::V2026_07_28)
            .extension(Extension::new(NAME).notification("notifications/example/rooms"));
        let (client, log) = connect(SERVER, builder, |asked| match &*asked.method {
            "subscriptions/listen" => Say::Lines(vec![
                r#"- notifications/subscriptions/acknowledged {"notifications":{"toolsListChanged":true,"rooms":["a"]},"_meta":{"io.modelcontextprotocol/subscriptionId":ID}}"#.to_owned(),
                r#"- notifications/example/rooms {"room":"a","_meta":{"io.modelcontextprotocol/subscriptionId":ID}}"#.to_owned(),
                r#"- notifications/tools/list_changed {"_meta":{"io.modelcontextprotocol/subscriptionId":ID}}"#.to_owned(),
            ]),
            _ => Say::Nothing,
        })
        .await
        .unwrap();
        let filter = SubscriptionFilter {
            tools_list_changed: true,
            resource_subscriptions: vec!["a:b".to_owned()],
            ..SubscriptionFilter::default()
        };
        let filter = ListenFilter::from(filter)
            .member("rooms", &["a", "b"])
            .unwrap();
        let mut subscription = client.listen(filter).await.unwrap();
        assert!(subscription.honoured().tools_list_changed);
        assert_eq!(subscription.accepted("rooms").unwrap().as_str(), r#"["a"]"#);
        assert!(subscription.accepted("doors").is_none());
        let Some(Update::Notification { method, params }) = subscription.next().await else {
            panic!("nothing was told");
        };
        assert_eq!(method, "notifications/example/rooms");
        let room = params.as_raw().object().unwrap().get("room").unwrap();
        assert_eq!(room.as_str(), r#""a""#);
        assert_eq!(subscription.next().await, Some(Update::Tools));
        assert_eq!(
            log.texts("subscriptions/listen", &["notifications"]),
            [r#"{"toolsListChanged":true,"resourceSubscriptions":["a:b"],"rooms":["a","b"]}"#]
        );
    });
}

#[test]
fn requests_carry_more_meta() {
    run(async {
        let (client, log) = connect(SERVER, only(Revision::V2026_07_28), |_| {
            Say::Result(r#"{"resultType":"complete","content":[],"tools":[]}"#.to_owned())
        })
        .await
        .unwrap();
        let mut meta = Meta::new();
        meta.insert("com.example/note", "n").unwrap();
        let key = ["_meta", "com.example/note"];
        client
            .call_tool("job", &settings())
            .meta(meta.clone())
            .await
            .unwrap();
        client.tools().page(None).meta(meta.clone()).await.unwrap();
        client
            .request::<RawBuf>("x/y", &settings())
            .meta(meta.clone())
            .await
            .unwrap();
        let own = BTreeMap::from([("_meta", BTreeMap::from([("com.example/note", "own")]))]);
        client
            .request::<RawBuf>("x/z", &own)
            .meta(meta)
            .await
            .unwrap();
        for method in ["tools/call", "tools/list", "x/y"] {
            assert_eq!(log.texts(method, &key), [r#""n""#], "{method}");
        }
        assert_eq!(log.texts("tools/call", &["arguments", "version"]), ["2"]);
        assert_eq!(log.texts("x/y", &["version"]), ["2"]);
        assert_eq!(log.texts("x/z", &key), [r#""own""#]);
        let version = ["_meta", "io.modelcontextprotocol/protocolVersion"];
        assert_eq!(log.texts("x/y", &version), [r#""2026-07-28""#]);
    });
}
