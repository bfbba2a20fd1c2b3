//! The refusals that one operation meets at the MCP server.

use mcp_auth::{
    AuthError, Challenge, Credentials, Document, DpopNonces, Refusals, RefusedResponse, Remedy,
    Scheme,
};

use super::script::SERVER;

pub(crate) struct Operation {
    pub(crate) refusals: Refusals,
    pub(crate) nonces: DpopNonces,
}

impl Operation {
    pub(crate) fn new() -> Self {
        Self::preferring(Scheme::Bearer)
    }

    pub(crate) fn preferring(scheme: Scheme) -> Self {
        Self {
            refusals: Refusals::new(scheme),
            nonces: DpopNonces::new(),
        }
    }

    /// Judges a response with this status, this `WWW-Authenticate` field and this nonce.
    pub(crate) fn judge(
        &mut self,
        status: u16,
        field: &str,
        nonce: Option<&str>,
        held: Option<&Credentials>,
    ) -> Result<Remedy, AuthError> {
        let challenges = Challenge::parse_all([field.as_bytes()]);
        let refusal = RefusedResponse {
            url: SERVER,
            status,
            challenges: &challenges,
            dpop_nonce: nonce,
        };
        self.refusals.judge(&refusal, held, &mut self.nonces)
    }

    /// Returns the name of the remedy, or the text of the error.
    pub(crate) fn refused(
        &mut self,
        status: u16,
        field: &str,
        nonce: Option<&str>,
        held: Option<&Credentials>,
    ) -> Result<&'static str, String> {
        match self.judge(status, field, nonce, held) {
            Ok(Remedy::NewProof) => Ok("proof"),
            Ok(Remedy::Refresh) => Ok("refresh"),
            Ok(Remedy::Authorize(_)) => Ok("authorize"),
            Ok(_) => Err("unknown".into()),
            Err(error) => {
                assert_eq!(error.document, Document::ServerResponse);
                Err(error.to_string())
            }
        }
    }

    /// Returns the challenge of the authorization that alone helps.
    #[track_caller]
    pub(crate) fn authorizes(
        &mut self,
        status: u16,
        field: &str,
        held: Option<&Credentials>,
    ) -> Option<Challenge> {
        match self.judge(status, field, None, held) {
            Ok(Remedy::Authorize(challenge)) => challenge,
            other => panic!("{other:?}"),
        }
    }
}
