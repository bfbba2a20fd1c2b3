//! A server and a client for each tenant: what they are configured with is freed with them.

use mcp_async::in_memory;
use std::collections::BTreeMap;

use allocation_counter::measure;
use mcp_async::server::Extension;
use mcp_async::{Client, Server};

use super::support::run;
use crate::server_typed::support::says;
use crate::sim::{Sim, end, settle};

#[test]
fn the_texts_of_a_tenant_are_freed_with_its_server_and_client() {
    serve(0);
    let used = measure(|| (1..=TENANTS).for_each(serve));
    // All of them leave less than one would keep.
    assert!(used.bytes_current < TEXT as i64, "{used:?}");
}

/// Connects a client and a server of the tenant, calls a tool, and drops everything.
fn serve(tenant: usize) {
    let text = format!("{tenant:0>TEXT$}");
    run(async {
        let server = Server::builder(text.as_str(), "1.0")
            .title(text.as_str())
            .instructions(text.as_str())
            .extension(
                Extension::new("com.example/tenant").settings(BTreeMap::from([("name", &text)])),
            )
            .tool("hello", "Greets", says("Hello!"))
            .build()
            .unwrap();
        let client = Client::builder(&text, "1.0").title(&text);
        let client = client
            .connect(in_memory(Sim.into(), &server))
            .await
            .unwrap();
        assert_eq!(client.info().instructions.as_deref(), Some(&*text));
        client.call_tool("hello", &()).await.unwrap();
        client.close().await.unwrap();
    });
    settle();
    end();
}

const TENANTS: usize = 32;
/// The bytes of each text.
const TEXT: usize = 16 << 10;
