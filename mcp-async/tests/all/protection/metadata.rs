//! The metadata document.

use http::{Method, Request};
use mcp_async::auth::{DpopUse, Protection};
use mcp_async::http::HttpService;

use crate::protection::support::{
    ISSUER, RESOURCE, protected, protection, server, service, verify,
};
use crate::scripted::{Reply, RequestExt, Serve, modern, send};
use crate::texts::has;

fn ask(service: &HttpService, method: Method, path: &str) -> Reply {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "anything.example")
        .header("origin", "https://app.example")
        .header("mcp-protocol-version", "2025-11-25");
    send(service, request.body(String::new()).unwrap())
}

/// AU-03, AU-04, AU-16: no token is needed, and every host and origin is served.
#[test]
fn the_document_is_at_the_well_known_places() {
    let service = service();
    for path in [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
    ] {
        let reply = ask(&service, Method::GET, path);
        reply.has_head(
            200,
            [
                ("content-type", "application/json"),
                ("access-control-allow-origin", "*"),
            ],
        );
        assert_eq!(
            reply.whole(),
            format!(
                r#"{{"resource":"{RESOURCE}","authorization_servers":["{ISSUER}"],"scopes_supported":["mcp"],"bearer_methods_supported":["header"]}}"#
            )
        );
        let head = ask(&service, Method::HEAD, path);
        assert_eq!(head.status, 200);
        assert_eq!(head.whole(), "");
        let preflight = ask(&service, Method::OPTIONS, path);
        preflight.has_head(
            204,
            [
                ("access-control-allow-origin", "*"),
                ("access-control-allow-headers", "*"),
            ],
        );
        let posted = ask(&service, Method::POST, path);
        posted.has_head(405, [("allow", "GET, HEAD, OPTIONS")]);
    }
    for path in [
        "/.well-known/oauth-protected-resource/",
        "/.well-known/oauth-protected-resource/other",
        "/.well-known/oauth-authorization-server",
    ] {
        assert_ne!(ask(&service, Method::GET, path).status, 200, "{path}");
    }
}

/// The URL that the operator gave decides, whatever `Host` a proxy sends and whatever it cuts off.
#[test]
fn the_document_is_found_behind_a_proxy() {
    let protection = Protection::new("https://example.com/tools/mcp")
        .verifier(ISSUER, verify)
        .settings(|resource| resource.without_root_document());
    let http = server().http().allow_any_host().protect(protection);
    let service = http.served();
    for path in [
        "/.well-known/oauth-protected-resource/tools/mcp",
        // The proxy removes `/tools`.
        "/.well-known/oauth-protected-resource/mcp",
    ] {
        has(
            &ask(&service, Method::GET, path).whole(),
            [r#""resource":"https://example.com/tools/mcp""#],
        );
    }
    let root = ask(
        &service,
        Method::GET,
        "/.well-known/oauth-protected-resource",
    );
    assert_ne!(root.status, 200);
    let refused = send(&service, modern("1 tools/list"));
    assert_eq!(
        refused.header("www-authenticate"),
        "Bearer resource_metadata=\
         \"https://example.com/.well-known/oauth-protected-resource/tools/mcp\"",
    );
}

/// AU-11: `offline_access` is not for resources.
#[test]
fn the_document_states_what_the_settings_do() {
    let protection = protection().dpop(DpopUse::Required).settings(|resource| {
        resource
            .name("Demo")
            .documentation("https://example.com/docs")
            .supported_scopes(["mcp:admin", "offline_access"])
    });
    let service = protected(protection);
    let path = "/.well-known/oauth-protected-resource/mcp";
    let text = ask(&service, Method::GET, path).whole();
    for part in [
        r#""scopes_supported":["mcp","mcp:admin"]"#,
        r#""resource_name":"Demo""#,
        r#""resource_documentation":"https://example.com/docs""#,
        r#""dpop_bound_access_tokens_required":true"#,
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn an_endpoint_that_is_not_protected_has_no_document() {
    let service = server().http().served();
    let path = "/.well-known/oauth-protected-resource/mcp";
    let request = Request::get(path).header("host", "localhost");
    let request = request.body(String::new()).unwrap().signed("ada/mcp/60");
    assert_eq!(send(&service, request).status, 404);
}
