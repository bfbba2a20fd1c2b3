use bytes::Bytes;
use http::Request;
use serde_json::Value;

use super::ID_JAG;
use crate::authentication::authenticate;
use crate::client::Proof;
use crate::error::OAuthError;
use crate::form::Form;
use crate::jwt::Jwt;
use crate::server::Turn;
use crate::state::Grant;
use crate::token::{
    JWT_BEARER, access_token, begin_grant, read_resource, read_scopes, require_grant, require_proof,
};

/// Clocks may differ by this many seconds.
const SKEW: u64 = 30;

/// Issues a token for an assertion: of the identity provider of an enterprise (ID-JAG), or of the
/// platform on which a workload runs.
///
/// # Errors
///
/// `invalid_grant`; `invalid_client` for an identity assertion without a client that authenticates.
pub(crate) fn assertion(
    turn: &mut Turn<'_>,
    request: &Request<Bytes>,
    form: &Form,
    key: Option<String>,
) -> Result<Value, OAuthError> {
    let jwt = Jwt::parse(form.require("assertion")?);
    let jwt = jwt.ok_or_else(|| OAuthError::invalid_grant("the assertion is no JWT"))?;
    let grant = match jwt.kind() {
        Some(ID_JAG) => of_enterprise(turn, request, form, &jwt, key.as_deref())?,
        _ => of_workload(turn, form, &jwt)?,
    };
    if key.is_none() && turn.settings.requires_dpop {
        return Err(OAuthError::invalid_proof("a DPoP proof is required"));
    }
    // The last check: an assertion that is refused for another reason was not used.
    let id = jwt.claim("jti");
    let id = id.ok_or_else(|| OAuthError::invalid_grant("jti is missing"))?;
    let id = format!("grant {} {id}", jwt.claim("iss").unwrap_or_default());
    let ends = jwt.claims["exp"].as_u64().unwrap_or(0);
    let now = turn.now;
    if !turn.state.is_first_use(id, now, ends + SKEW) {
        return Err(OAuthError::invalid_grant("the assertion was used before"));
    }
    let id = begin_grant(turn, grant.clone());
    Ok(access_token(
        turn,
        &id,
        &grant,
        &grant.scopes,
        key.as_deref(),
    ))
}

fn of_enterprise(
    turn: &mut Turn<'_>,
    request: &Request<Bytes>,
    form: &Form,
    jwt: &Jwt<'_>,
    key: Option<&str>,
) -> Result<Grant, OAuthError> {
    let client = authenticate(turn, request, form)?;
    require_proof(turn.settings, &client, key)?;
    require_grant(&client, JWT_BEARER)?;
    if matches!(client.proof, Proof::None) && !client.id.contains("://") {
        let text = "the client must authenticate for this grant";
        return Err(OAuthError::invalid_client(text));
    }
    check_issuer(turn, jwt)?;
    let wrong = |text: &str| Err(OAuthError::invalid_grant(text));
    if jwt.claim("client_id") != Some(&client.id) {
        return wrong("client_id of the assertion is not the client");
    }
    let resource = match jwt.claims.get("resource") {
        None => read_resource(turn.settings, form)?,
        Some(Value::String(resource)) => Some(resource.clone()),
        Some(_) => return wrong("resource of the assertion is no string"),
    };
    let known = &turn.settings.resources;
    if !known.is_empty() && resource.as_ref().is_some_and(|one| !known.contains(one)) {
        return wrong("resource of the assertion is not known");
    }
    // What is asked for here is limited by the assertion.
    let granted: Vec<&str> = jwt.claim("scope").unwrap_or_default().split(' ').collect();
    let asked = read_scopes(turn.settings, form)?;
    let scopes = match asked.is_empty() {
        true => granted
            .iter()
            .filter(|one| !one.is_empty())
            .map(|one| (*one).into())
            .collect(),
        false => asked
            .into_iter()
            .filter(|one| granted.contains(&&**one))
            .collect(),
    };
    let Some(subject) = jwt.claim("sub") else {
        return wrong("sub is missing");
    };
    Ok(Grant {
        client: client.id.clone(),
        subject: subject.into(),
        scopes,
        resource,
        key: None,
        is_revoked: false,
    })
}

fn of_workload(turn: &Turn<'_>, form: &Form, jwt: &Jwt<'_>) -> Result<Grant, OAuthError> {
    check_issuer(turn, jwt)?;
    let issuer = jwt.claim("iss");
    let workload = turn.settings.workloads.iter().find(|workload| {
        Some(&*workload.issuer) == issuer && Some(&*workload.subject) == jwt.claim("sub")
    });
    let Some(workload) = workload else {
        return Err(OAuthError::invalid_grant("the workload is not known"));
    };
    if form
        .get("client_id")
        .is_some_and(|id| id != workload.client)
    {
        return Err(OAuthError::invalid_grant(
            "client_id is not that of the workload",
        ));
    }
    Ok(Grant {
        client: workload.client.clone(),
        subject: workload.subject.clone(),
        scopes: read_scopes(turn.settings, form)?,
        resource: read_resource(turn.settings, form)?,
        key: None,
        is_revoked: false,
    })
}

/// Checks the signature of a trusted issuer, the audience and the times.
fn check_issuer(turn: &Turn<'_>, jwt: &Jwt<'_>) -> Result<(), OAuthError> {
    let issuer = jwt.claim("iss").unwrap_or_default();
    let own: Vec<Value>;
    let keys = match turn
        .settings
        .trusted
        .iter()
        .find(|(trusted, _)| trusted == issuer)
    {
        Some((_, keys)) => keys,
        // Of its own tokens, only identity assertions are for this grant.
        None if issuer == turn.settings.issuer && jwt.kind() == Some(ID_JAG) => {
            own = turn
                .state
                .keys
                .iter()
                .map(|key| key.jwk().clone())
                .collect();
            &own
        }
        None => return Err(OAuthError::invalid_grant("the issuer is not trusted")),
    };
    let checks = [
        (
            jwt.is_signed_by_any(keys),
            "no key of the issuer has signed the assertion",
        ),
        (
            jwt.claim("aud") == Some(&turn.settings.issuer),
            "aud is not this server",
        ),
        (jwt.claims["iat"].is_u64(), "iat is missing"),
        (jwt.is_current(turn.now, SKEW), "the assertion has expired"),
    ];
    match checks.iter().find(|(holds, _)| !holds) {
        Some((_, text)) => Err(OAuthError::invalid_grant(*text)),
        None => Ok(()),
    }
}
