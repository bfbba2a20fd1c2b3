//! Drives the server in this process, without a pipe or a socket.

use mcp_tokio::client::{CallError, Negotiation};
use mcp_tokio::model::{ElicitParams, ElicitResult, Reference};
use mcp_tokio::{Client, in_memory};
use notes::Store;
use serde_json::{Value, json};

/// Connects a client whose person confirms whatever is asked.
async fn client(negotiation: Negotiation) -> Client {
    let store = Store::open(":memory:").unwrap();
    let server = notes::server(store).build().unwrap();
    Client::builder("test", "1.0")
        .negotiation(negotiation)
        .on_elicitation(|asked, _| async move {
            let ElicitParams::Form(form) = asked else {
                return Ok(ElicitResult::decline());
            };
            let sure = !form.message.contains("precious");
            Ok(ElicitResult::accept(&json!({ "sure": sure }))?)
        })
        .connect(in_memory(&server))
        .await
        .unwrap()
}

async fn add(client: &Client, title: &str, tag: &str) -> Value {
    let note = json!({ "title": title, "body": "buy", "tag": tag });
    client.call_tool_as("add", &note).await.unwrap()
}

const ERAS: [Negotiation; 2] = [Negotiation::Probe, Negotiation::Handshake];

#[tokio::test]
async fn notes_are_added_found_and_deleted() {
    for era in ERAS {
        let client = client(era).await;
        let milk = add(&client, "Milk", "shop").await;
        let expected = json!({
            "id": 1, "title": "Milk", "body": "buy", "priority": "normal", "tag": "shop",
        });
        assert_eq!(milk, expected);
        let bread = add(&client, "precious Bread", "shop").await;

        for (query, found) in [
            (json!({}), vec![&milk, &bread]),
            (json!({ "limit": 1 }), vec![&milk]),
            (json!({ "text": "BREAD" }), vec![&bread]),
            (json!({ "text": "%" }), vec![]),
            (json!({ "tag": "shop", "priority": "high" }), vec![]),
        ] {
            let notes: Value = client.call_tool_as("search", &query).await.unwrap();
            assert_eq!(notes, json!({ "notes": found }), "{query}");
        }

        for (id, deleted) in [(1, true), (2, false)] {
            let id = json!({ "id": id });
            let answer: Value = client.call_tool_as("delete", &id).await.unwrap();
            assert_eq!(answer, json!({ "deleted": deleted }));
        }
        let index = client.read_resource("note:///index").await.unwrap();
        assert_eq!(index.text().as_deref(), Some("[2]"));
    }
}

/// The model reads why its call failed, and what its arguments have to be.
#[tokio::test]
async fn bad_calls() {
    for era in ERAS {
        let client = client(era).await;
        for (tool, arguments, expected) in [
            (
                "add",
                json!({ "title": " ", "body": "" }),
                "A note needs a title.",
            ),
            ("add", json!({ "title": 5, "body": "" }), "title"),
            ("add", json!({ "body": "" }), "title"),
            ("search", json!({ "limit": 1000 }), "limit"),
            ("search", json!({ "priority": "urgent" }), "priority"),
            ("delete", json!({ "id": 99 }), "There is no note 99."),
        ] {
            let text = match client.call_tool(tool, &arguments).await {
                Ok(result) => {
                    assert!(result.is_error, "{tool} {arguments}");
                    result.text()
                }
                Err(CallError::Server(error)) => error.message.into_owned(),
                Err(error) => panic!("{tool} {arguments}: {error}"),
            };
            assert!(text.contains(expected), "{tool} {arguments}: {text}");
        }
    }
}

#[tokio::test]
async fn resources_and_prompts() {
    for era in ERAS {
        let client = client(era).await;
        add(&client, "Milk", "shop").await;
        add(&client, "Call", "work").await;

        let listed = client.resources().all().await.unwrap();
        let listed = listed
            .iter()
            .map(|resource| (&*resource.uri, &*resource.name));
        let expected = [
            ("note:///1", "Milk"),
            ("note:///2", "Call"),
            ("note:///index", "index"),
        ];
        assert!(listed.eq(expected));
        let note = client.read_resource("note:///1").await.unwrap();
        assert_eq!(note.text().as_deref(), Some("# Milk\n\nbuy"));
        let error = client.read_resource("note:///99").await.unwrap_err();
        assert!(matches!(error, CallError::Server(_)), "{error}");
        let template = Reference::resource("note:///{id}");
        let ids = client.complete(&template, "id", "").await.unwrap();
        assert_eq!(ids.values, ["1", "2"]);

        let arguments = json!({ "tag": "shop", "words": "20" });
        let prompt = client.get_prompt("summarize", &arguments).await.unwrap();
        let [task, note] = &prompt.messages[..] else {
            panic!("{prompt:?}");
        };
        let task = task.content.as_text();
        assert_eq!(task, Some("Summarize my notes on shop in 20 words."));
        assert!(format!("{note:?}").contains("note:///1"), "{note:?}");

        let picture = client.call_tool("picture", &json!({})).await.unwrap();
        assert_eq!(picture.content.len(), 2);
    }
}
