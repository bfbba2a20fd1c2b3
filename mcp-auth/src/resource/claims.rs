//! The claims of a verified token.

#[cfg(not(target_has_atomic = "ptr"))]
use alloc::rc::Rc as Shared;
use alloc::string::String;
#[cfg(target_has_atomic = "ptr")]
use alloc::sync::Arc as Shared;
use alloc::vec::Vec;
use core::fmt;

use mcp_proto::json::{DecodeError, Object, Raw, RawBuf};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use super::denial::DenialReason;
use super::text;
use crate::jwt::push_string;
use crate::{Scopes, UnixTime};

/// The claims of an access token: the payload of a JSON Web Token, the answer of an introspection,
/// or what a verifier of the application found out.
///
/// A clone shares the claims. `Debug` shows times and scopes only. Serialization keeps everything, so that processes that
/// trust each other can pass claims on.
#[derive(Clone, Deserialize)]
#[serde(from = "ClaimValues")]
pub struct TokenClaims(Shared<KnownClaims>);

/// Claims, and the identity that is computed from them once.
#[derive(Clone)]
struct KnownClaims {
    values: ClaimValues,
    identity: String,
}

/// The values of claims.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct ClaimValues {
    pub(super) issuer: Option<String>,
    pub(super) subject: Option<String>,
    pub(super) client: Option<String>,
    pub(super) audience: Vec<String>,
    pub(super) scopes: Scopes,
    pub(super) expires: Option<UnixTime>,
    pub(super) not_before: Option<UnixTime>,
    pub(super) issued: Option<UnixTime>,
    pub(super) key_thumbprint: Option<String>,
    /// `cnf` states something other than a thumbprint, too.
    pub(super) has_other_binding: bool,
    #[serde(with = "as_text")]
    pub(super) all: RawBuf,
}

impl TokenClaims {
    /// Claims that a verifier of the application found out. `audience` is the resource that the
    /// token was issued for; it is compared like that of every other token (AU-06).
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        let values = ClaimValues {
            issuer: Some(issuer.into()),
            audience: alloc::vec![audience.into()],
            ..ClaimValues::EMPTY
        };
        values.into()
    }

    /// Sets the user that the token was issued for.
    #[must_use]
    pub fn with_subject(mut self, subject: impl Into<String>) -> Self {
        self.change(|values| values.subject = Some(subject.into()));
        self
    }

    /// Sets the client that the token was issued to.
    #[must_use]
    pub fn with_client(mut self, client: impl Into<String>) -> Self {
        self.change(|values| values.client = Some(client.into()));
        self
    }

    /// Sets the granted scopes.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Scopes) -> Self {
        self.change(|values| values.scopes = scopes);
        self
    }

    /// Sets the moment from which the token is not valid any more.
    #[must_use]
    pub fn with_expiry(mut self, expires: UnixTime) -> Self {
        self.change(|values| values.expires = Some(expires));
        self
    }

    /// Sets the thumbprint (RFC 7638) of the key that the token is bound to.
    #[must_use]
    pub fn with_key_thumbprint(mut self, thumbprint: impl Into<String>) -> Self {
        self.change(|values| values.key_thumbprint = Some(thumbprint.into()));
        self
    }

    /// Returns the issuer, `iss`.
    pub fn issuer(&self) -> Option<&str> {
        self.values().issuer.as_deref()
    }

    /// Returns the user that the token was issued for, `sub`.
    pub fn subject(&self) -> Option<&str> {
        self.values().subject.as_deref()
    }

    /// Returns the client that the token was issued to: `client_id`, else `azp`.
    pub fn client(&self) -> Option<&str> {
        self.values().client.as_deref()
    }

    /// Returns the resources that the token was issued for, `aud`.
    pub(crate) fn audience(&self) -> &[String] {
        &self.values().audience
    }

    /// Returns the granted scopes.
    pub fn scopes(&self) -> &Scopes {
        &self.values().scopes
    }

    /// Returns the moment from which the token is not valid any more. Streams and other state that
    /// the token opened end then (AU-17).
    pub fn expires(&self) -> Option<UnixTime> {
        self.values().expires
    }

    /// Returns the claim of this name, decoded. `None` if the token does not have it, or has `null`, and
    /// for claims of the application's own verifier.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] if the claim is of another type, or stands twice.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, DecodeError> {
        let Ok([claim]) = self.all().find([name]) else {
            return Err(DecodeError::custom("the claim stands twice"));
        };
        let claim = claim.filter(|claim| !claim.is_null());
        claim.map(|claim| claim.decode(&mut [])).transpose()
    }

    /// Returns all claims as a JSON object; empty for claims of the application's own verifier.
    pub fn all(&self) -> Object<'_> {
        self.values().all.as_raw().object().unwrap_or_default()
    }

    /// Returns the identity of the sender: issuer, subject and client as a JSON array, so that no two identities have one
    /// text (AU-17).
    pub fn identity(&self) -> &str {
        &self.0.identity
    }

    /// Reads claims from a JSON object.
    pub(crate) fn read(all: &RawBuf) -> Result<Self, DenialReason> {
        let object = all.as_raw().object().unwrap_or_default();
        let names = NAMES;
        let found = object.find(names).map_err(|duplicate| {
            DenialReason::Claim(names.get(duplicate.key).copied().unwrap_or_default())
        })?;
        let [
            iss,
            sub,
            client_id,
            azp,
            aud,
            scope,
            scp,
            exp,
            nbf,
            iat,
            cnf,
        ] = found.map(|value| value.filter(|value| !value.is_null()));
        let (key_thumbprint, has_other_binding) = match cnf {
            Some(cnf) => binding(cnf).ok_or(DenialReason::Claim("cnf"))?,
            None => (None, false),
        };
        let audience = match aud {
            Some(aud) => text::one_or_many(aud).ok_or(DenialReason::Claim("aud"))?,
            None => Vec::new(),
        };
        let client = match string(client_id, "client_id")? {
            Some(client) => Some(client),
            None => string(azp, "azp")?,
        };
        let values = ClaimValues {
            issuer: string(iss, "iss")?,
            subject: string(sub, "sub")?,
            client,
            audience,
            scopes: scopes(scope.or(scp))?,
            expires: time(exp, "exp")?,
            not_before: time(nbf, "nbf")?,
            issued: time(iat, "iat")?,
            key_thumbprint,
            has_other_binding,
            all: all.clone(),
        };
        Ok(values.into())
    }

    pub(super) fn values(&self) -> &ClaimValues {
        &self.0.values
    }

    pub(super) fn change(&mut self, change: impl FnOnce(&mut ClaimValues)) {
        let known = Shared::make_mut(&mut self.0);
        change(&mut known.values);
        known.identity = known.values.identity();
    }
}

impl ClaimValues {
    const EMPTY: Self = Self {
        issuer: None,
        subject: None,
        client: None,
        audience: Vec::new(),
        scopes: Scopes::new(),
        expires: None,
        not_before: None,
        issued: None,
        key_thumbprint: None,
        has_other_binding: false,
        all: RawBuf::new(),
    };

    fn identity(&self) -> String {
        let parts = [&self.issuer, &self.subject, &self.client].map(Option::as_deref);
        let len = parts.map(|part| part.map_or(4, str::len)).into_iter();
        // With quotation marks and commas, if nothing is escaped.
        let mut list = String::with_capacity(len.fold(12, usize::saturating_add));
        list.push('[');
        for part in parts {
            if list.len() > 1 {
                list.push(',');
            }
            match part {
                Some(part) => push_string(&mut list, part),
                None => list.push_str("null"),
            }
        }
        list.push(']');
        list
    }
}

impl From<ClaimValues> for TokenClaims {
    fn from(values: ClaimValues) -> Self {
        let identity = values.identity();
        Self(Shared::new(KnownClaims { values, identity }))
    }
}

impl Serialize for TokenClaims {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.values().serialize(to)
    }
}

/// All claims are one text, in which every format can keep them.
mod as_text {
    use alloc::string::String;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::{Serialize, Serializer};

    use mcp_proto::json::RawBuf;

    pub(super) fn serialize<S: Serializer>(all: &RawBuf, to: S) -> Result<S::Ok, S::Error> {
        all.as_raw().as_str().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<RawBuf, D::Error> {
        let text = String::deserialize(from)?;
        RawBuf::parse(text).map_err(|_| D::Error::custom("the claims are no JSON"))
    }
}

const NAMES: [&str; 11] = [
    "iss",
    "sub",
    "client_id",
    "azp",
    "aud",
    "scope",
    "scp",
    "exp",
    "nbf",
    "iat",
    "cnf",
];

impl fmt::Debug for TokenClaims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenClaims")
            .field("scopes", self.scopes())
            .field("expires", &self.expires())
            .finish_non_exhaustive()
    }
}

fn string(value: Option<Raw<'_>>, name: &'static str) -> Result<Option<String>, DenialReason> {
    match value {
        Some(value) => match text::of(value).filter(|text| !text.is_empty()) {
            Some(text) => Ok(Some(text.into_owned())),
            None => Err(DenialReason::Claim(name)),
        },
        None => Ok(None),
    }
}

/// Scopes are one text (RFC 8693, section 4.2); some authorization servers write an array, or call
/// the claim `scp`.
fn scopes(value: Option<Raw<'_>>) -> Result<Scopes, DenialReason> {
    let Some(value) = value else {
        return Ok(Scopes::new());
    };
    let texts = text::one_or_many(value).ok_or(DenialReason::Claim("scope"))?;
    Ok(texts
        .iter()
        .flat_map(|text| text.split(' '))
        .collect::<Scopes>())
}

fn time(value: Option<Raw<'_>>, name: &'static str) -> Result<Option<UnixTime>, DenialReason> {
    match value {
        Some(value) => match text::time(value) {
            Some(time) => Ok(Some(time)),
            None => Err(DenialReason::Claim(name)),
        },
        None => Ok(None),
    }
}

/// The thumbprint in `cnf`, and whether there is another confirmation method (RFC 7800).
fn binding(cnf: Raw<'_>) -> Option<(Option<String>, bool)> {
    let mut thumbprint = None;
    let mut has_other = false;
    for (name, value) in cnf.object()?.members() {
        match name == "jkt" {
            true if thumbprint.is_some() => return None,
            true => thumbprint = Some(text::of(value)?.into_owned()),
            false => has_other = true,
        }
    }
    (thumbprint.is_some() || has_other).then_some((thumbprint, has_other))
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::ToString as _;

    use super::*;

    /// AU-17: a process that receives claims knows as much as the one that has verified the token.
    #[test]
    fn claims_survive_serialization() {
        let all = concat!(
            r#"{"iss":"https://as.example/","sub":"a\n\"da\"","azp":"c1","aud":["a","b"],"#,
            r#""scp":["x","y:z"],"exp":3,"nbf":1,"iat":2,"cnf":{"jkt":"T","x5t#S256":"U"},"#,
            "\n",
            r#""tenant": {"id":12345678901234567890.5,"\ud800":null}}"#,
        );
        let mut read = TokenClaims::read(&RawBuf::parse(all).unwrap()).unwrap();
        // Found out apart from the claims.
        read.change(|values| values.audience.push("c".into()));
        let own = TokenClaims::new("https://as.example/", "a")
            .with_subject("ada")
            .with_expiry(UnixTime::from_secs(7));
        for claims in [read, own, ClaimValues::EMPTY.into()] {
            let bytes = serde_json::to_vec(&claims).unwrap();
            assert!(!bytes.contains(&b'\n'));
            let again: TokenClaims = serde_json::from_slice(&bytes).unwrap();
            let ClaimValues {
                issuer,
                subject,
                client,
                audience,
                scopes,
                expires,
                not_before,
                issued,
                key_thumbprint,
                has_other_binding,
                all,
            } = again.values().clone();
            let claims = claims.values().clone();
            assert_eq!(
                (issuer, subject, client, audience, scopes),
                (
                    claims.issuer,
                    claims.subject,
                    claims.client,
                    claims.audience,
                    claims.scopes
                )
            );
            assert_eq!(
                (expires, not_before, issued),
                (claims.expires, claims.not_before, claims.issued)
            );
            assert_eq!(
                (key_thumbprint, has_other_binding),
                (claims.key_thumbprint, claims.has_other_binding)
            );
            assert_eq!(all.as_raw().as_str(), claims.all.as_raw().as_str());
        }
    }

    #[test]
    fn claims_are_decoded_by_their_names() {
        let claims =
            r#"{"iss":"a","tenant":"\u0061cme","level":7,"groups":["a","b"],"x":null,"y":1,"y":2}"#;
        let claims = TokenClaims::read(&RawBuf::parse(claims).unwrap()).unwrap();
        assert_eq!(claims.get("tenant"), Ok(Some(String::from("acme"))));
        assert_eq!(claims.get("level"), Ok(Some(7u8)));
        assert_eq!(
            claims.get("groups"),
            Ok(Some(alloc::vec![String::from("a"), String::from("b")]))
        );
        for absent in ["x", "missing", "Tenant"] {
            assert_eq!(claims.get::<String>(absent), Ok(None), "{absent}");
        }
        let error = claims.get::<u8>("tenant").unwrap_err();
        assert_eq!(error.to_string(), "expected u8, found string");
        assert!(claims.get::<u8>("y").is_err());
        assert!(!format!("{claims:?}").contains("cme"));
        assert_eq!(TokenClaims::new("a", "b").get::<u8>("level"), Ok(None));
    }
}
