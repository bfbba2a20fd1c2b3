//! Calls, one by one.

use mcp_async::server::service_fn;
use mcp_async::{Client, duplex, server};
use mcp_proto::json::RawBuf;
use mcp_proto::model::ServerFeatures;
use mcp_proto::server::ServerConfig;

use crate::support::{Sim, run, spawn};

#[test]
fn a_tool_is_listed_and_called() {
    let (left, right) = duplex(4096);
    let config = ServerConfig {
        capabilities: ServerFeatures::TOOLS.capabilities(),
        ..ServerConfig::new("empty", "1.0")
    };
    let service = service_fn(|call| {
        let text = match call.method.name() {
            name if name == "tools/list" => {
                r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"public"}"#
            }
            _ => r#"{"content":[{"type":"text","text":"hello"}]}"#,
        };
        call.ready(Ok(RawBuf::parse(text).unwrap()))
    });
    let (served, _peer) = server::connect(right.split(), Sim, config, service);
    spawn(async move {
        served.await.unwrap();
    });
    run(async {
        let client: Client<Sim> = Client::builder("test", "0")
            .connect(left.split())
            .await
            .unwrap();
        let tools = client.tools().all().await.unwrap();
        assert_eq!(tools.len(), 1);
        let answer = client.call_tool("a", &()).await.unwrap();
        assert_eq!(answer.text(), "hello");
        client.close().await.unwrap();
    });
}
