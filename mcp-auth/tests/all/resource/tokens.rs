//! What a signed token must satisfy.

use mcp_auth::resource::{Algorithm, Algorithms};

use super::tool::{Request, Server, builder, check, encode, signed, token, token_with};

#[track_caller]
fn refused(token: &str, expected: &str) {
    let mut server = Server::new(builder());
    let found = server.send(&Request::bearer(token));
    let first = found.lines().next().unwrap();
    // Nothing was fetched or verified for it.
    assert_eq!(first, expected, "{found}");
}

#[track_caller]
fn accepted(server: &mut Server, token: &str) {
    let found = server.send(&Request::bearer(token));
    let last = found.lines().last().unwrap();
    assert!(last.starts_with("granted"), "{found}");
}

/// AU-05, AU-17, AU-18
#[test]
fn a_valid_token() {
    let mut server = Server::new(builder());
    let (found, grant) = server.send_for(&Request::bearer(&token(&["team=\"blue\""])), &["write"]);
    check(
        &found,
        r#"
        fetch https://as.example/jwks
        verify ES256
        granted ["https://as.example","ada","editor"]
        "#,
    );
    let claims = grant.unwrap().claims;
    assert_eq!(claims.subject(), Some("ada"));
    assert_eq!(claims.client(), Some("editor"));
    assert_eq!(claims.expires().unwrap().as_secs(), 1_000_600);
    assert_eq!(claims.all().get("team").unwrap().as_str(), "\"blue\"");
    assert_eq!(
        format!("{claims:?}"),
        "TokenClaims { scopes: Scopes([\"read\", \"write\"]), expires: Some(UnixTime(1000600)), .. }"
    );
}

/// AU-06: the audience is the resource as it is published, byte for byte.
#[test]
fn audiences() {
    let mut server = Server::new(builder());
    for aud in [
        "\"https://mcp.example/notes\"",
        "[\"https://other.example\",\"https://mcp.example/notes\"]",
    ] {
        accepted(&mut server, &token(&[&format!("aud={aud}")]));
    }
    let another = "401: the access token was issued for another resource";
    for aud in [
        "\"https://mcp.example/notes/\"",
        "\"https://mcp.example/Notes\"",
        "\"https://MCP.example/notes\"",
        "\"https://mcp.example\"",
        "\"https://mcp.example/%6eotes\"",
        "[]",
        "null",
        "\"editor\"",
    ] {
        refused(&token(&[&format!("aud={aud}")]), another);
    }
    refused(&token(&["-aud"]), another);
    for aud in ["1", "{}", "[\"https://mcp.example/notes\",1]"] {
        let expected = "401: aud of the access token is missing or malformed";
        refused(&token(&[&format!("aud={aud}")]), expected);
    }
}

/// AU-18: nothing is fetched for a token of an issuer that is not trusted.
#[test]
fn issuers() {
    for iss in [
        "\"https://as.example/\"",
        "\"https://AS.example\"",
        "\"https://evil.example\"",
    ] {
        let expected = "401: the issuer of the access token is not trusted";
        refused(&token(&[&format!("iss={iss}")]), expected);
    }
    for change in ["-iss", "iss=null", "iss=1", "iss=\"\""] {
        let expected = "401: iss of the access token is missing or malformed";
        refused(&token(&[change]), expected);
    }
}

/// AU-18: small skew, `exp` required.
#[test]
fn times() {
    let mut server = Server::new(builder());
    for claims in [
        &["exp=999941"][..],
        &["exp=1000600.5"],
        &["exp=1.1e6"],
        &["nbf=1000060"],
        &["iat=1000060"],
        &["-iat"],
        &["nbf=null"],
    ] {
        accepted(&mut server, &token(claims));
    }
    for exp in ["999940", "0", "-1", "999940.9"] {
        let expected = "401: the access token has expired";
        refused(&token(&[&format!("exp={exp}")]), expected);
    }
    for early in ["nbf=1000061", "iat=1000061"] {
        refused(&token(&[early]), "401: the access token is not valid yet");
    }
    let malformed = "401: nbf of the access token is missing or malformed";
    refused(&token(&["nbf=1e300"]), malformed);
    for wrong in [
        "exp=\"1000600\"",
        "exp=true",
        "-exp",
        "exp=null",
        // More than a year, and more than numbers can say.
        "exp=1e9",
        "exp=1e400",
        "exp=18446744073709551616",
    ] {
        refused(
            &token(&[wrong]),
            "401: exp of the access token is missing or malformed",
        );
    }
    let mut server = Server::new(builder().leeway(0));
    assert!(
        server
            .refusal(&Request::bearer(&token(&["exp=1000000"])))
            .contains("expired")
    );
}

/// The time is read again after the keys were fetched.
#[test]
fn a_token_expires_while_it_is_checked() {
    use mcp_auth::UnixTime;
    use mcp_auth::resource::{CheckStep, ResourceRequest};

    let mut server = Server::new(builder());
    let request = Request::bearer(&token(&[]));
    let mut check = server.resource.begin(&request, ResourceRequest::default());
    let (now, later) = (
        UnixTime::from_secs(server.now),
        UnixTime::from_secs(2_000_000),
    );
    server.fingerprint(&mut check);
    let step = check.step(&server.resource, &mut server.state, now);
    let CheckStep::FetchKeys { issuer, .. } = step else {
        panic!("{step:?}")
    };
    let keys = server.keys.clone().unwrap();
    assert!(server.state.set_keys(issuer, Some(keys.as_bytes()), later));
    match check.step(&server.resource, &mut server.state, later) {
        CheckStep::Done(Err(denial)) => {
            assert_eq!(denial.to_string(), "the access token has expired");
        }
        step => panic!("{step:?}"),
    }
}

/// AU-18: an allow-list of asymmetric algorithms; unknown `crit`.
#[test]
fn algorithms() {
    for alg in [
        "none", "None", "HS256", "HS512", "es256", "RS1", "ES512", "RS384", "",
    ] {
        let header = format!("alg=\"{alg}\"");
        let expected = "401: the algorithm of the access token is not allowed";
        refused(&token_with(&[&header], &[]), expected);
    }
    let expected = "401: the access token has critical headers that are not supported";
    refused(&token_with(&["crit=[\"b64\"]"], &[]), expected);
    refused(&token_with(&["crit=[]"], &[]), expected);
    let only = Algorithms::of(&[Algorithm::Rs256]);
    let mut server = Server::new(builder().algorithms(only));
    let found = server.refusal(&Request::bearer(&token(&[])));
    assert_eq!(
        found,
        "401: the algorithm of the access token is not allowed"
    );
}

/// RFC 9068, section 4: other tokens of the same issuer are not access tokens.
#[test]
fn types() {
    let mut server = Server::new(builder());
    for typ in ["at+jwt", "AT+JWT", "application/at+jwt"] {
        accepted(&mut server, &token_with(&[&format!("typ=\"{typ}\"")], &[]));
    }
    let mut lenient = Server::new(builder().accept_untyped_tokens());
    for change in ["typ=\"JWT\"", "-typ"] {
        let token = token_with(&[change], &[]);
        refused(&token, "401: the type of the access token is not at+jwt");
        accepted(&mut lenient, &token);
    }
    for typ in [
        "dpop+jwt",
        "oauth-id-jag+jwt",
        "logout+jwt",
        "id+jwt",
        "text/at+jwt",
        "",
    ] {
        let token = token_with(&[&format!("typ=\"{typ}\"")], &[]);
        refused(&token, "401: the token is not an access token");
        let found = lenient.refusal(&Request::bearer(&token));
        assert_eq!(found, "401: the token is not an access token");
    }
}

#[test]
fn malformed_tokens() {
    let good = token(&[]);
    let (message, signature) = good.rsplit_once('.').unwrap();
    let (header, payload) = message.split_once('.').unwrap();
    let array = encode(b"[]");
    for wrong in [
        "opaque".to_owned(),
        message.to_owned(),
        format!("{good}.x"),
        format!("{header}..{signature}"),
        format!(".{payload}.{signature}"),
        format!("{header}.{array}.{signature}"),
        format!("{header}.{payload}.{signature}="),
        // One text for each signature.
        format!("{message}.Z"),
        format!("{message}.Zh"),
        format!("{message}.Zm9"),
        format!("{message}.Zm9vZ"),
        format!("{message}.+/8"),
        format!("{header}.{payload}~.{signature}"),
        signed("{\"alg\":1}", "{}", "k1"),
        signed("{\"typ\":\"at+jwt\"}", "{}", "k1"),
        signed(
            "{\"alg\":\"ES256\",\"alg\":\"ES256\",\"typ\":\"at+jwt\"}",
            "{}",
            "k1",
        ),
        signed(
            "{\"alg\":\"ES256\",\"typ\":\"at+jwt\",\"kid\":7}",
            "{}",
            "k1",
        ),
        signed("{\"alg\":\"ES256\",\"typ\":\"at+jwt\"}", "{\"iss\":", "k1"),
        signed(
            "{\"alg\":\"ES256\",\"typ\":\"at+jwt\"}",
            &"[".repeat(99),
            "k1",
        ),
    ] {
        refused(&wrong, "401: the access token is malformed");
    }
    let doubled = "{\"iss\":\"https://as.example\",\"iss\":\"https://evil.example\"}";
    refused(
        &signed("{\"alg\":\"ES256\",\"typ\":\"at+jwt\"}", doubled, "k1"),
        "401: iss of the access token is missing or malformed",
    );
}

#[test]
fn signatures() {
    let mut server = Server::new(builder());
    let good = token(&[]);
    let (message, _) = good.rsplit_once('.').unwrap();
    let forged = signed("{}", "{}", "other");
    let (_, signature) = forged.rsplit_once('.').unwrap();
    let wrong = "401: the signature of the access token is wrong";
    let found = server.refusal(&Request::bearer(&format!("{message}.{signature}")));
    assert_eq!(found, wrong);
    // A signature of another length is not even verified.
    let short = Request::bearer(&format!("{message}.AAAA"));
    check(server.send(&short).lines().next().unwrap(), wrong);
}

/// AU-17: sessions belong to issuer, subject and client; no two of them have one name.
#[test]
fn identities() {
    let mut server = Server::new(builder());
    for (claims, expected) in [
        (&["-client_id"][..], r#"["https://as.example","ada",null]"#),
        (
            &["-client_id", "azp=\"app\""],
            r#"["https://as.example","ada","app"]"#,
        ),
        (&["-sub"], r#"["https://as.example",null,"editor"]"#),
        (
            &["sub=\"a\\\",\\\"b\""],
            r#"["https://as.example","a\",\"b","editor"]"#,
        ),
    ] {
        let found = server.send(&Request::bearer(&token(claims)));
        assert!(found.ends_with(&format!("granted {expected}")), "{found}");
    }
    refused(
        &token(&["-sub", "-client_id"]),
        "401: the access token states neither a subject nor a client",
    );
    for wrong in ["1", "\"\"", "[\"ada\"]", "\"\\ud800\""] {
        let expected = "401: sub of the access token is missing or malformed";
        refused(&token(&[&format!("sub={wrong}")]), expected);
    }
}
