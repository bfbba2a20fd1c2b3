//! Where both documents are looked for, and when they are refused.

use super::script::*;
use mcp_auth::{AuthConfig, ClientProof, Document, PreRegistered, ServerMetadata, Uri};

const NAMED: &str = r#"Bearer resource_metadata="https://docs.example/custom.json""#;

/// AU-21, AU-22, AU-34: the place in the challenge goes first, on another origin too; another one
/// is not asked for.
#[test]
fn the_challenge_names_the_place() {
    let mut script = Script::new(config(), challenge(NAMED));
    script
        .gets("https://docs.example/custom.json")
        .answers(200, PUBLISHED);
    script.gets(SERVER_METADATA);
}

/// AU-22: without one the path is asked for, then the root.
#[test]
fn the_path_goes_before_the_root() {
    let mut script = Script::new(config(), challenge("Bearer"));
    script.gets(RESOURCE_METADATA).answers(404, "");
    let root =
        r#"{"resource":"https://mcp.example","authorization_servers":["https://as.example"]}"#;
    script
        .gets("https://mcp.example/.well-known/oauth-protected-resource")
        .answers(200, root);
    script.gets(SERVER_METADATA).answers(200, &metadata(""));
    script.registers();
    // AU-53: the origin as published, without a slash.
    assert_eq!(
        script.opens().get("resource").unwrap(),
        "https://mcp.example"
    );
}

/// AU-20, AU-22: a place that cannot be used leads to the well-known ones.
#[test]
fn unusable_places_in_challenges() {
    for place in [
        "",
        "/relative",
        "file:///etc/passwd",
        "http://docs.example/x",
        "https://a@b/",
        "https://h/#f",
    ] {
        let field = format!("Bearer resource_metadata=\"{place}\"");
        let mut script = Script::new(config(), challenge(&field));
        script.gets(RESOURCE_METADATA);
    }
}

/// AU-38: a page or another document costs only its place.
#[test]
fn documents_of_another_kind() {
    for body in [
        "<html></html>",
        "[]",
        "{}",
        r#"{"a":1}"#,
        "",
        "null",
        "\u{feff}{}",
    ] {
        let mut script = Script::new(config(), challenge(NAMED));
        script
            .gets("https://docs.example/custom.json")
            .answers(200, body);
        script.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
        script.gets(SERVER_METADATA).answers(200, body);
        script
            .gets("https://as.example/.well-known/openid-configuration")
            .answers(200, &metadata(""));
        script.registers();
    }
}

/// AU-38: failures of a server end discovery.
#[test]
fn failures_of_servers() {
    let mut script = Script::new(config(), None);
    script.gets(RESOURCE_METADATA).answers(503, "");
    let error = script.error(Document::ResourceMetadata, &[RESOURCE_METADATA, "503"]);
    assert_eq!(error.status(), Some(503));

    let mut script = Script::new(config(), None);
    script
        .gets(RESOURCE_METADATA)
        .fails("certificate has expired");
    script.error(Document::ResourceMetadata, &["certificate has expired"]);

    let mut script = Script::new(config(), None);
    script.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
    script.gets(SERVER_METADATA).answers(500, "");
    script.error(Document::ServerMetadata, &[SERVER_METADATA, "500"]);
}

/// AU-23: the document is read, then refused, and authorization ends.
#[test]
fn resources_of_others() {
    for resource in [
        "https://evil.example/p/mcp",
        "https://mcp.example/p%2Fmcp",
        "https://mcp.example/p/mcp/",
        "https://mcp.example",
        "https://mcp.example/p/mcp#x",
        "http://mcp.example/p/mcp",
    ] {
        let document = PUBLISHED.replace(SERVER, resource);
        let mut script = Script::new(config(), None);
        script.gets(RESOURCE_METADATA).answers(200, &document);
        let error = script.error(Document::ResourceMetadata, &["resource", RESOURCE_METADATA]);
        assert!(error.to_string().contains(SERVER), "{error}");
    }
}

/// AU-23: a parent path is accepted by a switch, another origin never.
#[test]
fn parent_resources_by_a_switch() {
    let lenient = || AuthConfig {
        accept_parent_resource: true,
        ..config()
    };
    for resource in [
        "https://mcp.example",
        "https://mcp.example/p",
        "https://mcp.example/p/",
    ] {
        let mut script = Script::new(lenient(), None);
        script
            .gets(RESOURCE_METADATA)
            .answers(200, &PUBLISHED.replace(SERVER, resource));
        script.gets(SERVER_METADATA);
    }
    for resource in [
        "https://evil.example",
        "https://mcp.example/other",
        "https://mcp.example/p/m",
    ] {
        let mut script = Script::new(lenient(), None);
        script
            .gets(RESOURCE_METADATA)
            .answers(200, &PUBLISHED.replace(SERVER, resource));
        script.error(Document::ResourceMetadata, &[resource]);
    }
}

/// AU-53: `resource` is sent as it is published, to the byte.
#[test]
fn the_resource_as_published() {
    for resource in [
        "https://MCP.example/p/mcp",
        "https://mcp.example:443/p/mcp",
        SERVER,
    ] {
        let mut script = Script::new(config(), None);
        script
            .gets(RESOURCE_METADATA)
            .answers(200, &PUBLISHED.replace(SERVER, resource));
        script.gets(SERVER_METADATA).answers(200, &metadata(""));
        script.registers();
        assert_eq!(script.consents().get("resource").unwrap(), resource);
        let request = script.posts(TOKEN);
        assert_eq!(form_value(&request, "resource").unwrap(), resource);
    }
}

/// AU-24, AU-25: the places of an issuer with a path; the root is never asked for.
#[test]
fn issuers_with_a_path() {
    let published = PUBLISHED.replace(ISSUER, "https://as.example/tenant1");
    let mut script = Script::new(config(), None);
    script.gets(RESOURCE_METADATA).answers(200, &published);
    script
        .gets("https://as.example/.well-known/oauth-authorization-server/tenant1")
        .answers(404, "");
    script
        .gets("https://as.example/.well-known/openid-configuration/tenant1")
        .answers(404, "");
    script
        .gets("https://as.example/tenant1/.well-known/openid-configuration")
        .answers(404, "");
    script.error(
        Document::ServerMetadata,
        &["https://as.example/tenant1", "none of its places"],
    );
}

/// A script until the metadata of the authorization server is read: the issuer as the MCP server
/// names it, and as the metadata does.
fn issuers(config: AuthConfig, named: &str, published: &str) -> Script {
    let mut script = Script::new(config, None);
    script
        .gets(RESOURCE_METADATA)
        .answers(200, &PUBLISHED.replace(ISSUER, named));
    let uri = Uri::parse(named).unwrap();
    let place = ServerMetadata::candidates(&uri).remove(0);
    let other = metadata("").replace(
        "\"issuer\":\"https://as.example\"",
        &format!("\"issuer\":{published:?}"),
    );
    script.gets(&place).answers(200, &other);
    script
}

/// AU-26, AU-37: the issuer is identical to the byte; the error names both.
#[test]
fn issuers_of_others() {
    for (named, published) in [
        (ISSUER, "https://attacker.example"),
        (ISSUER, "https://AS.example"),
        (ISSUER, "https://as.example:443"),
        (ISSUER, "https://as.example//"),
        (ISSUER, "https://as.example/tenant"),
        ("https://as.example/tenant", "https://as.example/tenant/"),
        ("https://as.example/tenant/", "https://as.example/tenant"),
    ] {
        let mut script = issuers(config(), named, published);
        let texts = [&*format!("{named:?}"), &*format!("{published:?}")];
        script.error(Document::ServerMetadata, &texts);
        assert_eq!(script.flow().issuer_spelling(), None);
    }
    let lenient = || AuthConfig {
        ignore_issuer_slash: true,
        ..config()
    };
    for (named, published) in [
        (ISSUER, "https://as.example/"),
        ("https://as.example/tenant", "https://as.example/tenant/"),
    ] {
        let mut script = issuers(lenient(), named, published);
        script.registers();
        assert_eq!(script.flow().issuer_spelling(), None, "it was chosen");
    }
}

/// AU-26, AU-37: without a path, an issuer with a slash at its end and one without it are the same URL
/// (RFC 3986, section 6.2.3). What follows goes by the metadata, to the byte.
#[test]
fn issuers_without_a_path_are_the_same_with_a_slash() {
    for (named, published) in [
        ("https://as.example/", "https://as.example"),
        ("https://as.example", "https://as.example/"),
    ] {
        let promises = |iss: &str| {
            let mut script = issuers(config(), named, published);
            script.registers();
            let spelling = script.flow().issuer_spelling().unwrap().clone();
            assert_eq!(
                (spelling.named.as_str(), spelling.published.as_str()),
                (named, published)
            );
            let text = spelling.to_string();
            assert!(
                text.contains(&format!("{named:?}")) && text.contains(&format!("{published:?}"))
            );
            script.returns_from(iss);
            script
        };
        promises(named).error(Document::AuthorizationResponse, &["iss", published]);
        let mut script = promises(published);
        script.posts(TOKEN);
        let tokens = r#"{"access_token":"t","token_type":"Bearer","refresh_token":"r"}"#;
        let held = script.answers(200, tokens).done();
        assert_eq!(held.issuer, published);
        // An issuer that is configured in the other spelling is the same.
        for own in [named, published] {
            let client = PreRegistered {
                issuer: Some(own.into()),
                client_id: "client-1".into(),
                proof: ClientProof::Secret("s".into()),
            };
            let config = || AuthConfig {
                pre_registered: Some(client.clone()),
                ..config()
            };
            Script::refresh(config(), &held).posts(TOKEN);
            issuers(config(), named, published).opens();
        }
        let preferring = AuthConfig {
            preferred_issuer: Some(published.into()),
            ..config()
        };
        let mut script = Script::new(preferring, None);
        let list = format!(r#"["https://other.example",{named:?}]"#);
        script
            .gets(RESOURCE_METADATA)
            .answers(200, &PUBLISHED.replace(r#"["https://as.example"]"#, &list));
        script.gets(SERVER_METADATA);
    }
}

/// AU-35: an unusable authorization server costs only itself.
#[test]
fn several_authorization_servers() {
    let published = PUBLISHED.replace(
        "[\"https://as.example\"]",
        r#"["ftp://a","http://b.example","https://c.example","https://as.example"]"#,
    );
    let mut script = Script::new(config(), None);
    script.gets(RESOURCE_METADATA).answers(200, &published);
    script
        .gets("https://c.example/.well-known/oauth-authorization-server")
        .answers(502, "");
    script.gets(SERVER_METADATA).answers(200, &metadata(""));
    script.registers();

    let preferring = AuthConfig {
        preferred_issuer: Some(ISSUER.into()),
        ..config()
    };
    let mut script = Script::new(preferring, None);
    script.gets(RESOURCE_METADATA).answers(200, &published);
    script.gets(SERVER_METADATA).answers(200, &metadata(""));
}

/// AU-27, AU-28, AU-30: a server of 2025-03-26 with metadata at its root.
#[test]
fn metadata_at_the_root_of_2025_03_26() {
    let legacy = AuthConfig {
        protocol_version: Some("2025-03-26".into()),
        ..config()
    };
    let mut script = Script::new(legacy, challenge("Bearer"));
    script.gets(RESOURCE_METADATA).answers(404, "");
    script
        .gets("https://mcp.example/.well-known/oauth-protected-resource")
        .answers(404, "");
    let document = metadata("").replace("as.example", "mcp.example");
    script
        .gets("https://mcp.example/.well-known/oauth-authorization-server")
        .answers(200, &document);
    script.posts("https://mcp.example/register");
    script.answers(200, r#"{"client_id":"c"}"#);
    let page = script.opens();
    assert_eq!(page.endpoint, "https://mcp.example/authorize");
    assert_eq!(page.get("resource").unwrap(), SERVER);
}

/// AU-27, AU-51: without any metadata the default endpoints, with S256 all the same.
#[test]
fn default_endpoints_of_2025_03_26() {
    let mut script = Script::new(config(), None);
    for place in [
        "oauth-protected-resource/p/mcp",
        "oauth-protected-resource",
        "oauth-authorization-server",
    ] {
        script
            .gets(&format!("https://mcp.example/.well-known/{place}"))
            .answers(404, "");
    }
    script.posts("https://mcp.example/register");
    script.answers(201, r#"{"client_id":"c"}"#);
    let page = script.opens();
    assert_eq!(page.endpoint, "https://mcp.example/authorize");
    assert_eq!(page.get("code_challenge_method").unwrap(), "S256");
    script.comes_back(&format!("code=x&state={}", page.get("state").unwrap()));
    script.posts("https://mcp.example/token");
}

/// AU-36: secrets do not go to default endpoints that appear because metadata vanished.
#[test]
fn no_secret_for_default_endpoints() {
    let secret = || ClientProof::Secret("s3cret".into());
    let mut unpinned = AuthConfig {
        trust_named_issuer: true,
        ..registered(secret())
    };
    if let Some(client) = &mut unpinned.pre_registered {
        client.issuer = None;
    }
    for config in [registered(secret()), unpinned] {
        let mut script = Script::new(config, None);
        for _ in 0..3 {
            script.answers(404, "");
        }
        script.error(Document::ServerMetadata, &["https://mcp.example"]);
    }
}

/// AU-51: PKCE must be advertised, by both kinds of metadata.
#[test]
fn pkce_is_advertised() {
    for methods in [
        "",
        r#","code_challenge_methods_supported":["plain"]"#,
        r#","code_challenge_methods_supported":[]"#,
    ] {
        let document =
            metadata("").replace(r#","code_challenge_methods_supported":["S256"]"#, methods);
        let mut script = Script::new(config(), None);
        script.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
        script.gets(SERVER_METADATA).answers(200, &document);
        script.error(
            Document::ServerMetadata,
            &["code_challenge_methods_supported", "S256", "PKCE"],
        );
    }
}

/// AU-32, AU-90: endpoints are absolute, and https or on this machine.
#[test]
fn endpoints_that_are_not_opened() {
    for endpoint in [
        "file:///bin/sh",
        "smb://h/s",
        "javascript:alert(1)",
        "http://as.example/a",
        "/authorize",
        "https://h/#x",
    ] {
        let document = metadata("").replace("https://as.example/authorize", endpoint);
        let mut script = Script::new(registered(ClientProof::Public), None);
        script.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
        script.gets(SERVER_METADATA).answers(200, &document);
        script.error(Document::ServerMetadata, &["authorization_endpoint"]);
    }
}

/// AU-29: a server elsewhere does not lead to this machine; one on this machine does.
#[test]
fn services_of_this_machine() {
    let field = "Bearer resource_metadata=\"http://127.0.0.1:9200/x\"";
    let mut script = Script::new(config(), challenge(field));
    script.gets(RESOURCE_METADATA);
    for issuer in [
        "http://localhost:9200",
        "https://[::1]",
        "http://a.localhost",
    ] {
        let mut script = Script::new(config(), None);
        script
            .gets(RESOURCE_METADATA)
            .answers(200, &PUBLISHED.replace(ISSUER, issuer));
        script.error(
            Document::ResourceMetadata,
            &[issuer, "authorization_servers"],
        );
    }
    for endpoint in ["authorize", "token", "register"] {
        let member = match endpoint {
            "authorize" => "authorization_endpoint",
            "token" => "token_endpoint",
            _ => "registration_endpoint",
        };
        let at = format!("https://as.example/{endpoint}");
        let document = metadata("").replace(&at, "http://127.0.0.1:9200/x");
        let mut script = Script::new(config(), None);
        script.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
        script.gets(SERVER_METADATA).answers(200, &document);
        if endpoint != "register" {
            script.registers();
        }
        if endpoint == "token" {
            script.consents();
        }
        script.error(Document::ServerMetadata, &[member, "not safe"]);
    }

    let local = AuthConfig::new("http://localhost:8000/mcp", "Demo", CALLBACK);
    let mut script = Script::new(local, challenge(field));
    let published = r#"{"resource":"http://localhost:8000/mcp","authorization_servers":["http://localhost:9000"]}"#;
    script
        .gets("http://127.0.0.1:9200/x")
        .answers(200, published);
    let document = metadata("").replace("https://as.example", "http://localhost:9000");
    script
        .gets("http://localhost:9000/.well-known/oauth-authorization-server")
        .answers(200, &document);
    script.posts("http://localhost:9000/register");
}
