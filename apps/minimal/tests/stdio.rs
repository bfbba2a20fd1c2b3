//! Drives the program over its standard streams.

use mcp_tokio::{Client, Command, child};
use serde_json::{Value, json};

#[tokio::test]
async fn calls_share_the_state() {
    let server = Command::new(env!("CARGO_BIN_EXE_minimal"));
    let client = Client::connect(child(server)).await.unwrap();
    for id in 1..=3 {
        let note = json!({ "text": "milk" });
        let added: Value = client.call_tool_as("add", &note).await.unwrap();
        assert_eq!(added, json!({ "id": id }));
    }
    let status = client.close().await.unwrap();
    assert!(status.is_some_and(|status| status.success()), "{status:?}");
}
