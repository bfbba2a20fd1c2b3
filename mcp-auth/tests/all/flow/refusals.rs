//! What a 401 or 403 of the MCP server leads to, and where it ends.

use super::operation::Operation;
use super::script::*;
use mcp_auth::{ClientProof, Credentials, Refusals, Scheme, Scopes};

fn credentials(answer: &str) -> Credentials {
    let mut script = Script::consented(registered(ClientProof::Public), None);
    script.posts(TOKEN);
    script.answers(200, answer).done()
}

/// AU-67, AU-120: refresh once, authorize once, then an error.
#[test]
fn endless_401() {
    let held = credentials(r#"{"access_token":"t","refresh_token":"r"}"#);
    let mut operation = Operation::new();
    let mut refused = || operation.refused(401, "Bearer error=invalid_token", None, Some(&held));
    assert_eq!(refused(), Ok("refresh"));
    assert_eq!(refused(), Ok("authorize"));
    for _ in 0..3 {
        let error = refused().unwrap_err();
        assert!(
            error.contains("401") && error.contains("invalid_token"),
            "{error}"
        );
    }

    let held = credentials(r#"{"access_token":"s3cret"}"#);
    let mut operation = Operation::new();
    assert_eq!(
        operation.refused(401, "Bearer", None, None),
        Ok("authorize")
    );
    let error = operation.refused(403, "Bearer error=invalid_request", None, Some(&held));
    let error = error.unwrap_err();
    assert!(
        error.contains("refused with status 403") && !error.contains("new token"),
        "{error}"
    );
    let field = "Bearer error=invalid_token, error_description=\"another audience\"";
    let error = operation.refused(401, field, None, Some(&held));
    let error = error.unwrap_err();
    let said =
        "the new token was refused with status 401 and error invalid_token (another audience)";
    assert!(error.contains(said), "{error}");
}

/// AU-60: at most three authorizations for one operation.
#[test]
fn endless_step_up() {
    let held = credentials(r#"{"access_token":"t","refresh_token":"r"}"#);
    let mut operation = Operation::new();
    let field = "Bearer error=\"insufficient_scope\", scope=\"x\"";
    assert_eq!(
        operation.refused(401, "Bearer", None, None),
        Ok("authorize")
    );
    // A refresh cannot widen a grant.
    let mut refused = |field| operation.refused(403, field, None, Some(&held));
    assert_eq!(refused(field), Ok("authorize"));
    // No second consent to the same scopes. The token is valid, so the advice is about scopes.
    let error = refused(field).unwrap_err();
    let said = "refused with status 403 and error insufficient_scope; consent to the scopes";
    assert!(error.contains(said), "{error}");
    let more = "Bearer error=\"insufficient_scope\", scope=\"x y\"";
    assert_eq!(refused(more), Ok("authorize"));
    let error = operation
        .refused(403, field, None, Some(&held))
        .unwrap_err();
    assert!(error.contains("insufficient_scope"), "{error}");
    operation.refusals.request_ended();
    assert!(operation.refused(403, field, None, Some(&held)).is_err());
}

/// AU-60: an operation counts only its own authorizations.
#[test]
fn authorizations_of_other_operations() {
    let held = credentials(r#"{"access_token":"t"}"#);
    let mut operation = Operation::new();
    let field = "Bearer error=\"insufficient_scope\", scope=\"x\"";
    for _ in 0..2 * Refusals::MOST_AUTHORIZATIONS {
        let found = operation.refused(403, field, None, Some(&held));
        assert_eq!(found, Ok("authorize"));
        operation.refusals.other_authorization_ran();
    }
    let mut refused = |status, field| operation.refused(status, field, None, Some(&held));
    assert_eq!(refused(401, "Bearer"), Ok("authorize"));
    operation.refusals.other_authorization_ran();
    let mut refused = |status, field| operation.refused(status, field, None, Some(&held));
    assert_eq!(refused(403, field), Ok("authorize"));
    // No second consent to the same scopes.
    assert!(
        refused(403, field)
            .unwrap_err()
            .contains("insufficient_scope")
    );
}

/// AU-60: no second consent to scopes that the new token has.
#[test]
fn step_up_to_granted_scopes() {
    let held = credentials(r#"{"access_token":"t","scope":"x y"}"#);
    let mut operation = Operation::new();
    let mut refused = |scopes: &str| {
        let field = format!("Bearer error=\"insufficient_scope\", scope=\"{scopes}\"");
        operation.refused(403, &field, None, Some(&held))
    };
    // The token may be an old one, of which the server knows better.
    assert_eq!(refused("x"), Ok("authorize"));
    let error = refused("y x").unwrap_err();
    assert!(error.contains("insufficient_scope"), "{error}");
    assert_eq!(refused("x z"), Ok("authorize"));
    assert_eq!(refused(""), Ok("authorize"));
}

/// AU-20: the challenge of the preferred scheme counts; of the token's, if there is one; and the
/// one that asks for scopes, wherever it stands.
#[test]
fn the_challenge_that_counts() {
    let field = "Bearer scope=b, DPoP scope=d";
    let lacking = "DPoP algs=ES256, Bearer error=insufficient_scope, scope=b";
    let bearer = credentials(r#"{"access_token":"t"}"#);
    for (preferred, status, field, held, expected) in [
        (Scheme::Bearer, 401, field, None, "b"),
        (Scheme::Dpop, 401, field, None, "d"),
        (Scheme::Dpop, 401, field, Some(&bearer), "b"),
        (Scheme::Dpop, 403, lacking, Some(&bearer), "b"),
        (Scheme::Dpop, 401, "Bearer scope=b", None, "b"),
        (Scheme::Bearer, 401, "DPoP scope=d", None, "d"),
    ] {
        let challenge = Operation::preferring(preferred).authorizes(status, field, held);
        let challenge = challenge.unwrap();
        assert_eq!(challenge.parameter("scope"), Some(expected), "{field}");
    }
}

/// AU-22: a later challenge without the place of the metadata does not lose it.
#[test]
fn the_place_of_the_metadata_is_kept() {
    let place = "https://meta.example/m";
    let mut operation = Operation::new();
    let held = credentials(r#"{"access_token":"t"}"#);
    let mut named = |status, field: &str, held| {
        let challenge = operation.authorizes(status, field, held)?;
        let found = challenge.parameter("resource_metadata")?;
        Some((found.to_owned(), challenge.scopes()))
    };
    let first = format!("Bearer resource_metadata=\"{place}\", scope=a");
    let scopes = |text| Some(Scopes::parse(text));
    assert_eq!(named(401, &first, None), Some((place.into(), scopes("a"))));
    // Neither a field without it nor none at all; the scopes are those of the last challenge.
    let second = "Bearer error=insufficient_scope, scope=b";
    assert_eq!(
        named(403, second, Some(&held)),
        Some((place.into(), scopes("b")))
    );
    assert_eq!(named(401, "", None), Some((place.into(), None)));
    // A new place replaces it.
    let mut operation = Operation::new();
    for (field, expected) in [
        ("Bearer resource_metadata=\"https://h/1\"", "https://h/1"),
        ("Bearer resource_metadata=\"https://h/2\"", "https://h/2"),
        ("DPoP algs=ES256", "https://h/2"),
    ] {
        let challenge = operation.authorizes(401, field, None).unwrap();
        assert_eq!(challenge.parameter("resource_metadata"), Some(expected));
    }
}

/// AU-120: another 403 is a plain error.
#[test]
fn plain_403() {
    let held = credentials(r#"{"access_token":"t","refresh_token":"r"}"#);
    for field in [
        "",
        "Bearer",
        "Bearer error=invalid_token",
        "Basic error=insufficient_scope",
    ] {
        let error = Operation::new()
            .refused(403, field, None, Some(&held))
            .unwrap_err();
        assert!(error.contains("403"), "{error}");
    }
}

/// AU-39: an error does not show the token that the server repeats.
#[test]
fn refusals_that_repeat_the_token() {
    let held = credentials(r#"{"access_token":"s3cret"}"#);
    let repeated = "error_description=\"the token s3cret is unknown\"";
    for (field, expected) in [
        (
            format!("Bearer error=invalid_request, {repeated}"),
            "invalid_request",
        ),
        (format!("Bearer error=\"no s3cret\", {repeated}"), "403"),
    ] {
        let mut operation = Operation::new();
        let error = operation
            .refused(403, &field, None, Some(&held))
            .unwrap_err();
        assert!(
            error.contains(expected) && !error.contains("s3cret"),
            "{error}"
        );
    }
}

/// AU-98: one new proof for each request, with the nonce of this server.
#[test]
fn nonces_of_the_server() {
    let mut held = credentials(r#"{"access_token":"t","refresh_token":"r"}"#);
    held.scheme = Scheme::Dpop;
    let mut operation = Operation::new();
    let field = "DPoP error=\"use_dpop_nonce\"";
    assert_eq!(
        operation.refused(401, field, Some("n1"), Some(&held)),
        Ok("proof")
    );
    assert_eq!(
        operation.nonces.get("https://mcp.example/elsewhere"),
        Some("n1")
    );
    assert_eq!(operation.nonces.get("https://as.example"), None);
    assert!(
        operation
            .refused(401, field, Some("n2"), Some(&held))
            .is_err()
    );
    operation.refusals.request_ended();
    assert_eq!(
        operation.refused(401, field, Some("n3"), Some(&held)),
        Ok("proof")
    );
    // Another request has brought the nonce first: it is new for the one that was sent without it.
    for (sent, expected) in [(None, true), (Some("n2"), true), (Some("n3"), false)] {
        operation.refusals.request_ended();
        operation.refusals.set_sent_nonce(sent);
        let found = operation.refused(401, field, Some("n3"), Some(&held));
        assert_eq!(found == Ok("proof"), expected, "{sent:?} {found:?}");
        operation.refusals.request_ended();
        let found = operation.refused(401, field, Some("bad nonce"), Some(&held));
        assert!(found.is_err(), "{found:?}");
    }
    // Without a nonce, or with the one that was used already, there is nothing to retry with.
    for nonce in [None, Some("n3"), Some("bad nonce")] {
        operation.refusals.request_ended();
        assert!(operation.refused(401, field, nonce, Some(&held)).is_err());
    }
}
