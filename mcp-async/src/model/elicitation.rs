//! Elicitation: questions to the user.

use core::fmt;

use mcp_proto::json::{DecodeError, EncodeError, Raw, RawBuf};
use mcp_proto::model::{ElicitAction, ElicitationSchema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Meta, lenient};

/// The parameters of `elicitation/create`. Its member `mode` says which arm it is; missing is a
/// form (`EL-04`).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "mode")]
pub enum ElicitParams {
    /// A form to fill in. Never for secrets (`EL-05`).
    #[serde(rename = "form")]
    Form(ElicitFormParams),
    /// A page to visit; since 2025-11-25.
    #[serde(rename = "url")]
    Url(ElicitUrlParams),
    /// A mode that no revision defines, as it came.
    #[serde(untagged)]
    Other(RawBuf),
}

impl ElicitParams {
    /// A form to fill in, by its schema, an object whose properties are the fields.
    pub fn form(message: impl Into<String>, requested_schema: RawBuf) -> Self {
        Self::Form(ElicitFormParams {
            message: message.into(),
            requested_schema,
            meta: Meta::default(),
        })
    }

    /// A page to visit.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::Url(ElicitUrlParams {
            message: message.into(),
            url: url.into(),
            ..ElicitUrlParams::default()
        })
    }

    /// What to tell the person; `None` in an unknown mode.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Form(form) => Some(&form.message),
            Self::Url(page) => Some(&page.message),
            Self::Other(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for ElicitParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let mode = raw.object().and_then(|object| object.get("mode"));
        let params = match mode.filter(|mode| !mode.is_null()).map(Raw::string) {
            None => raw.decode(&mut []).map(Self::Form),
            Some(Some(mode)) if mode == "form" => raw.decode(&mut []).map(Self::Form),
            Some(Some(mode)) if mode == "url" => raw.decode(&mut []).map(Self::Url),
            Some(_) => Ok(Self::Other(raw.into())),
        };
        params.map_err(D::Error::custom)
    }
}

/// A form to fill in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:ElicitFormParams", rename_all = "camelCase")]
pub struct ElicitFormParams {
    /// What to tell the person.
    pub message: String,
    /// The form: a flat object of primitive fields (`EL-16`). It is written in the way of the
    /// revision, as [`ElicitationSchema`] is.
    #[serde(deserialize_with = "lenient::object", serialize_with = "form")]
    pub requested_schema: RawBuf,
    /// Progress token and anything else; until 2025-11-25.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

/// A page to visit; since 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:ElicitUrlParams", rename_all = "camelCase")]
pub struct ElicitUrlParams {
    /// What to tell the person.
    pub message: String,
    /// The page. It is shown in full, and opened only with consent (`EL-06`, `EL-07`).
    pub url: String,
    /// The id that reports its completion; required in 2025-11-25, and only there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<String>,
    /// Progress token and anything else; until 2025-11-25.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

/// The result of `elicitation/create`. `Debug` tells nothing of what a person wrote.
///
/// ```
/// use mcp_async::model::{ElicitAction, ElicitResult};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Trip { city: String }
///
/// let result = ElicitResult::accept(&Trip { city: "Kyoto".into() })?;
/// assert_eq!(result.action, ElicitAction::Accept);
/// assert_eq!(result.content::<Trip>()?.city, "Kyoto");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:ElicitResult", rename_all = "camelCase")]
pub struct ElicitResult {
    /// What the person did.
    pub action: ElicitAction,
    /// The form, filled in: only if it was accepted (`EL-08`).
    #[serde(
        default,
        deserialize_with = "lenient::optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub content: Option<RawBuf>,
    /// Anything else; until 2025-11-25.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

impl ElicitResult {
    /// The person filled in the form.
    ///
    /// # Errors
    ///
    /// [`EncodeError`], if the form does not serialize to JSON.
    pub fn accept<T: Serialize + ?Sized>(form: &T) -> Result<Self, EncodeError> {
        Ok(Self {
            content: Some(RawBuf::encode(form)?),
            ..Self::of(ElicitAction::Accept)
        })
    }

    /// The person agreed to visit the page.
    pub const fn agree() -> Self {
        Self::of(ElicitAction::Accept)
    }

    /// The person said no.
    pub const fn decline() -> Self {
        Self::of(ElicitAction::Decline)
    }

    /// The person said nothing.
    pub const fn cancel() -> Self {
        Self::of(ElicitAction::Cancel)
    }

    /// What was filled in; without a form, `null`.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] tells what does not fit and where.
    pub fn content<'b, T: Deserialize<'b>>(&'b self) -> Result<T, DecodeError> {
        let content = self.content.as_ref();
        content.map_or(Raw::NULL, RawBuf::as_raw).decode(&mut [])
    }

    const fn of(action: ElicitAction) -> Self {
        Self {
            action,
            content: None,
            meta: Meta::new(),
        }
    }
}

impl fmt::Debug for ElicitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElicitResult")
            .field("action", &self.action)
            .finish_non_exhaustive()
    }
}

/// A schema as the revision defines it; other values are passed on.
fn form<S: Serializer>(schema: &RawBuf, serializer: S) -> Result<S::Ok, S::Error> {
    match schema.decode::<ElicitationSchema<'_>>() {
        Ok(schema) => schema.serialize(serializer),
        Err(_) => schema.serialize(serializer),
    }
}
