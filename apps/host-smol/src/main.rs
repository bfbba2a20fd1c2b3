//! A client of the notes server on smol: `host-smol PROGRAM`. It starts the program, watches the
//! notes, adds one, gives a slow call up and deletes the note again.

use std::error::Error;
use std::time::Duration;

use mcp_smol::client::Update;
use mcp_smol::model::ElicitResult;
use mcp_smol::{Client, Command, child};
use serde_json::{Value, json};
use smol::Timer;
use smol::future::or;

fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::args().nth(1).ok_or("usage: host-smol PROGRAM")?;
    smol::block_on(run(Command::new(program).arg(":memory:")))
}

async fn run(command: Command) -> Result<(), Box<dyn Error>> {
    let client = Client::builder("host-smol", env!("CARGO_PKG_VERSION"))
        .on_elicitation(|_, _| async { Ok(ElicitResult::accept(&json!({ "sure": true }))?) })
        .connect(child(command))
        .await?;
    for tool in client.tools().all().await? {
        println!("tool {}", tool.name);
    }

    let mut changes = client.subscribe("note:///index").await?;
    let note = json!({ "title": "Milk", "body": "buy" });
    let note: Value = client.call_tool_as("add", &note).await?;
    println!("added {note}");
    if let Some(Update::Resource(uri)) = changes.next().await {
        println!("changed {uri}");
    }

    // The call is cancelled because its future is dropped.
    let steps = json!({ "steps": 1000 });
    let slow = async {
        let call = client.call_tool("reindex", &steps);
        let result = call
            .on_progress(|step| println!("progress {}", step.progress))
            .await;
        Some(result)
    };
    let late = async {
        Timer::after(Duration::from_millis(300)).await;
        None
    };
    match or(slow, late).await {
        Some(result) => println!("{}", result?.text()),
        None => println!("gave up"),
    }

    let id = json!({ "id": note["id"] });
    println!("{}", client.call_tool("delete", &id).await?.text());
    client.close().await?;
    Ok(())
}
