//! Compact JSON Web Signatures (RFC 7515), before their signature is verified.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_proto::json::{Object, Raw, RawBuf};

use super::algorithm::Algorithm;
use super::text;

/// A token of three parts. Nothing in it can be trusted before its signature is verified.
#[derive(Clone)]
pub(crate) struct Jws {
    /// Header and payload as they were sent: what was signed.
    pub(super) message: String,
    pub(super) signature: Vec<u8>,
    pub(super) algorithm: Algorithm,
    /// `typ`.
    pub(super) media_type: Option<String>,
    /// `kid`.
    pub(super) key_id: Option<String>,
    header: RawBuf,
    payload: RawBuf,
}

/// Reasons for which a text is not usable as a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JwsFault {
    /// It does not have three parts of Base64url, or header or payload is not a JSON object.
    Malformed,
    /// The algorithm is unknown, or never acceptable.
    Algorithm,
    /// The header has `crit`; no extension is understood (RFC 7515, section 4.1.11).
    Critical,
}

/// The deepest nesting of header and payload.
pub(super) const DEPTH: u8 = 16;

impl Jws {
    pub(crate) fn parse(text: &str) -> Result<Self, JwsFault> {
        let (message, signature) = text.rsplit_once('.').ok_or(JwsFault::Malformed)?;
        let (header, payload) = message.split_once('.').ok_or(JwsFault::Malformed)?;
        let header = object(header).ok_or(JwsFault::Malformed)?;
        let payload = object(payload).ok_or(JwsFault::Malformed)?;
        let signature = URL_SAFE_NO_PAD
            .decode(signature)
            .map_err(|_| JwsFault::Malformed)?;
        let found = members(&header).find(["alg", "typ", "kid", "crit"]);
        let [alg, typ, kid, crit] = found.map_err(|_| JwsFault::Malformed)?;
        if crit.is_some() {
            return Err(JwsFault::Critical);
        }
        let optional = |value: Option<Raw<'_>>| match value {
            Some(value) => text::of(value)
                .map(|text| Some(text.into_owned()))
                .ok_or(JwsFault::Malformed),
            None => Ok(None),
        };
        let (media_type, key_id) = (optional(typ)?, optional(kid)?);
        let name = alg.and_then(text::of).ok_or(JwsFault::Malformed)?;
        let algorithm = Algorithm::from_name(&name).ok_or(JwsFault::Algorithm)?;
        Ok(Self {
            message: message.to_owned(),
            signature,
            algorithm,
            media_type,
            key_id,
            header,
            payload,
        })
    }

    /// Returns true if a text has the form of a JWS: three parts of Base64url, the first a JSON
    /// object.
    pub(super) fn is_likely(text: &str) -> bool {
        let mut parts = text.split('.');
        let (header, payload) = (parts.next(), parts.next());
        let has_three = parts.next().is_some_and(is_digits) && parts.next().is_none();
        has_three
            && payload.is_some_and(is_digits)
            && header.is_some_and(|header| object(header).is_some())
    }

    pub(super) fn header(&self) -> Object<'_> {
        members(&self.header)
    }

    pub(crate) const fn payload(&self) -> &RawBuf {
        &self.payload
    }

    /// Returns true if `typ` is this media type; `application/` may be left out (RFC 7515, section
    /// 4.1.9).
    pub(super) fn has_type(&self, expected: &str) -> bool {
        self.media_type.as_deref().is_some_and(|found| {
            let short = match found.split_at_checked(PREFIX.len()) {
                Some((prefix, rest)) if prefix.eq_ignore_ascii_case(PREFIX) => rest,
                _ => found,
            };
            short.eq_ignore_ascii_case(expected)
        })
    }
}

fn is_digits(part: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    part.bytes().all(is_digit)
}

const PREFIX: &str = "application/";

fn object(part: &str) -> Option<RawBuf> {
    let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
    let raw = Raw::parse(&bytes, DEPTH).ok()?;
    raw.object()?;
    Some(raw.into())
}

pub(super) fn members(buf: &RawBuf) -> Object<'_> {
    buf.as_raw().object().unwrap_or_default()
}
