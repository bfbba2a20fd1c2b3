//! A server over HTTP, of rmcp.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{ServerHandler, schemars, tool, tool_handler, tool_router};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Said {
    text: String,
}

struct Echo;

#[tool_router]
impl Echo {
    #[tool(description = "Says it again")]
    async fn echo(&self, Parameters(said): Parameters<Said>) -> String {
        said.text
    }
}

#[tool_handler]
impl ServerHandler for Echo {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sessions = LocalSessionManager::default();
    let service = StreamableHttpService::new(|| Ok(Echo), sessions.into(), Default::default());
    let router = axum::Router::new().nest_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    axum::serve(listener, router).await?;
    Ok(())
}
