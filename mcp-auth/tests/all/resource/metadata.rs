//! The metadata document (RFC 9728) and its places.

use mcp_auth::resource::{DpopUse, ProtectedResource};

use super::tool::{ISSUER, Request, builder};

fn at(path: &'static str, method: &'static str) -> Request {
    Request {
        method,
        path,
        ..Request::new(&[])
    }
}

const HERE: &str = "/.well-known/oauth-protected-resource/notes";
const ROOT: &str = "/.well-known/oauth-protected-resource";

/// AU-03, AU-04, AU-11
#[test]
fn the_document() {
    let resource = builder().build().unwrap();
    assert_eq!(
        core::str::from_utf8(resource.metadata()).unwrap(),
        r#"{"resource":"https://mcp.example/notes","authorization_servers":["https://as.example"],"bearer_methods_supported":["header"]}"#
    );
    let resource = builder()
        .issuer_with_introspection("https://other.example")
        .scopes(["read"])
        .supported_scopes(["write", "offline_access", "read"])
        .name("Notes of \"Ada\"")
        .documentation("https://mcp.example/docs")
        .dpop(DpopUse::Required)
        .build()
        .unwrap();
    assert_eq!(
        core::str::from_utf8(resource.metadata()).unwrap(),
        concat!(
            r#"{"resource":"https://mcp.example/notes","#,
            r#""authorization_servers":["https://as.example","https://other.example"],"#,
            r#""scopes_supported":["read","write"],"bearer_methods_supported":["header"],"#,
            r#""resource_name":"Notes of \"Ada\"","#,
            r#""resource_documentation":"https://mcp.example/docs","#,
            r#""dpop_signing_alg_values_supported":["ES256","EdDSA"],"#,
            r#""dpop_bound_access_tokens_required":true}"#,
        )
    );
}

/// AU-16: without a token and for every origin, with the preflight of browsers.
#[test]
fn responses() {
    let resource = builder().build().unwrap();
    for path in [HERE, ROOT] {
        let found = resource.respond_metadata(&at(path, "GET")).unwrap();
        assert_eq!((found.status, found.body), (200, resource.metadata()));
        assert!(found.fields.contains(&("content-type", "application/json")));
        assert!(found.fields.contains(&("access-control-allow-origin", "*")));
        let found = resource.respond_metadata(&at(path, "HEAD")).unwrap();
        assert_eq!((found.status, found.body), (200, &b""[..]));
        let found = resource.respond_metadata(&at(path, "OPTIONS")).unwrap();
        assert_eq!((found.status, found.body), (204, &b""[..]));
        assert!(
            found
                .fields
                .contains(&("access-control-allow-headers", "*"))
        );
        let found = resource.respond_metadata(&at(path, "POST")).unwrap();
        assert_eq!(found.status, 405);
        assert!(found.fields.contains(&("allow", "GET, HEAD, OPTIONS")));
    }
    for path in [
        "/notes",
        "/",
        "/.well-known/oauth-protected-resource/",
        "/.well-known/oauth-protected-resource/Notes",
    ] {
        assert_eq!(resource.respond_metadata(&at(path, "GET")), None, "{path}");
    }
}

/// RFC 9728, section 3.1: between the origin and the path.
#[test]
fn places() {
    let at = |resource: &str| {
        let builder = ProtectedResource::builder(resource);
        let built = builder.issuer_with_verifier(ISSUER).build().unwrap();
        (built.resource().to_owned(), built.metadata_url().to_owned())
    };
    for (resource, metadata) in [
        (
            "https://h",
            "https://h/.well-known/oauth-protected-resource",
        ),
        (
            "https://h/",
            "https://h/.well-known/oauth-protected-resource",
        ),
        (
            "https://h/p/mcp",
            "https://h/.well-known/oauth-protected-resource/p/mcp",
        ),
        (
            "https://h/mcp/",
            "https://h/.well-known/oauth-protected-resource/mcp/",
        ),
        (
            "https://h/a%2Fb",
            "https://h/.well-known/oauth-protected-resource/a%2Fb",
        ),
        (
            "https://h/mcp?t=1",
            "https://h/.well-known/oauth-protected-resource/mcp?t=1",
        ),
        (
            "http://localhost:8000/mcp",
            "http://localhost:8000/.well-known/oauth-protected-resource/mcp",
        ),
        (
            "https://H:443/mcp",
            "https://h/.well-known/oauth-protected-resource/mcp",
        ),
    ] {
        assert_eq!(at(resource), (resource.to_owned(), metadata.to_owned()));
    }
}

/// AU-16: behind a proxy that removes a prefix, and with several resources of one origin.
#[test]
fn proxies_and_neighbours() {
    let resource = ProtectedResource::builder("https://h/team/mcp")
        .issuer_with_verifier(ISSUER)
        .local_path("/mcp")
        .build()
        .unwrap();
    for path in [
        "/.well-known/oauth-protected-resource/team/mcp",
        "/.well-known/oauth-protected-resource/mcp",
        ROOT,
    ] {
        assert!(
            resource.respond_metadata(&at(path, "GET")).is_some(),
            "{path}"
        );
    }
    // A proxy that removes the whole path.
    let resource = builder()
        .local_path("/")
        .without_root_document()
        .build()
        .unwrap();
    assert!(resource.respond_metadata(&at(ROOT, "GET")).is_some());
    let resource = builder().without_root_document().build().unwrap();
    assert!(resource.respond_metadata(&at(ROOT, "GET")).is_none());
    let resource = builder()
        .metadata_url("https://meta.example/notes.json")
        .build()
        .unwrap();
    assert!(
        resource
            .respond_metadata(&at("/notes.json", "GET"))
            .is_some()
    );
    assert_eq!(resource.metadata_url(), "https://meta.example/notes.json");
}
