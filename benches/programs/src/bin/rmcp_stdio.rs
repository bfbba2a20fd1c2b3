//! A server on standard input and output, of rmcp.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServerHandler, ServiceExt as _, schemars, tool, tool_handler, tool_router};

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
    Echo.serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}
