//! The grants: how tokens are obtained, and the parameters of their requests.

mod authorization_code;
mod client_credentials;
mod enterprise;
mod refresh_token;
mod workload;

pub use authorization_code::AuthorizationPage;
pub(crate) use authorization_code::{authorization_page, redeem_code};
pub(crate) use client_credentials::client_credentials;
pub use enterprise::{EnterpriseGrant, Subject};
pub(crate) use enterprise::{ID_JAG, REFRESH_TOKEN};
pub(crate) use refresh_token::refresh;
pub use workload::WorkloadGrant;

/// `grant_type` of an assertion (RFC 7523, section 2.1).
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// The grant by which tokens are obtained.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Grant {
    /// A user consents in a browser.
    AuthorizationCode,
    /// The client acts for itself, with a secret or a key (AU-80).
    ClientCredentials,
    /// An identity provider of an enterprise vouches for the user (AU-82, AU-84 to AU-87).
    Enterprise(EnterpriseGrant),
    /// The platform vouches for the workload (AU-91 to AU-93).
    WorkloadIdentity(WorkloadGrant),
}
