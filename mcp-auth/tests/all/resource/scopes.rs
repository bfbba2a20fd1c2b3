//! Scopes of operations.

use mcp_auth::resource::{RequiredScopes, ResourceRequest};

use super::tool::{Request, Server, builder, token};

#[track_caller]
fn outcome(server: &mut Server, granted: &str, needed: &[&str]) -> bool {
    let request = Request::bearer(&token(&[&format!("scope={granted}")]));
    server.send_for(&request, needed).1.is_some()
}

/// AU-10: a broader scope satisfies a narrower need, as the application defines it.
#[test]
fn hierarchies() {
    let mut flat = Server::new(builder());
    let mut nested = Server::new(builder().hierarchy(|granted: &str, needed: &str| {
        granted == "admin"
            || needed
                .strip_prefix(granted)
                .is_some_and(|rest| rest.starts_with(':'))
    }));
    for (granted, needed, by_name, by_hierarchy) in [
        ("\"files\"", &["files"][..], true, true),
        ("\"files\"", &["files:read"], false, true),
        ("\"files:read\"", &["files"], false, false),
        ("\"files\"", &["filesystem"], false, false),
        ("\"Files\"", &["files"], false, false),
        ("\"admin\"", &["files:read", "notes"], false, true),
        ("\"files notes\"", &["files:read", "notes"], false, true),
        ("\"files\"", &["files:read", "notes"], false, false),
        ("\"\"", &[], true, true),
        ("\"\"", &["files"], false, false),
    ] {
        assert_eq!(
            outcome(&mut flat, granted, needed),
            by_name,
            "{granted} {needed:?}"
        );
        assert_eq!(
            outcome(&mut nested, granted, needed),
            by_hierarchy,
            "{granted} {needed:?}"
        );
    }
}

/// Scopes as arrays, and as `scp`, are what some authorization servers write.
#[test]
fn spellings() {
    let mut server = Server::new(builder().scopes(["a", "b"]));
    for (claims, expected) in [
        (&["scope=\"a b\""][..], true),
        (&["scope=\" b  a c\""], true),
        (&["scope=[\"a\",\"b\"]"], true),
        (&["-scope", "scp=\"a b\""], true),
        (&["-scope", "scp=[\"a\",\"b\"]"], true),
        (&["scope=\"a\"", "scp=\"a b\""], false),
        (&["-scope"], false),
        (&["scope=\"a\\tb\""], false),
        (&["scope=1"], false),
    ] {
        let found = server.send_for(&Request::bearer(&token(claims)), &[]).1;
        assert_eq!(found.is_some(), expected, "{claims:?}");
    }
}

/// AU-09: where the body says what is needed, the head is admitted, and one challenge names everything.
#[test]
fn scopes_that_are_deferred() {
    let mut server = Server::new(builder().scopes(["admin"]));
    let request = Request::bearer(&token(&[]));
    assert!(server.send_for(&request, &[]).1.is_none());
    let deferred = ResourceRequest {
        defer_scopes: true,
        ..ResourceRequest::default()
    };
    let grant = server.send_with(&request, deferred).1.unwrap();
    let scopes = |scopes: &[&str]| RequiredScopes::new(scopes).unwrap();
    for (needed, named) in [(scopes(&[]), "admin"), (scopes(&["purge"]), "admin purge")] {
        let denial = server.resource.require(Some(&grant), &needed).unwrap_err();
        let challenges: Vec<_> = denial.challenges().collect();
        let expected = format!("scope=\"{named}\"");
        assert!(challenges[0].contains(&expected), "{challenges:?}");
        assert!(denial.to_string().ends_with(&format!("needed: {named}")));
    }
}

/// AU-09, AU-19: a handler that learns later what it needs names all of it.
#[test]
fn needs_of_a_handler() {
    let mut server = Server::new(builder().scopes(["read"]));
    let (_, grant) = server.send_for(&Request::bearer(&token(&[])), &[]);
    let grant = grant.unwrap();
    let scopes = |scopes: &[&str]| RequiredScopes::new(scopes).unwrap();
    let resource = &server.resource;
    assert_eq!(resource.require(Some(&grant), &scopes(&["write"])), Ok(()));
    let denial = resource
        .require(Some(&grant), &scopes(&["write", "purge"]))
        .unwrap_err();
    assert_eq!(denial.status(), 403);
    let challenges: Vec<_> = denial.challenges().collect();
    assert_eq!(challenges.len(), 1);
    assert!(
        challenges[0].contains("scope=\"read write purge\""),
        "{challenges:?}"
    );
    let denial = resource.require(None, &scopes(&["write"])).unwrap_err();
    assert_eq!(denial.status(), 401);
    // Without a token, an operation that needs no scope is a matter of the settings.
    assert_eq!(
        resource.require(None, &scopes(&[])).unwrap_err().status(),
        401
    );
    let open = builder().allow_anonymous().build().unwrap();
    assert_eq!(open.require(None, &scopes(&[])), Ok(()));
}

/// AU-11: a requirement is never lost, and `offline_access` is none.
#[test]
fn what_is_no_requirement() {
    for wrong in [
        "",
        "two words",
        "a\"b",
        "a\\b",
        "\u{e9}",
        "offline_access",
        "a\r\n",
    ] {
        assert!(RequiredScopes::new(["read", wrong]).is_err(), "{wrong:?}");
    }
    let all = RequiredScopes::new(["a", "b", "a"]).unwrap();
    assert_eq!(all.scopes().to_string(), "a b");
}
