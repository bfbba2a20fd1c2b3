//! One token request with everything that belongs to it: the client assertion, the DPoP proof, the
//! retry with a nonce, and the response.

use alloc::string::String;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::error::{AuthError, Document, Problem, printable};
use super::identity::{ClientIdentity, ClientProof, EndpointAuth};
use super::jwt::{JsonText, SigningKey, SigningRequest};
use super::step::{FlowStep, Input, Progress};
use super::token::{ExpectedToken, TokenParameters, TokenResponse, token_request};
use super::{DpopKey, DpopNonces, DpopProof, Secret, UnixTime};

/// The time for which a client assertion is valid, in seconds (AU-95).
const ASSERTION_LIFETIME: u64 = 120;

/// A token request in progress.
#[derive(Clone, Debug)]
pub(crate) struct TokenCall {
    pub(crate) document: Document,
    pub(crate) endpoint: String,
    /// The audience of a client assertion.
    pub(crate) issuer: String,
    pub(crate) parameters: TokenParameters,
    pub(crate) client: Option<(ClientIdentity, EndpointAuth)>,
    pub(crate) dpop: Option<DpopKey>,
    pub(crate) expected: ExpectedToken,
    pub(crate) stage: TokenStage,
}

/// The input that a token request awaits.
#[derive(Clone, Debug)]
pub(crate) enum TokenStage {
    Begin {
        retried: bool,
    },
    AssertionId {
        retried: bool,
    },
    AssertionSignature {
        retried: bool,
        to_sign: SigningRequest,
    },
    ProofId {
        retried: bool,
        assertion: Option<Secret>,
    },
    ProofSignature {
        retried: bool,
        assertion: Option<Secret>,
        to_sign: SigningRequest,
    },
    Response {
        retried: bool,
        assertion: Option<Secret>,
    },
}

impl TokenCall {
    /// Returns the first step.
    pub(crate) fn start(&mut self) -> FlowStep {
        let retried = matches!(self.stage, TokenStage::Begin { retried: true });
        if let Some((_, EndpointAuth::PrivateKeyJwt)) = &self.client {
            self.stage = TokenStage::AssertionId { retried };
            return FlowStep::Random;
        }
        self.prove(retried, None)
    }

    /// Takes the answer to the last step. `nonces` are those of authorization servers.
    pub(crate) fn advance(
        &mut self,
        now: UnixTime,
        nonces: &mut DpopNonces,
        input: Input<'_>,
    ) -> Result<Progress<TokenResponse>, AuthError> {
        let stage = core::mem::replace(&mut self.stage, TokenStage::Begin { retried: true });
        let step = match (stage, input) {
            (TokenStage::AssertionId { retried }, Input::Random(id)) => {
                let to_sign = self.assertion(now, &id);
                self.stage = TokenStage::AssertionSignature {
                    retried,
                    to_sign: to_sign.clone(),
                };
                FlowStep::Sign(to_sign)
            }
            (TokenStage::AssertionSignature { retried, to_sign }, Input::Signature(signature)) => {
                self.prove(retried, Some(to_sign.finish(signature).into()))
            }
            (TokenStage::ProofId { retried, assertion }, Input::Random(id)) => {
                let proof = DpopProof {
                    id: &id,
                    method: "POST",
                    url: &self.endpoint,
                    issued_at: now,
                    token_hash: None,
                    nonce: nonces.get(&self.endpoint),
                };
                let Some(key) = &self.dpop else {
                    return Err(self.fail(Problem::UnexpectedInput));
                };
                let to_sign = proof.to_sign(key);
                self.stage = TokenStage::ProofSignature {
                    retried,
                    assertion,
                    to_sign: to_sign.clone(),
                };
                FlowStep::Sign(to_sign)
            }
            (
                TokenStage::ProofSignature {
                    retried,
                    assertion,
                    to_sign,
                },
                Input::Signature(signature),
            ) => self.send(retried, assertion, Some(to_sign.finish(signature))),
            (_, Input::Failed(text)) => {
                return Err(self.fail(Problem::Unreachable(printable(text, 200))));
            }
            (TokenStage::Response { retried, assertion }, Input::Response(response)) => {
                let nonce = response.header("dpop-nonce");
                let is_new = nonce.is_some_and(|nonce| nonces.set(&self.endpoint, nonce));
                let mut secrets = self.parameters.secrets();
                secrets.extend(assertion);
                if let Some((client, _)) = &self.client
                    && let ClientProof::Secret(secret) = &client.proof
                {
                    secrets.push(secret.clone());
                }
                let (document, endpoint) = (self.document, &self.endpoint);
                let read =
                    TokenResponse::read(document, endpoint, &response, self.expected, &secrets);
                match read {
                    Ok(token) => return Ok(Progress::Done(token)),
                    // Once, and only with a nonce that the refused request did not have (AU-98).
                    Err(error)
                        if error.oauth_error() == Some("use_dpop_nonce")
                            && self.dpop.is_some()
                            && is_new
                            && !retried =>
                    {
                        self.stage = TokenStage::Begin { retried: true };
                        self.start()
                    }
                    Err(error) => return Err(error),
                }
            }
            _ => return Err(self.fail(Problem::UnexpectedInput)),
        };
        Ok(Progress::Step(step))
    }

    fn prove(&mut self, retried: bool, assertion: Option<Secret>) -> FlowStep {
        if self.dpop.is_some() {
            self.stage = TokenStage::ProofId { retried, assertion };
            return FlowStep::Random;
        }
        self.send(retried, assertion, None)
    }

    fn send(
        &mut self,
        retried: bool,
        assertion: Option<Secret>,
        proof: Option<String>,
    ) -> FlowStep {
        let client = self.client.as_ref();
        let mut request = token_request(
            self.document,
            &self.endpoint,
            &self.parameters,
            client.map(|(client, method)| (client, *method)),
            assertion.as_ref().map(Secret::expose),
        );
        if let Some(proof) = proof {
            request.headers.push(("dpop", proof.into()));
        }
        self.stage = TokenStage::Response { retried, assertion };
        FlowStep::Send(request)
    }

    /// The assertion of `private_key_jwt` (AU-95).
    fn assertion(&self, now: UnixTime, id: &[u8; 32]) -> SigningRequest {
        let (client_id, algorithm, key_id) = match &self.client {
            Some((client, _)) => match &client.proof {
                ClientProof::PrivateKey { algorithm, key_id } => (
                    client.client_id.as_str(),
                    algorithm.as_str(),
                    key_id.as_deref(),
                ),
                _ => (client.client_id.as_str(), "", None),
            },
            None => ("", "", None),
        };
        let header = JsonText::new()
            .text("alg", algorithm)
            .text("typ", "JWT")
            .optional_text("kid", key_id)
            .end();
        let claims = JsonText::new()
            .text("iss", client_id)
            .text("sub", client_id)
            .text("aud", &self.issuer)
            .text("jti", &URL_SAFE_NO_PAD.encode(id))
            .number("iat", now.as_secs())
            .number("exp", now.saturating_add(ASSERTION_LIFETIME).as_secs())
            .end();
        SigningRequest::new(SigningKey::ClientAssertion, algorithm, &header, &claims)
    }

    fn fail(&self, problem: Problem) -> AuthError {
        AuthError::new(self.document, &self.endpoint, problem)
    }
}
