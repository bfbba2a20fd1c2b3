//! What the suite wants to see, scenario by scenario.

use mcp_async::Client;
use mcp_async::client::{CallError, ClientBuilder};
use mcp_async::http::HttpConnector;
use mcp_async::model::{CreateMessageResult, ElicitParams, ElicitResult, Root};
use mcp_proto::json::{Raw, RawBuf};
use mcp_skills::{LoadError, SkillsClient};
use serde::{Deserialize, Serialize};

use super::Outcome;

/// A client that can do all that there is.
pub(crate) fn builder() -> ClientBuilder {
    Client::builder("conformance", env!("CARGO_PKG_VERSION"))
        .roots([Root::new("file:///srv/conformance")])
        .on_sampling(async |_, _| Ok(CreateMessageResult::new("none", "nothing to add")))
        .on_elicitation(async |asked, _| Ok(agree(&asked)))
}

/// Does what this scenario asks for.
pub(crate) async fn play(
    scenario: &str,
    builder: ClientBuilder,
    server: HttpConnector,
    context: &RawBuf,
) -> Outcome {
    let client = builder.connect(server).await?;
    match scenario {
        "initialize" | "request-metadata" => {}
        "tools_call" => {
            list(&client).await?;
            call(&client, "add_numbers", &Terms { a: 2.0, b: 3.0 }).await?;
        }
        "elicitation-sep1034-client-defaults" => {
            list(&client).await?;
            call(&client, "test_client_elicitation_defaults", &()).await?;
        }
        "sse-retry" => {
            list(&client).await?;
            call(&client, "test_reconnection", &()).await?;
        }
        "json-schema-ref-no-deref" => {
            list(&client).await?;
        }
        "json-schema-2020-12-preservation" => preserve(&client).await?,
        "http-standard-headers" => every_method(&client).await?,
        "http-custom-headers" => custom_headers(&client, context).await?,
        "http-invalid-tool-headers" => {
            // Those whose headers cannot be are not among them.
            for tool in client.tools().all().await? {
                call(&client, &tool.name, &Region { region: "us" }).await?;
            }
        }
        "sep-2322-client-request-state" => {
            list(&client).await?;
            for tool in ["echo_state", "unrelated", "no_state", "no_result_type"] {
                call(&client, &format!("test_mrtr_{tool}"), &()).await?;
            }
        }
        "sep-2640-client-no-prefetch" => {
            SkillsClient::new(&client).all().await?;
        }
        name if name.starts_with("sep-2640-client-verify-") => refuse(&client).await?,
        // Whatever the way to a token, it serves two requests.
        name if name.starts_with("auth/") => {
            list(&client).await?;
            call(&client, "test-tool", &()).await?;
        }
        other => return Err(format!("the scenario {other} is not known").into()),
    }
    client.close().await?;
    Ok(())
}

/// The client mirrors arguments into headers by what it learnt of the tools.
async fn list(client: &Client) -> Result<(), CallError> {
    client.tools().all().await.map(drop)
}

async fn call(client: &Client, tool: &str, arguments: &(impl Serialize + Sync)) -> Outcome {
    let answer = client.call_tool(tool, arguments).await?;
    if answer.is_error {
        return Err(format!("{tool}: {}", answer.text()).into());
    }
    Ok(())
}

/// A tool's schema comes back as it was listed.
async fn preserve(client: &Client) -> Outcome {
    let tools = client.tools().all().await?;
    let focal = tools
        .iter()
        .find(|tool| tool.name == "json_schema_2020_12_tool");
    let schema = focal.ok_or("the tool is not listed")?.input_schema.clone();
    call(client, "json_schema_echo", &Echo { schema }).await
}

/// Every kind of request that there is a header for.
async fn every_method(client: &Client) -> Outcome {
    for tool in client.tools().all().await? {
        call(client, &tool.name, &()).await?;
    }
    for resource in client.resources().all().await? {
        client.read_resource(&resource.uri).await?;
    }
    for prompt in client.prompts().all().await? {
        client.get_prompt(&prompt.name, &()).await?;
    }
    Ok(())
}

/// Loads a skill that is not what its entry says, and reads no other file of it.
async fn refuse(client: &Client) -> Outcome {
    let skills = SkillsClient::new(client);
    let all = skills.all().await?;
    let mut named = all.into_iter();
    let entry = named.find(|entry| entry.frontmatter.name() == Some("pdf-processing"));
    let entry = entry.ok_or("the skill is not listed")?;
    match skills.load(entry).await {
        Ok(skill) => {
            skill.read("references/FORMS.md").await?;
            Ok(())
        }
        Err(LoadError::Check(error)) => {
            eprintln!("refused: {error}");
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// The context says what to call with which arguments.
async fn custom_headers(client: &Client, context: &RawBuf) -> Outcome {
    list(client).await?;
    let context: Context = context.decode()?;
    for wanted in context.tool_calls {
        call(client, &wanted.name, &wanted.arguments).await?;
    }
    Ok(())
}

/// The person agrees; fields with a default are left to the client.
fn agree(asked: &ElicitParams) -> ElicitResult {
    let ElicitParams::Form(form) = asked else {
        return ElicitResult::agree();
    };
    let schema = form.requested_schema.as_raw().object();
    let asked = schema.and_then(|schema| schema.get("properties")?.object());
    let confirms = asked.is_some_and(|fields| fields.get("confirmed").is_some_and(is_boolean));
    let agreed = Agreed {
        confirmed: confirms.then_some(true),
    };
    ElicitResult::accept(&agreed).unwrap_or_else(|_| ElicitResult::decline())
}

fn is_boolean(field: Raw<'_>) -> bool {
    let kind = field.object().and_then(|field| field.get("type")?.string());
    kind.is_some_and(|kind| kind == "boolean")
}

#[derive(Serialize)]
struct Terms {
    a: f64,
    b: f64,
}

#[derive(Serialize)]
struct Region<'a> {
    region: &'a str,
}

#[derive(Serialize)]
struct Echo {
    schema: RawBuf,
}

#[derive(Serialize)]
struct Agreed {
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    tool_calls: Vec<Wanted>,
}

#[derive(Deserialize)]
struct Wanted {
    name: String,
    arguments: RawBuf,
}
