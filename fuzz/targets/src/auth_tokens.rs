//! A protected resource among hostile clients and authorization servers.

use mcp_auth::resource::{
    Admission, CheckStep, DpopUse, ProtectedResource, ResourceRequest, VerifierState,
};
use mcp_auth::{Scheme, UnixTime, Uri};
use mcp_proto::http::Head;
use serde_json::Value;

const RESOURCE: &str = "https://mcp.example/mcp";
const ISSUER: &str = "https://as.example";
const NOW: u64 = 1_000_000;
const LEEWAY: f64 = 60.0;

/// Whatever a request, the issuer's keys and its answer say, a check ends after a few steps, shows
/// no token, and admits only what a second reader of the token and of the proof admits.
///
/// The input is lines: switches, header and claims of the token, header and claims of the proof,
/// the keys, the answer of introspection, and the metadata of the issuer. Each hash is 32 times the byte 7. Switches: `d` and `D`
/// accept and demand proofs, `n` demands nonces, `i` has introspection, `o` takes the second line for
/// the whole token, `p` sends a proof, `q` has the third line for a query, `m` searches for the keys.
pub fn auth_tokens(input: &[u8]) {
    is_admitted(input);
}

/// Whether the input is admitted if all signatures are valid.
fn is_admitted(input: &[u8]) -> bool {
    let mut lines = input.split(|byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let script = Script {
        switches: line(),
        token: [line(), line()],
        proof: [line(), line()],
        keys: line(),
        introspection: line(),
        metadata: line(),
    };
    let resource = script.resource();
    let mut admitted = false;
    for valid in [true, false] {
        let mut state = VerifierState::new(&resource, 4);
        let first = script.check(&resource, &mut state, valid);
        let second = script.check(&resource, &mut state, valid);
        let Some(grant) = &first else {
            continue;
        };
        script.is_admissible(grant, valid);
        admitted |= valid;
        // A proof is accepted once.
        assert_eq!(second.is_some(), grant.scheme == Scheme::Bearer);
    }
    admitted
}

struct Script<'i> {
    switches: &'i [u8],
    token: [&'i [u8]; 2],
    proof: [&'i [u8]; 2],
    keys: &'i [u8],
    introspection: &'i [u8],
    metadata: &'i [u8],
}

impl Script<'_> {
    fn has(&self, switch: u8) -> bool {
        self.switches.contains(&switch)
    }

    fn resource(&self) -> ProtectedResource {
        let builder = ProtectedResource::builder(RESOURCE);
        let mut builder = match self.has(b'm') {
            true => builder.issuer(ISSUER),
            false => builder.issuer_with_keys(ISSUER, "https://as.example/jwks"),
        }
        .scopes(["read"])
        .dpop(match (self.has(b'd'), self.has(b'D')) {
            (_, true) => DpopUse::Required,
            (true, false) => DpopUse::Accepted,
            (false, false) => DpopUse::Off,
        });
        if self.has(b'i') {
            builder = builder.issuer_with_introspection(ISSUER);
        }
        if self.has(b'n') {
            builder = builder.demand_nonces(60);
        }
        builder.build().expect("settings")
    }

    fn request(&self) -> Request {
        let signed = |[header, claims]: [&[u8]; 2]| {
            format!("{}.{}.{}", encode(header), encode(claims), encode(&[9; 64]))
        };
        let token = match self.has(b'o') {
            true => String::from_utf8_lossy(self.token[0]).into_owned(),
            false => signed(self.token),
        };
        let (scheme, proof) = match self.has(b'p') {
            true => ("DPoP", Some(signed(self.proof))),
            false => ("Bearer", None),
        };
        let query = self.has(b'q').then_some(self.token[1]);
        Request {
            authorization: format!("{scheme} {token}"),
            proof,
            query: query.map(|query| String::from_utf8_lossy(query).into_owned()),
        }
    }

    fn check(
        &self,
        resource: &ProtectedResource,
        state: &mut VerifierState,
        valid: bool,
    ) -> Option<Box<Admission>> {
        let now = UnixTime::from_secs(NOW);
        let request = self.request();
        let about = ResourceRequest {
            query: request.query.as_deref(),
            ..ResourceRequest::default()
        };
        let mut check = resource.begin(&request, about);
        for _ in 0..16 {
            let step = check.step(resource, state, now);
            let shown = format!("{step:?}");
            assert!(!shown.contains(&encode(&[9; 64])), "{shown}");
            match step {
                CheckStep::MakeNonce => assert!(state.set_nonce("nonce", now)),
                CheckStep::Hash(_) => check.set_digest([7; 32]),
                CheckStep::Fingerprint(_) => check.set_fingerprint(7),
                CheckStep::VerifySignature(asked) => {
                    let expected = asked.signature == [9; 64];
                    check.set_signature(valid && expected);
                }
                CheckStep::FetchKeys { issuer, url } => {
                    let uri = Uri::parse(url).expect("a URL");
                    assert!(uri.is_confidential() && !uri.has_fragment(), "{url}");
                    let is_metadata = url.contains("as.example/.well-known/");
                    let document = if is_metadata {
                        self.metadata
                    } else {
                        self.keys
                    };
                    state.set_keys(issuer, Some(document), now);
                }
                CheckStep::Introspect { .. } => {
                    check.set_introspection(resource, Some(self.introspection));
                }
                CheckStep::Done(Ok(grant)) => return grant,
                CheckStep::Done(Err(denial)) => {
                    assert!(matches!(denial.status(), 400 | 401 | 403 | 503), "{shown}");
                    let is_plain = |text: &str| text.bytes().all(|byte| (32..127).contains(&byte));
                    assert!(denial.challenges().all(is_plain), "{shown}");
                    return None;
                }
                other => panic!("{other:?}"),
            }
        }
        panic!("the check does not end");
    }

    /// What a second reader says of a request that was admitted.
    fn is_admissible(&self, grant: &Admission, valid: bool) {
        assert!(!self.has(b'q') || !self.token[1].starts_with(b"access_token="));
        let is_asked = self.has(b'i') && (self.has(b'o') || grant.claims.expires().is_none());
        let claims = match is_asked || self.has(b'o') {
            true => serde_json::from_slice::<Value>(self.introspection),
            false => serde_json::from_slice(self.token[1]),
        };
        // Half a surrogate pair is no text for the second reader.
        let Ok(claims) = claims else {
            return;
        };
        let names = |value: &Value, text: &str| match value {
            Value::Array(all) => all.iter().any(|one| one == text),
            one => one == text,
        };
        assert!(names(&claims["aud"], RESOURCE), "{claims}");
        assert!(
            claims["exp"]
                .as_f64()
                .is_none_or(|at| at + LEEWAY >= NOW as f64)
        );
        assert!(
            claims["nbf"]
                .as_f64()
                .is_none_or(|at| at - LEEWAY <= NOW as f64)
        );
        if !self.has(b'o') && !is_asked {
            assert!(valid, "a wrong signature");
            assert_eq!(claims["iss"], ISSUER);
            assert!(claims["exp"].is_number(), "{claims}");
            let header: Value = serde_json::from_slice(self.token[0]).expect("a header");
            let algorithm = header["alg"].as_str().expect("an algorithm");
            assert!(!algorithm.starts_with("HS") && algorithm != "none");
            assert!(header.get("crit").is_none(), "{header}");
        }
        let is_bound = claims.get("cnf").is_some_and(|cnf| !cnf.is_null());
        assert_eq!(is_bound, grant.scheme == Scheme::Dpop, "{claims}");
        if is_bound {
            assert!(valid && self.has(b'p') && (self.has(b'd') || self.has(b'D')));
            let proof: Value = serde_json::from_slice(self.proof[1]).expect("claims");
            assert_eq!(proof["htm"], "POST");
            assert_eq!(proof["ath"], *encode(&[7; 32]));
            assert!(!self.has(b'n') || proof["nonce"] == "nonce", "{proof}");
        } else {
            assert!(!self.has(b'D') && !self.has(b'p'));
        }
    }
}

struct Request {
    authorization: String,
    proof: Option<String>,
    query: Option<String>,
}

impl Head for Request {
    fn method(&self) -> &str {
        "POST"
    }

    fn path(&self) -> &str {
        "/mcp"
    }

    fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
        each("authorization", self.authorization.as_bytes());
        let proofs = self.proof.iter();
        proofs.for_each(|proof| each("dpop", proof.as_bytes()));
    }
}

/// Base64 for URLs, without padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group
            .iter()
            .fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - group.len()));
        for index in 0..=group.len() {
            text.push(DIGITS[(bits >> (18 - 6 * index) & 63) as usize].into());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    /// The corpus begins on both sides of the border.
    #[test]
    fn corpus_is_admitted_and_refused() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus/auth_tokens/");
        for (name, expected) in [
            ("signed", true),
            ("bound", true),
            ("searched", true),
            ("opaque", true),
            ("bound_opaque", true),
            ("query", false),
            ("refused", false),
        ] {
            let input = std::fs::read([folder, name].concat()).unwrap();
            assert_eq!(super::is_admitted(&input), expected, "{name}");
        }
    }
}
