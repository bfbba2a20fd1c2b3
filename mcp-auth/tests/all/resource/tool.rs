//! A server, its clients and its authorization server, with arithmetic in place of cryptography.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_auth::UnixTime;
use mcp_auth::resource::{
    Admission, CheckStep, Digest, Fingerprint, ProtectedResource, PublicKey, RequiredScopes,
    ResourceBuilder, ResourceRequest, SignatureToVerify, TokenCheck, TokenClaims, VerifierState,
};
use mcp_proto::http::Head;

pub(crate) const RESOURCE: &str = "https://mcp.example/notes";
pub(crate) const ISSUER: &str = "https://as.example";
pub(crate) const NOW: u64 = 1_000_000;

/// A resource with keys at `https://as.example/jwks`.
pub(crate) fn builder() -> ResourceBuilder {
    ProtectedResource::builder(RESOURCE).issuer_with_keys(ISSUER, "https://as.example/jwks")
}

pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) query: Option<&'static str>,
    pub(crate) fields: Vec<(&'static str, String)>,
}

impl Request {
    /// A POST with these fields.
    pub(crate) fn new(fields: &[(&'static str, &str)]) -> Self {
        Self {
            method: "POST",
            path: "/notes",
            query: None,
            fields: fields
                .iter()
                .map(|(name, value)| (*name, (*value).to_owned()))
                .collect(),
        }
    }

    pub(crate) fn bearer(token: &str) -> Self {
        Self::new(&[("authorization", &format!("Bearer {token}"))])
    }

    pub(crate) fn dpop(token: &str, proof: &str) -> Self {
        Self::new(&[("authorization", &format!("DPoP {token}")), ("dpop", proof)])
    }
}

impl Head for Request {
    fn method(&self) -> &str {
        self.method
    }

    fn path(&self) -> &str {
        self.path
    }

    fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
        for (name, value) in &self.fields {
            each(name, value.as_bytes());
        }
    }
}

/// A server and what it can reach.
pub(crate) struct Server {
    pub(crate) resource: ProtectedResource,
    pub(crate) state: VerifierState,
    pub(crate) now: u64,
    /// What is at the URL of the keys; `None` if nothing answers.
    pub(crate) keys: Option<String>,
    /// What is at other URLs of the issuer.
    pub(crate) metadata: Vec<(&'static str, String)>,
    /// Why documents of the issuer could not be used.
    pub(crate) errors: Vec<String>,
    /// What the authorization server says about each token.
    pub(crate) introspection: Option<String>,
    pub(crate) verifier: fn(&str) -> Option<TokenClaims>,
    nonces: usize,
}

impl Server {
    pub(crate) fn new(builder: ResourceBuilder) -> Self {
        let resource = builder.build().unwrap();
        let state = VerifierState::new(&resource, 8);
        Self {
            resource,
            state,
            now: NOW,
            keys: Some(jwks(&["k1"])),
            metadata: Vec::new(),
            errors: Vec::new(),
            introspection: None,
            verifier: |_| None,
            nonces: 0,
        }
    }

    /// What a request leads to, line by line. Hashes are left out.
    pub(crate) fn send(&mut self, request: &Request) -> String {
        self.send_for(request, &[]).0
    }

    /// The same for an operation that needs these scopes.
    pub(crate) fn send_for(
        &mut self,
        request: &Request,
        needed: &[&str],
    ) -> (String, Option<Box<Admission>>) {
        let needed = RequiredScopes::new(needed).unwrap();
        let with = ResourceRequest {
            query: request.query,
            needed: Some(&needed),
            ..ResourceRequest::default()
        };
        self.send_with(request, with)
    }

    pub(crate) fn send_with(
        &mut self,
        request: &Request,
        with: ResourceRequest<'_>,
    ) -> (String, Option<Box<Admission>>) {
        let mut check = self.resource.begin(request, with);
        let mut lines = Vec::new();
        loop {
            let now = UnixTime::from_secs(self.now);
            match check.step(&self.resource, &mut self.state, now) {
                CheckStep::MakeNonce => {
                    self.nonces += 1;
                    let nonce = format!("nonce{}", self.nonces);
                    lines.push(format!("make {nonce}"));
                    assert!(self.state.set_nonce(&nonce, now));
                }
                CheckStep::Hash(bytes) => {
                    let digest = digest(bytes);
                    check.set_digest(digest);
                }
                CheckStep::Fingerprint(bytes) => {
                    let fingerprint = fingerprint(bytes);
                    check.set_fingerprint(fingerprint);
                }
                CheckStep::VerifySignature(signature) => {
                    lines.push(format!("verify {}", signature.algorithm));
                    let is_valid = is_valid(&signature);
                    check.set_signature(is_valid);
                }
                CheckStep::FetchKeys { issuer, url } => {
                    lines.push(format!("fetch {url}"));
                    let metadata = self.metadata.iter().find(|(place, _)| *place == url);
                    let document = match metadata {
                        Some((_, metadata)) => Some(metadata),
                        None if url.contains("/.well-known/") => None,
                        None => self.keys.as_ref(),
                    };
                    let document = document.map(String::as_bytes);
                    self.state.set_keys(issuer, document, now);
                    let error = self.state.keys_error(issuer);
                    self.errors.extend(error.map(ToString::to_string));
                }
                CheckStep::WaitForKeys { .. } => {
                    lines.push("wait for keys".into());
                    break (lines.join("\n"), None);
                }
                CheckStep::Introspect { issuer, .. } => {
                    lines.push(format!("ask {issuer}"));
                    let answer = self.introspection.as_deref().map(str::as_bytes);
                    check.set_introspection(&self.resource, answer);
                }
                CheckStep::VerifyToken(token) => {
                    lines.push("ask the application".into());
                    let claims = (self.verifier)(token.expose());
                    check.set_claims(claims);
                }
                CheckStep::Done(Ok(grant)) => {
                    match &grant {
                        Some(grant) => {
                            lines.push(format!("granted {}", grant.claims.identity()));
                            lines.extend(grant.nonce.as_ref().map(|n| format!("nonce {n}")));
                        }
                        None => lines.push("admitted".into()),
                    }
                    break (lines.join("\n"), grant);
                }
                CheckStep::Done(Err(denial)) => {
                    lines.push(format!("{}: {denial}", denial.status()));
                    lines.extend(denial.challenges().map(str::to_owned));
                    lines.extend(denial.nonce().map(|nonce| format!("nonce {nonce}")));
                    break (lines.join("\n"), None);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// Answers the first step for a signed token, which asks for a fingerprint.
    pub(crate) fn fingerprint(&mut self, check: &mut TokenCheck) {
        let now = UnixTime::from_secs(self.now);
        let fingerprint = match check.step(&self.resource, &mut self.state, now) {
            CheckStep::Fingerprint(bytes) => fingerprint(bytes),
            step => panic!("{step:?}"),
        };
        check.set_fingerprint(fingerprint);
    }

    /// Status and text of a refusal, without what led to it.
    pub(crate) fn refusal(&mut self, request: &Request) -> String {
        let found = self.send(request);
        let line = found.lines().find(|line| line.starts_with(['4', '5']));
        line.unwrap_or(&found).to_owned()
    }
}

/// Compares line by line, without white space around the lines.
#[track_caller]
pub(crate) fn check(found: &str, expected: &str) {
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.trim().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    assert_eq!(lines(found), lines(expected), "\n{found}\n");
}

/// Members of a JSON object with some changed: `name=value`, or `-name`.
fn changed(members: &[(&str, &str)], with: &[&str]) -> String {
    let mut members: Vec<(String, String)> = members
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    for change in with {
        let (name, value) = match change.strip_prefix('-') {
            Some(name) => (name, None),
            None => {
                let (name, value) = change.split_once('=').unwrap();
                (name, Some(value))
            }
        };
        members.retain(|(other, _)| other != name);
        members.extend(value.map(|value| (name.to_owned(), value.to_owned())));
    }
    let members: Vec<String> = members
        .iter()
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// A valid token, signed with the key `k1`, changed in header and claims.
pub(crate) fn token_with(header: &[&str], claims: &[&str]) -> String {
    let header = changed(
        &[
            ("alg", "\"ES256\""),
            ("typ", "\"at+jwt\""),
            ("kid", "\"k1\""),
        ],
        header,
    );
    let claims = changed(
        &[
            ("iss", "\"https://as.example\""),
            ("sub", "\"ada\""),
            ("client_id", "\"editor\""),
            ("aud", "\"https://mcp.example/notes\""),
            ("iat", "999990"),
            ("exp", "1000600"),
            ("scope", "\"read write\""),
        ],
        claims,
    );
    signed(&header, &claims, "k1")
}

pub(crate) fn token(claims: &[&str]) -> String {
    token_with(&[], claims)
}

/// A token that is bound to the client's key.
pub(crate) fn bound_token() -> String {
    bound_to("client")
}

/// A token that is bound to the key of this name.
pub(crate) fn bound_to(key: &str) -> String {
    let jkt = encode(&digest(thumbprint_input(key).as_bytes()));
    token(&[&format!("cnf={{\"jkt\":\"{jkt}\"}}")])
}

/// A valid proof for a token, signed with the client's key, changed in header and claims.
pub(crate) fn proof_with(token: &str, header: &[&str], claims: &[&str]) -> String {
    proof_of("client", token, header, claims)
}

/// A proof that is signed with the key of this name.
pub(crate) fn proof_of(key: &str, token: &str, header: &[&str], claims: &[&str]) -> String {
    let jwk = format!("{{{}}}", jwk(key));
    let header = changed(
        &[("typ", "\"dpop+jwt\""), ("alg", "\"ES256\""), ("jwk", &jwk)],
        header,
    );
    let ath = format!("\"{}\"", encode(&digest(token.as_bytes())));
    let claims = changed(
        &[
            ("jti", "\"p1\""),
            ("htm", "\"POST\""),
            ("htu", "\"https://mcp.example/notes\""),
            ("iat", "1000000"),
            ("ath", &ath),
        ],
        claims,
    );
    signed(&header, &claims, key)
}

pub(crate) fn proof(token: &str, claims: &[&str]) -> String {
    proof_with(token, &[], claims)
}

/// The members of a public key.
pub(crate) fn jwk(name: &str) -> String {
    let (x, y) = point(name);
    format!(
        "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"{}\",\"y\":\"{}\"",
        encode(&x),
        encode(&y)
    )
}

fn thumbprint_input(name: &str) -> String {
    let (x, y) = point(name);
    format!(
        "{{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"{}\",\"y\":\"{}\"}}",
        encode(&x),
        encode(&y)
    )
}

pub(crate) fn jwks(names: &[&str]) -> String {
    let keys: Vec<String> = names
        .iter()
        .map(|name| format!("{{\"kid\":\"{name}\",{}}}", jwk(name)))
        .collect();
    format!("{{\"keys\":[{}]}}", keys.join(","))
}

pub(crate) fn signed(header: &str, claims: &str, key: &str) -> String {
    let message = format!(
        "{}.{}",
        encode(header.as_bytes()),
        encode(claims.as_bytes())
    );
    let (x, _) = point(key);
    let signature = signature(&x, message.as_bytes());
    format!("{message}.{}", encode(&signature))
}

fn point(name: &str) -> (Digest, Digest) {
    let x = digest(name.as_bytes());
    (x, digest(&x))
}

fn signature(x: &[u8], message: &[u8]) -> Vec<u8> {
    let first = digest(&[x, message].concat());
    [first, digest(&first)].concat()
}

fn is_valid(found: &SignatureToVerify<'_>) -> bool {
    match found.key {
        PublicKey::Ec { x, .. } => signature(x, found.message) == found.signature,
        _ => false,
    }
}

/// Four rounds of FNV: no hash for anything but tests.
pub(crate) fn digest(bytes: &[u8]) -> Digest {
    let mut digest = [0; 32];
    for (round, place) in digest.chunks_exact_mut(8).enumerate() {
        let start = 0xcbf2_9ce4_8422_2325_u64 ^ (round as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = bytes.iter().fold(start, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
        });
        place.copy_from_slice(&hash.to_be_bytes());
    }
    digest
}

fn fingerprint(bytes: &[u8]) -> Fingerprint {
    let digest = digest(bytes);
    let (first, _) = digest.split_first_chunk().unwrap();
    Fingerprint::from_be_bytes(*first)
}

/// The text of a part of a token.
pub(crate) fn decode(part: &str) -> String {
    String::from_utf8(URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
