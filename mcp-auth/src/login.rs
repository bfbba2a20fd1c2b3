//! The decisions between discovery and the first token request: the client's identity and the
//! scopes.

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use super::discovery::Discovered;
use super::error::{AuthError, Document, Problem, printable};
use super::{
    AuthConfig, Challenge, ClientIdentity, ClientProof, Credentials, EndpointAuth, Grant,
    PreRegistered, Scopes, Secret, ServerMetadata, UnixTime, WorkloadGrant,
};

/// The values of a login that are known once the client has an identity.
#[derive(Debug)]
pub(crate) struct Login {
    pub(crate) metadata: ServerMetadata,
    pub(crate) identity: ClientIdentity,
    pub(crate) endpoint_auth: EndpointAuth,
    pub(crate) resource: Option<String>,
    pub(crate) scopes: Scopes,
    pub(crate) requested: Scopes,
    /// The scopes that count as granted if the response names none, without `offline_access` that
    /// the server did not ask for: a refresh never adds it (AU-66).
    pub(crate) granted: Scopes,
    pub(crate) refresh_token: Option<Secret>,
    /// True if the MCP server accepts only tokens that are bound to a key.
    pub(crate) dpop_required: bool,
}

/// The way in which the client gets its identity.
#[derive(Debug)]
pub(crate) enum IdentityChoice {
    Known(Box<ClientIdentity>),
    Register,
    Ask,
}

/// Chooses an identity: registered beforehand, by a metadata document, of an earlier run, by a new
/// registration, or from the user (AU-40). Grants without a user never register (AU-80, AU-91).
pub(crate) fn choose_identity(
    config: &AuthConfig,
    stored: Option<&Credentials>,
    now: UnixTime,
    metadata: &ServerMetadata,
) -> Result<IdentityChoice, AuthError> {
    let known = |identity| Ok(IdentityChoice::Known(Box::new(identity)));
    if let Some(client) = &config.pre_registered {
        check_registered(config, client, stored, metadata)?;
        return known(ClientIdentity::pre_registered(client));
    }
    let has_user = matches!(config.grant, Grant::AuthorizationCode);
    if let Some((url, proof)) = &config.metadata_document
        && (metadata.metadata_documents || !has_user)
    {
        return known(ClientIdentity::metadata_document(url, proof));
    }
    if matches!(config.grant, Grant::WorkloadIdentity(_)) {
        return known(ClientIdentity::metadata_document("", &ClientProof::Public));
    }
    if let Some(stored) = stored
        && has_user
        && stored.issuer == metadata.issuer
        && config.can_reuse(&stored.identity, now)
    {
        return known(stored.identity.clone());
    }
    if has_user && config.dynamic_registration && metadata.registration_endpoint.is_some() {
        return Ok(IdentityChoice::Register);
    }
    match config.interactive {
        true => Ok(IdentityChoice::Ask),
        false => Err(metadata.fail(Problem::NoIdentity)),
    }
}

/// The identity that was given in answer to [`IdentityChoice::Ask`].
pub(crate) fn given_identity(
    config: &mut AuthConfig,
    given: Option<PreRegistered>,
    stored: Option<&Credentials>,
    metadata: &ServerMetadata,
) -> Result<ClientIdentity, AuthError> {
    let mut client = given.ok_or_else(|| metadata.fail(Problem::NoIdentity))?;
    if metadata.url.is_some() {
        // The question named the issuer that the answer is for.
        client.issuer.get_or_insert_with(|| metadata.issuer.clone());
    }
    config.pre_registered = Some(client.clone());
    check_registered(config, &client, stored, metadata)?;
    Ok(ClientIdentity::given(&client, &config.redirect_uri))
}

/// Checks that a client that was registered beforehand belongs to this issuer.
fn check_registered(
    config: &AuthConfig,
    client: &PreRegistered,
    stored: Option<&Credentials>,
    metadata: &ServerMetadata,
) -> Result<(), AuthError> {
    let has_secret = client.proof != ClientProof::Public;
    let (belongs, own) = match config.own_issuer() {
        Some(own) => {
            let belongs = config.is_same_issuer(&metadata.issuer, own);
            (belongs, Some(own))
        }
        None => {
            // Without a configured issuer the first one that was used counts (AU-45), and an
            // issuer that nothing vouches for never does (AU-36).
            let of_client = |stored: &&Credentials| stored.identity.client_id == client.client_id;
            let first = stored.filter(of_client).map(|stored| &stored.issuer);
            let is_first = first.is_none_or(|first| *first == metadata.issuer);
            (!has_secret || (is_first && metadata.url.is_some()), first)
        }
    };
    require_issuer(belongs, own.map_or("", String::as_str), metadata)
}

/// Checks that the assertion of a workload belongs to this authorization server (AU-36).
pub(crate) fn check_workload(
    config: &AuthConfig,
    grant: &WorkloadGrant,
    metadata: &ServerMetadata,
) -> Result<(), AuthError> {
    let is_same = |text: &str| config.is_same_issuer(&metadata.issuer, text);
    if let Some(own) = config.own_issuer() {
        return require_issuer(is_same(own), own, metadata);
    }
    let audiences = grant.audiences();
    let is_named =
        |audience: &String| is_same(audience) || metadata.token_endpoint.as_ref() == Some(audience);
    let belongs = metadata.url.is_some() && audiences.iter().any(is_named);
    let missing = || AuthError::new(Document::Configuration, "", Problem::Missing("issuer"));
    require_issuer(belongs, audiences.first().ok_or_else(missing)?, metadata)
}

fn require_issuer(
    belongs: bool,
    expected: &str,
    metadata: &ServerMetadata,
) -> Result<(), AuthError> {
    match belongs {
        true => Ok(()),
        false => Err(metadata.fail(Problem::OtherIssuer {
            expected: printable(expected, 300),
            found: printable(&metadata.issuer, 300),
        })),
    }
}

impl Discovered {
    /// The error of a client that asks no user where one must log in.
    pub(crate) fn login_required(&self, scopes: &Scopes) -> AuthError {
        self.metadata.fail(Problem::LoginRequired {
            issuer: printable(&self.metadata.issuer, 300),
            scopes: printable(&scopes.to_string(), 300),
        })
    }
}

/// Chooses the scopes to ask for (AU-58, AU-60, AU-61), and those of them that a later step-up repeats.
pub(crate) fn choose_scopes(
    config: &AuthConfig,
    challenge: Option<&Challenge>,
    stored: Option<&Credentials>,
    found: &Discovered,
) -> (Scopes, Scopes) {
    let published = found.resource.as_ref();
    let named = challenge
        .and_then(Challenge::scopes)
        .or_else(|| published.and_then(|document| document.scopes_supported.clone()))
        .unwrap_or_default();
    let mut requested = match config.only_these_scopes {
        true => config.scopes.clone(),
        false => named.union(&config.scopes),
    };
    let error = challenge.and_then(|challenge| challenge.parameter("error"));
    if let Some(stored) = stored
        && error == Some("insufficient_scope")
        && stored.issuer == found.metadata.issuer
    {
        requested = stored.requested.union(&requested);
    }
    let mut scopes = requested.clone();
    let listed = found.metadata.scopes_supported.as_ref();
    if config.offline_access
        && matches!(config.grant, Grant::AuthorizationCode)
        && listed.is_some_and(|listed| listed.contains("offline_access"))
    {
        scopes.insert("offline_access");
    }
    (scopes, requested)
}
