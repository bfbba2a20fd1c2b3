//! Settings that are refused.

use mcp_auth::resource::{Algorithms, DpopUse, ProtectedResource, SettingsError};

use super::tool::{ISSUER, RESOURCE, builder};

/// AU-90: no URL of a protected server is of `http`, except on loopback.
#[test]
fn wrong_settings() {
    let wrong = [
        "",
        "mcp.example",
        "/mcp",
        "http://mcp.example/mcp",
        "ftp://mcp.example",
        "https://mcp.example/#f",
        "https://user@mcp.example/",
        "https://mcp.example/\"x",
        "https://mcp.example/\r\nX: y",
    ];
    for url in wrong {
        let found = ProtectedResource::builder(url)
            .issuer_with_verifier(ISSUER)
            .build();
        assert_eq!(found.err(), Some(SettingsError::Resource), "{url}");
        let found = builder().endpoint(url).build();
        assert_eq!(found.err(), Some(SettingsError::Endpoint), "{url}");
        let found = builder().metadata_url(url).build();
        assert_eq!(found.err(), Some(SettingsError::MetadataUrl), "{url}");
        let found = builder().issuer_with_verifier(url).build();
        assert_eq!(found.err(), Some(SettingsError::Issuer), "{url}");
        let found = ProtectedResource::builder(RESOURCE)
            .issuer_with_keys(ISSUER, url)
            .build();
        assert_eq!(found.err(), Some(SettingsError::KeysUrl), "{url}");
    }
    let cases = [
        (
            ProtectedResource::builder(RESOURCE),
            SettingsError::NoIssuer,
        ),
        (
            builder().issuer_with_keys(ISSUER, "https://as.example/2"),
            SettingsError::Issuer,
        ),
        (
            builder().issuer_with_verifier("https://as.example?x"),
            SettingsError::Issuer,
        ),
        (
            builder()
                .issuer_with_verifier(ISSUER)
                .issuer_with_introspection(ISSUER),
            SettingsError::TwoVerifiers,
        ),
        (builder().scopes(["two words"]), SettingsError::Scopes),
        (builder().scopes(["offline_access"]), SettingsError::Scopes),
        (
            builder().algorithms(Algorithms::of(&[])),
            SettingsError::Algorithms,
        ),
        (
            builder().dpop(DpopUse::Required).demand_nonces(0),
            SettingsError::NonceLifetime,
        ),
    ];
    for (settings, expected) in cases {
        assert_eq!(settings.build().err(), Some(expected));
        assert!(!expected.to_string().is_empty());
    }
}
