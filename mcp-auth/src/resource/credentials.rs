//! The credentials of a request: where a token may stand, and in what form.

use core::fmt;

use mcp_proto::http::{Field, Head};

use super::denial::{ChallengeSettings, DenialReason};
use crate::{Scheme, form};

/// The token of a request. Its characters are not checked yet.
#[derive(Clone, Copy)]
pub(super) struct RequestCredentials<'h> {
    pub(super) scheme: Scheme,
    pub(super) token: &'h str,
    /// The field `DPoP`, in requests of the scheme [`Dpop`](Scheme::Dpop).
    pub(super) proof: Option<&'h str>,
}

impl<'h> RequestCredentials<'h> {
    /// Reads the credentials of a request; `None` if it has none.
    ///
    /// A token stands in `Authorization` only, once (AU-12). `query` is the part of the target
    /// after `?`.
    pub(super) fn read(
        head: &'h impl Head,
        query: Option<&str>,
        settings: &ChallengeSettings,
    ) -> Result<Option<Self>, DenialReason> {
        if query.is_some_and(has_token) {
            return Err(DenialReason::TokenInQuery);
        }
        let value = match head.field("authorization") {
            Field::None => return Ok(None),
            Field::Many => return Err(DenialReason::AuthorizationTwice),
            Field::One(value) => value,
        };
        let text = core::str::from_utf8(value).map_err(|_| DenialReason::AuthorizationMalformed)?;
        let end = value.iter().position(|byte| *byte == b' ');
        let (scheme, token) = text.split_at(end.unwrap_or(text.len()));
        let scheme = Scheme::from_name(scheme).ok_or(DenialReason::UnsupportedScheme)?;
        if !settings.accepts(scheme) {
            return Err(match scheme {
                Scheme::Bearer => DenialReason::BearerNotAccepted,
                Scheme::Dpop => DenialReason::UnsupportedScheme,
            });
        }
        let token = token.trim_matches(' ');
        let proof = match scheme {
            Scheme::Bearer => None,
            // Its token is not remembered, so it is looked at before its proof.
            Scheme::Dpop if !is_token(token) => return Err(DenialReason::AuthorizationMalformed),
            Scheme::Dpop => match head.field("dpop") {
                Field::One(proof) => {
                    let proof = core::str::from_utf8(proof);
                    Some(proof.map_err(|_| DenialReason::ProofMalformed)?)
                }
                Field::None => return Err(DenialReason::ProofMissing),
                Field::Many => return Err(DenialReason::ProofTwice),
            },
        };
        Ok(Some(Self {
            scheme,
            token,
            proof,
        }))
    }
}

impl fmt::Debug for RequestCredentials<'_> {
    /// The scheme only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestCredentials")
            .field("scheme", &self.scheme)
            .finish_non_exhaustive()
    }
}

/// The scheme that a request names, whatever else is wrong with it.
pub(super) fn scheme_of(head: &impl Head) -> Option<Scheme> {
    let Field::One(value) = head.field("authorization") else {
        return None;
    };
    let name = value.split(|byte| *byte == b' ').next()?;
    Scheme::from_name(core::str::from_utf8(name).ok()?)
}

/// Returns true if the text is a `token68` of RFC 9110, section 11.2.
pub(super) fn is_token(text: &str) -> bool {
    let digits = text.trim_end_matches('=').as_bytes();
    let is_sound = |byte: u8| {
        byte.is_ascii_alphanumeric() | matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/')
    };
    // Without an early end, so that many bytes are compared at once.
    !digits.is_empty() && digits.iter().fold(true, |all, byte| all & is_sound(*byte))
}

/// Returns true if a parameter of the query is called `access_token`, in any escaping.
fn has_token(query: &str) -> bool {
    query.split(['&', ';']).any(|parameter| {
        let name = parameter
            .split_once('=')
            .map_or(parameter, |(name, _)| name);
        form::decode(name).as_deref() == Some("access_token")
    })
}
