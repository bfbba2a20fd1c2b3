//! The scenarios of authorization: who the client is, and a browser without a window.

use core::error::Error;
use std::io;

use mcp_async::auth::{
    Authorization, AuthorizationPage, ClientProof, EnterpriseGrant, PreRegistered, SigningKey,
    Subject, UserAgent,
};
use mcp_async::net::HttpClient;
use mcp_async::runtime::RuntimeHandle;
use mcp_proto::json::RawBuf;
use serde::Deserialize;

/// Where the suite expects that a client with a metadata document has it. It is not fetched.
const METADATA_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// The authorization that a scenario asks for. None tells which grant is meant but its name.
pub(crate) fn authorization(
    scenario: &str,
    context: &RawBuf,
) -> Result<Authorization, Box<dyn Error>> {
    let Context {
        client_id,
        client_secret,
        private_key_pem,
        issuer,
        idp_client_id,
        idp_id_token,
        idp_issuer,
        idp_token_endpoint,
        valid_jwt,
    } = match context.as_raw().object() {
        Some(_) => context.decode()?,
        None => Context::default(),
    };
    let authorization = match scenario {
        "basic-cimd" => Authorization::new().metadata_document(METADATA_DOCUMENT),
        "pre-registration" => {
            let proof = ClientProof::Secret(client_secret.into());
            let registered = Authorization::new().registered(&client_id, proof);
            // The suite of old does not name it.
            match &*issuer {
                "" => trusting(registered),
                issuer => registered.issuer(issuer),
            }
        }
        "client-credentials-basic" => {
            trusting(Authorization::client_secret(&client_id, &client_secret))
        }
        "client-credentials-jwt" => {
            let key = SigningKey::from_pem(&private_key_pem)?;
            Authorization::client_key(&client_id, key, None)
        }
        "enterprise-managed-authorization" | "cross-app-access-complete-flow" => {
            let provider = PreRegistered {
                issuer: Some(idp_issuer),
                client_id: idp_client_id,
                proof: ClientProof::Public,
            };
            let grant = EnterpriseGrant {
                token_endpoint: idp_token_endpoint,
                client: provider,
                endpoint_auth: None,
                subject: Subject::IdToken(idp_id_token.into()),
                // The suite's metadata does not list the profile.
                force: true,
            };
            let proof = ClientProof::Secret(client_secret.into());
            trusting(Authorization::enterprise(grant).registered(&client_id, proof))
        }
        "wif-jwt-bearer" => Authorization::workload(move || Ok(valid_jwt.clone()))
            .registered(&client_id, ClientProof::Public),
        "dpop" | "dpop-nonce" => Authorization::new().require_dpop(SigningKey::generate()?),
        _ => Authorization::new(),
    };
    Ok(authorization.user_agent(Browser(HttpClient::builder().no_redirects().build())))
}

/// The suite names no issuer for the client: it gets the secret at the one that its server names.
fn trusting(authorization: Authorization) -> Authorization {
    authorization.configure(|config| config.trust_named_issuer = true)
}

/// Opens a page and returns where it redirects to, without going there.
struct Browser(HttpClient);

impl UserAgent for Browser {
    fn start(&self, runtime: &RuntimeHandle) {
        self.0.start(runtime);
    }

    async fn redirect_uri(&self, _: Option<&str>) -> io::Result<String> {
        Ok("http://127.0.0.1:33418/callback".into())
    }

    async fn open(&self, page: &AuthorizationPage) -> io::Result<String> {
        let request = http::Request::get(&page.url).body("");
        let request = request.map_err(io::Error::other)?;
        let response = self.0.send(request).await.map_err(io::Error::other)?;
        let location = response.headers().get(http::header::LOCATION);
        let location = location.and_then(|location| location.to_str().ok());
        let location = location.ok_or_else(|| io::Error::other("no redirect"))?;
        Ok(location.to_owned())
    }
}

/// What the suite says to the scenarios that need it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Context {
    client_id: String,
    client_secret: String,
    private_key_pem: String,
    issuer: String,
    idp_client_id: String,
    idp_id_token: String,
    idp_issuer: String,
    idp_token_endpoint: String,
    valid_jwt: String,
}
