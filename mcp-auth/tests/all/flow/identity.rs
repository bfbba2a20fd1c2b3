//! Who the client is, and how it authenticates.

use super::script::*;
use mcp_auth::{
    AuthConfig, ClientProof, Credentials, Document, EndpointAuth, IdentitySource, PreRegistered,
    metadata_document,
};

const DOCUMENT_URL: &str = "https://client.example/metadata.json";

/// AU-40 to AU-44: the order, and the body of a registration.
#[test]
fn dynamic_registration() {
    let mut script = Script::new(config(), challenge("Bearer scope=a"));
    script.discovers("");
    let request = script.posts("https://as.example/register");
    assert_eq!(request.header("content-type"), Some("application/json"));
    let body: serde_json::Value =
        serde_json::from_str(request.body.as_ref().unwrap().expose()).unwrap();
    let expected = serde_json::json!({
        "client_name": "Demo",
        "redirect_uris": [CALLBACK],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
        "scope": "a",
    });
    assert_eq!(body, expected);
    script.answers(200, r#"{"client_id":"registered-1"}"#);
    assert_eq!(script.opens().get("client_id").unwrap(), "registered-1");
}

/// AU-41: the document that goes where the client id says.
#[test]
fn the_metadata_document() {
    let text = metadata_document(&config(), DOCUMENT_URL);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["client_id"], DOCUMENT_URL);
    assert_eq!(document["redirect_uris"], serde_json::json!([CALLBACK]));
}

#[test]
fn metadata_documents_go_before_registration() {
    let documented = || AuthConfig {
        metadata_document: Some((DOCUMENT_URL.into(), ClientProof::Public)),
        ..config()
    };
    let mut script = Script::new(documented(), None);
    script.discovers(r#","client_id_metadata_document_supported":true"#);
    assert_eq!(script.opens().get("client_id").unwrap(), DOCUMENT_URL);

    let mut script = Script::new(documented(), None);
    script.discovers("");
    script.registers();
}

#[test]
fn the_user_is_asked_last() {
    let document = metadata("").replace("registration_endpoint", "other");
    let ask = || {
        let mut script = Script::new(config(), None);
        script.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
        script.gets(SERVER_METADATA).answers(200, &document);
        script
    };
    let given = PreRegistered {
        issuer: None,
        client_id: "given-1".into(),
        proof: ClientProof::Public,
    };
    let mut script = ask();
    script.asks_identity(ISSUER, Some(given));
    assert_eq!(script.opens().get("client_id").unwrap(), "given-1");

    let mut script = ask();
    script.asks_identity(ISSUER, None);
    script.error(
        Document::ServerMetadata,
        &["no way to identify", "register this client"],
    );
}

/// AU-45, AU-47: a pre-registered client is used with its own issuer only.
#[test]
fn pre_registered_with_another_issuer() {
    let published = PUBLISHED.replace(ISSUER, "https://other.example");
    let mut script = Script::new(registered(ClientProof::Public), None);
    script.gets(RESOURCE_METADATA).answers(200, &published);
    script.error(
        Document::ResourceMetadata,
        &[ISSUER, "https://other.example"],
    );
}

/// AU-36: the secret of a client without an issuer of its own goes to the preferred one only.
#[test]
fn the_preferred_issuer_of_a_secret() {
    let config = |proof, preferred: &str| {
        let mut config = registered(proof);
        config.preferred_issuer = Some(preferred.into());
        if let Some(client) = &mut config.pre_registered {
            client.issuer = None;
        }
        config
    };
    let secret = || ClientProof::Secret("s".into());
    let mut script = Script::new(config(secret(), "https://other.example"), None);
    script.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
    script.error(
        Document::ResourceMetadata,
        &[ISSUER, "https://other.example"],
    );
    // Nor to the server itself where its metadata vanished.
    let mut script = Script::new(config(secret(), ISSUER), None);
    for _ in 0..2 {
        script.request();
        script.answers(404, "");
    }
    script.request();
    let own = metadata("").replace("as.example", "mcp.example");
    script.answers(200, &own);
    script.error(Document::ServerMetadata, &[ISSUER, "https://mcp.example"]);

    for (proof, preferred) in [
        (secret(), ISSUER),
        (ClientProof::Public, "https://other.example"),
    ] {
        let mut script = Script::consented(config(proof, preferred), None);
        script.posts(TOKEN);
    }
}

/// AU-36: a secret without an issuer is sent only if the server is trusted to name it.
#[test]
fn secrets_without_an_issuer() {
    let config = |trust_named_issuer| {
        let mut config = registered(ClientProof::Secret("s".into()));
        config.trust_named_issuer = trust_named_issuer;
        if let Some(client) = &mut config.pre_registered {
            client.issuer = None;
        }
        config
    };
    let error = mcp_auth::Flow::authorize(config(false), None, None).unwrap_err();
    assert_eq!(error.document, Document::Configuration);
    assert!(error.to_string().contains("`issuer` is missing"), "{error}");
    let mut script = Script::consented(config(true), None);
    script.posts(TOKEN);
}

/// AU-49: what the server registered is used and kept.
#[test]
fn registered_secrets_and_methods() {
    for (listed, answer, expected) in [
        // Without a method: the first that is listed, else Basic with a secret.
        (
            "",
            r#"{"client_id":"c","client_secret":"s"}"#,
            EndpointAuth::Basic,
        ),
        ("", r#"{"client_id":"c"}"#, EndpointAuth::None),
        (
            r#"["client_secret_post"]"#,
            r#"{"client_id":"c","client_secret":"s"}"#,
            EndpointAuth::Post,
        ),
        (
            r#"["none"]"#,
            r#"{"client_id":"c","client_secret":"s"}"#,
            EndpointAuth::None,
        ),
        (
            r#"["none"]"#,
            r#"{"client_id":"c","client_secret":""}"#,
            EndpointAuth::None,
        ),
        // The registered method goes before what is listed.
        (
            r#"["client_secret_basic"]"#,
            r#"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post"}"#,
            EndpointAuth::Post,
        ),
    ] {
        let more = match listed {
            "" => String::new(),
            list => format!(r#","token_endpoint_auth_methods_supported":{list}"#),
        };
        let mut script = Script::new(config(), None);
        script.discovers(&more);
        script.posts("https://as.example/register");
        script.answers(201, answer);
        script.consents();
        let request = script.posts(TOKEN);
        let basic = request.header("authorization").is_some();
        let secret = form_value(&request, "client_secret").is_some();
        let id = form_value(&request, "client_id").is_some();
        // AU-69: never two methods at once.
        let found = match (basic, secret, id) {
            (true, false, false) => EndpointAuth::Basic,
            (false, true, true) => EndpointAuth::Post,
            (false, false, true) => EndpointAuth::None,
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{listed} {answer}");
        let credentials = script.answers(200, r#"{"access_token":"t"}"#).done();
        assert_eq!(credentials.endpoint_auth, expected);
    }
}

#[test]
fn refused_registrations() {
    for (status, answer, texts) in [
        (
            400,
            r#"{"error":"invalid_redirect_uri","error_description":"no http"}"#,
            ["invalid_redirect_uri", "no http"],
        ),
        (403, "<html>", ["status 403", "/register"]),
        (404, "", ["status 404", "/register"]),
        (201, "{}", ["`client_id` is missing", "/register"]),
        (
            201,
            r#"{"client_id":7}"#,
            ["`client_id` must be a string", "number"],
        ),
        (201, "<html>", ["expected JSON", "/register"]),
        (
            201,
            r#"{"client_id":"c","token_endpoint_auth_method":"client_secret_post"}"#,
            ["client_secret", "missing"],
        ),
        (
            201,
            r#"{"client_id":"c","token_endpoint_auth_method":"tls_client_auth"}"#,
            ["token_endpoint_auth_method", "none"],
        ),
    ] {
        let mut script = Script::new(config(), None);
        script.discovers("");
        script.posts("https://as.example/register");
        script.answers(status, answer);
        script.error(Document::Registration, &texts);
    }
}

/// RFC 7591, section 2: `scope` is optional.
#[test]
fn a_registration_is_repeated_without_scopes() {
    let refused =
        |error: &str| format!(r#"{{"error":"{error}","error_description":"scope must only .."}}"#);
    let registers = |field: &str| {
        let mut script = Script::new(config(), challenge(field));
        script.discovers("");
        script.posts("https://as.example/register");
        script
    };
    let mut script = registers("Bearer scope=a");
    script.answers(400, &refused("invalid_client_metadata"));
    let request = script.posts("https://as.example/register");
    let body: serde_json::Value =
        serde_json::from_str(request.body.as_ref().unwrap().expose()).unwrap();
    assert_eq!(body.get("scope"), None);
    assert_eq!(body["redirect_uris"], serde_json::json!([CALLBACK]));
    script.answers(201, r#"{"client_id":"registered-1"}"#);
    // The scopes are asked for nevertheless.
    let page = script.opens();
    assert_eq!(page.get("client_id").unwrap(), "registered-1");
    assert_eq!(page.get("scope").unwrap(), "a");

    // Once, and for no other reason.
    let mut script = registers("Bearer scope=a");
    script.answers(400, &refused("invalid_client_metadata"));
    script.posts("https://as.example/register");
    script.answers(400, &refused("invalid_client_metadata"));
    script.error(Document::Registration, &["invalid_client_metadata"]);
    for (field, error) in [
        ("Bearer scope=a", "invalid_redirect_uri"),
        ("Bearer", "invalid_client_metadata"),
    ] {
        let mut script = registers(field);
        script.answers(400, &refused(error));
        script.error(Document::Registration, &[error, "scope must only"]);
    }
}

/// AU-45, AU-46, AU-49: a registration serves again with its issuer and its redirect URI, and only
/// with these.
#[test]
fn registrations_are_kept() {
    let mut script = Script::new(config(), None);
    script.discovers("");
    let later = START + 1000;
    script.posts("https://as.example/register");
    script.answers(
        201,
        &format!(r#"{{"client_id":"c","client_secret":"s","client_secret_expires_at":{later}}}"#),
    );
    script.consents();
    script.posts(TOKEN);
    let stored = script.answers(200, r#"{"access_token":"t"}"#).done();

    let mut script = Script::with_stored(config(), None, &stored);
    script.discovers("");
    assert_eq!(script.consents().get("client_id").unwrap(), "c");
    assert!(script.posts(TOKEN).header("authorization").is_some());

    let mut moved = stored.clone();
    moved.issuer = "https://old.example".into();
    let mut expired = stored.clone();
    expired.identity.secret_expires_at = Some(mcp_auth::UnixTime::from_secs(START));
    let mut elsewhere = stored.clone();
    elsewhere.identity.redirect_uri = Some("http://127.0.0.1:1/callback".into());
    let mut other_server = stored;
    other_server.server = "https://mcp.example/other".into();
    for stored in [moved, expired, elsewhere, other_server] {
        let mut script = Script::with_stored(config(), None, &stored);
        script.discovers("");
        script.registers();
    }
}

/// AU-45, AU-46: a client that was given serves again with its issuer and its redirect URI, and only
/// with these.
#[test]
fn given_clients_are_kept() {
    let document = metadata("").replace("registration_endpoint", "other");
    let finds = |mut script: Script| {
        script.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
        script.gets(SERVER_METADATA).answers(200, &document);
        script
    };
    let given = PreRegistered {
        issuer: None,
        client_id: "given-1".into(),
        proof: ClientProof::Secret("s".into()),
    };
    let mut script = finds(Script::new(config(), None));
    script.asks_identity(ISSUER, Some(given.clone()));
    script.consents();
    script.posts(TOKEN);
    let stored = script.answers(200, r#"{"access_token":"t"}"#).done();
    assert_eq!(stored.identity.source, IdentitySource::Given);
    let read = Credentials::from_json(stored.to_json().expose().as_bytes());
    assert_eq!(read.as_ref(), Ok(&stored));

    let mut script = finds(Script::with_stored(config(), None, &stored));
    assert_eq!(script.consents().get("client_id").unwrap(), "given-1");
    let request = script.posts(TOKEN);
    assert!(request.header("authorization").is_some());

    let mut moved = stored.clone();
    moved.issuer = "https://old.example".into();
    let mut elsewhere = stored;
    elsewhere.identity.redirect_uri = Some("http://127.0.0.1:1/callback".into());
    for stored in [moved, elsewhere] {
        let mut script = finds(Script::with_stored(config(), None, &stored));
        script.asks_identity(ISSUER, None);
    }
    // An answer about another issuer is not used.
    let mut script = finds(Script::new(config(), None));
    let other = PreRegistered {
        issuer: Some("https://other.example".into()),
        ..given
    };
    script.asks_identity(ISSUER, Some(other));
    script.error(Document::ServerMetadata, &["https://other.example", ISSUER]);
}

/// RFC 6749, section 2.3.1: form-encoded before Base64.
#[test]
fn basic_credentials_are_form_encoded() {
    let mut config = registered(ClientProof::Secret("p:a ss%\u{e9}".into()));
    if let Some(client) = &mut config.pre_registered {
        client.client_id = "a:b".into();
    }
    let mut script = Script::consented(config, None);
    let request = script.posts(TOKEN);
    // a%3Ab:p%3Aa+ss%25%C3%A9
    assert_eq!(
        request.header("authorization"),
        Some("Basic YSUzQWI6cCUzQWErc3MlMjUlQzMlQTk=")
    );
}

/// AU-119: a method that the application forces.
#[test]
fn forced_methods() {
    let config = AuthConfig {
        endpoint_auth: Some(EndpointAuth::Post),
        ..registered(ClientProof::Secret("s".into()))
    };
    let mut script = Script::new(config, None);
    script.discovers(r#","token_endpoint_auth_methods_supported":["client_secret_basic"]"#);
    script.consents();
    let request = script.posts(TOKEN);
    assert_eq!(form_value(&request, "client_secret").unwrap(), "s");
    assert_eq!(request.header("authorization"), None);
}

/// AU-48, AU-99: configurations that cannot be used are refused before anything is sent.
#[test]
fn unusable_configurations() {
    use mcp_auth::Flow;
    let cases = [
        AuthConfig::new("mcp.example", "Demo", CALLBACK),
        AuthConfig::new("https://mcp.example/#x", "Demo", CALLBACK),
        AuthConfig::new("http://mcp.example/p/mcp", "Demo", CALLBACK),
        AuthConfig::new(SERVER, "Demo", "http://client.example/callback"),
        AuthConfig::new(SERVER, "Demo", "demo:/callback"),
        AuthConfig {
            metadata_document: Some(("https://client.example".into(), ClientProof::Public)),
            ..config()
        },
        AuthConfig {
            dpop_required: true,
            ..config()
        },
    ];
    for config in cases {
        let error = Flow::authorize(config, None, None).unwrap_err();
        assert_eq!(error.document, Document::Configuration, "{error}");
    }
    let unencrypted = AuthConfig {
        allow_unencrypted_server: true,
        ..AuthConfig::new("http://mcp.example/p/mcp", "Demo", CALLBACK)
    };
    assert!(Flow::authorize(unencrypted, None, None).is_ok());
}
