//! Answers of token introspection (RFC 7662, section 2.2).

use alloc::string::String;

use mcp_proto::json::Raw;

use super::claims::TokenClaims;
use super::denial::DenialReason;
use super::jws::DEPTH;
use crate::Scheme;

/// An authorization server that is asked about tokens.
#[derive(Clone, Debug)]
pub(super) struct IntrospectionIssuer {
    pub(super) issuer: String,
    /// True if an answer without `aud` concerns this resource.
    pub(super) assume_audience: bool,
}

impl IntrospectionIssuer {
    /// Reads an answer with status 200.
    pub(super) fn read(&self, body: &[u8], audience: &str) -> Result<TokenClaims, DenialReason> {
        let raw = Raw::parse(body, DEPTH).map_err(|_| DenialReason::VerifierUnavailable)?;
        let object = raw.object().ok_or(DenialReason::VerifierUnavailable)?;
        let active = match object.find(["active"]) {
            Ok([Some(active)]) => active.boolean(),
            _ => None,
        };
        match active {
            Some(true) => {}
            Some(false) => return Err(DenialReason::Inactive),
            None => return Err(DenialReason::VerifierUnavailable),
        }
        let mut claims = TokenClaims::read(&raw.into())?;
        match claims.issuer() {
            Some(issuer) if issuer != self.issuer => return Err(DenialReason::Issuer),
            Some(_) => {}
            None => claims.change(|values| values.issuer = Some(self.issuer.clone())),
        }
        if claims.audience().is_empty() && self.assume_audience {
            // The authorization server answers about refresh tokens, too (RFC 7662, section 2).
            let is_access_token = match object.find(["token_type"]) {
                Ok([kind]) => kind.filter(|kind| !kind.is_null()).is_none_or(|kind| {
                    let name = kind.string();
                    name.is_some_and(|name| Scheme::from_name(&name.to_cow()).is_some())
                }),
                Err(_) => false,
            };
            if !is_access_token {
                return Err(DenialReason::Claim("token_type"));
            }
            claims.change(|values| values.audience.push(audience.into()));
        }
        Ok(claims)
    }
}
