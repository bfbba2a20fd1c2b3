//! Workload identity: the platform issues an assertion about the workload.

use super::JWT_BEARER;
use crate::auth::error::Problem;
use crate::auth::token::TokenParameters;
use crate::auth::{Scopes, Secret, UnixTime, base64};
use crate::json::Raw;

/// The assertion of the platform. It is read again for every flow, because platforms replace it.
#[derive(Clone, Debug)]
pub struct WorkloadGrant {
    /// The JSON Web Token as the platform issued it; it is sent unchanged (AU-92).
    pub assertion: Secret,
}

impl WorkloadGrant {
    /// Checks that the assertion is a JSON Web Token that has not expired (AU-92). Its signature
    /// is for the authorization server to verify.
    pub(crate) fn check(&self, now: UnixTime) -> Result<(), Problem> {
        let malformed = || Problem::Malformed("assertion");
        let mut parts = self.assertion.expose().split('.');
        let (Some(_), Some(claims), Some(_), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(malformed());
        };
        let claims = base64::decode_url(claims).ok_or_else(malformed)?;
        let claims = Raw::parse(&claims, 16).map_err(|_| malformed())?;
        let claims = claims.object().ok_or_else(malformed)?;
        let expiry = claims.get("exp").and_then(Raw::number);
        let expiry = expiry.ok_or(Problem::Missing("exp"))?.to_f64();
        match expiry > now.as_secs() as f64 {
            true => Ok(()),
            false => Err(Problem::Expired),
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
        let claims = base64::encode_url(claims.as_bytes());
        Self {
            assertion: Secret::from(std::format!("e30.{claims}.c2ln")),
        }
    }
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
