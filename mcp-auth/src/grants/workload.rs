//! Workload identity: the platform issues an assertion about the workload.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_proto::json::{Object, Raw};

use super::JWT_BEARER;
use crate::error::Problem;
use crate::token::TokenParameters;
use crate::{Scopes, Secret, UnixTime};

/// The assertion of the platform. It is read again for every flow, because platforms replace it.
///
/// It is sent to one authorization server only (AU-36): to the configured issuer
/// ([`PreRegistered::issuer`](crate::PreRegistered::issuer), else
/// [`AuthConfig::preferred_issuer`](crate::AuthConfig::preferred_issuer)), or, without one, to an issuer that publishes metadata and
/// that `aud` of the assertion names, or whose token endpoint it names.
#[derive(Clone, Debug)]
pub struct WorkloadGrant {
    /// The JSON Web Token as the platform issued it; it is sent unchanged (AU-92).
    pub assertion: Secret,
}

impl WorkloadGrant {
    /// Checks that the assertion is a JSON Web Token that has not expired (AU-92). Its signature
    /// is for the authorization server to verify.
    pub(crate) fn check(&self, now: UnixTime) -> Result<(), Problem> {
        let payload = self.payload().ok_or(MALFORMED)?;
        let claims = claims(&payload).ok_or(MALFORMED)?;
        let expiry = claims.get("exp").and_then(Raw::number);
        let expiry = expiry.ok_or(Problem::Missing("exp"))?.to_f64();
        match expiry > now.as_secs() as f64 {
            true => Ok(()),
            false => Err(Problem::Expired),
        }
    }

    /// The texts of `aud`: one, or those of an array (RFC 7519, section 4.1.3).
    pub(crate) fn audiences(&self) -> Vec<String> {
        let payload = self.payload().unwrap_or_default();
        let Some(audience) = claims(&payload).and_then(|claims| claims.get("aud")) else {
            return Vec::new();
        };
        let text = |value: Raw<'_>| value.string().map(|text| text.to_string());
        match audience.array() {
            Some(array) => array.elements().filter_map(text).collect(),
            None => text(audience).into_iter().collect(),
        }
    }

    /// The decoded payload; `None` if there is no such part.
    fn payload(&self) -> Option<Vec<u8>> {
        let mut parts = self.assertion.expose().split('.');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(_), Some(payload), Some(_), None) => URL_SAFE_NO_PAD.decode(payload).ok(),
            _ => None,
        }
    }

    /// The parameters of the request (AU-91).
    pub(crate) fn request(&self, resource: Option<&str>, scopes: &Scopes) -> TokenParameters {
        TokenParameters::new(JWT_BEARER)
            .with("assertion", self.assertion.expose())
            .with_optional("resource", resource)
            .with_scopes(scopes)
    }

    #[cfg(test)]
    fn of(claims: &str) -> Self {
        let claims = URL_SAFE_NO_PAD.encode(claims.as_bytes());
        Self {
            assertion: Secret::from(std::format!("e30.{claims}.c2ln")),
        }
    }
}

const MALFORMED: Problem = Problem::Malformed("assertion");

fn claims(payload: &[u8]) -> Option<Object<'_>> {
    Raw::parse(payload, 16).ok()?.object()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expired_assertions_are_not_sent() {
        let check = |grant: WorkloadGrant| grant.check(UnixTime::from_secs(1000));
        assert_eq!(check(WorkloadGrant::of(r#"{"exp":1001}"#)), Ok(()));
        assert_eq!(
            check(WorkloadGrant::of(r#"{"exp":1000}"#)),
            Err(Problem::Expired)
        );
        assert_eq!(
            check(WorkloadGrant::of(r#"{"exp":"1001"}"#)),
            Err(Problem::Missing("exp"))
        );
        for text in ["", "a.b", "e30.e30.e30.e30", "e30.*.e30", "e30.W10.e30"] {
            let grant = WorkloadGrant {
                assertion: Secret::from(text),
            };
            assert_eq!(check(grant), Err(Problem::Malformed("assertion")), "{text}");
        }
    }
}
