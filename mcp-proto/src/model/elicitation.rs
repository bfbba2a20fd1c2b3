//! Elicitation: questions to the user.

use core::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::open::closed_enum;
use super::{ElicitationSchema, Meta, TaskMetadata};
use crate::json::{Kind, List, Map, Raw, Str};

/// The parameters of `elicitation/create`: a request of its own until 2025-11-25, a question of
/// an `input_required` since. Its member `mode` says which arm it is; missing is a form (EL-04).
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "mode")]
pub enum ElicitParams<'b> {
    /// A form to fill in. Never for secrets (EL-05).
    #[serde(rename = "form")]
    Form(ElicitFormParams<'b>),
    /// A page to visit; since 2025-11-25.
    #[serde(rename = "url")]
    Url(ElicitUrlParams<'b>),
    /// A mode that no revision defines.
    #[serde(untagged)]
    Other(Raw<'b>),
}

impl<'de: 'b, 'b> Deserialize<'de> for ElicitParams<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let mode = raw.object().and_then(|object| object.get("mode"));
        let params = match mode.filter(|mode| !mode.is_null()).map(Raw::string) {
            None => raw.decode(&mut []).map(Self::Form),
            Some(Some(mode)) if mode == "form" => raw.decode(&mut []).map(Self::Form),
            Some(Some(mode)) if mode == "url" => raw.decode(&mut []).map(Self::Url),
            Some(_) => Ok(Self::Other(raw)),
        };
        params.map_err(D::Error::custom)
    }
}

/// A form to fill in.
///
/// ```
/// use mcp_proto::json::{List, Map};
/// use mcp_proto::model::*;
///
/// let fields = [
///     ("city", PrimitiveSchema::String(StringSchema::default())),
///     ("now", PrimitiveSchema::Boolean(BooleanSchema::default())),
/// ];
/// let required = ["city".into()];
/// let form = ElicitFormParams {
///     message: "Where to?".into(),
///     requested_schema: ElicitationSchema {
///         properties: Map::from(&fields),
///         required: Some(List::from(&required)),
///         ..ElicitationSchema::default()
///     },
///     ..ElicitFormParams::default()
/// };
/// assert_eq!(form.requested_schema.properties.len(), 2);
/// ```
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ElicitFormParams", rename_all = "camelCase")]
pub struct ElicitFormParams<'b> {
    /// What to tell the person.
    #[serde(borrow)]
    pub message: Str<'b>,
    /// The form.
    pub requested_schema: ElicitationSchema<'b>,
    /// Asks for a task; 2025-11-25 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
    /// Progress token and anything else; until 2025-11-25.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// A page to visit; since 2025-11-25.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ElicitUrlParams", rename_all = "camelCase")]
pub struct ElicitUrlParams<'b> {
    /// What to tell the person.
    #[serde(borrow)]
    pub message: Str<'b>,
    /// The page. It is shown in full, and opened only with consent (EL-06, EL-07).
    pub url: Str<'b>,
    /// The id that reports its completion; required in 2025-11-25, and only there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<Str<'b>>,
    /// Asks for a task; 2025-11-25 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
    /// Progress token and anything else; until 2025-11-25.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// The result of `elicitation/create`.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename = "mcp:ElicitResult", rename_all = "camelCase")]
pub struct ElicitResult<'b> {
    /// What the person did.
    pub action: ElicitAction,
    /// The form, filled in: only if it was accepted (EL-08).
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub content: Option<Map<'b, FormValue<'b>>>,
    /// Anything else; until 2025-11-25.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// Without the form, which is not for logs.
impl fmt::Debug for ElicitResult<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElicitResult")
            .field("action", &self.action)
            .finish_non_exhaustive()
    }
}

impl<'b> ElicitResult<'b> {
    /// The person filled in the form.
    pub fn accept(content: Map<'b, FormValue<'b>>) -> Self {
        Self {
            action: ElicitAction::Accept,
            content: Some(content),
            meta: None,
        }
    }

    /// The person said no.
    pub const fn decline() -> Self {
        Self {
            action: ElicitAction::Decline,
            content: None,
            meta: None,
        }
    }

    /// The person said nothing.
    pub const fn cancel() -> Self {
        Self {
            action: ElicitAction::Cancel,
            content: None,
            meta: None,
        }
    }
}

closed_enum! {
    /// What a person did with a question.
    pub enum ElicitAction {
        /// Yes: the form is filled in, or the page may be opened (EL-10).
        Accept = "accept",
        /// No.
        Decline = "decline",
        /// Neither: it was put away.
        Cancel = "cancel",
    }
}

/// What a person put into a field of a form. `Debug` tells its kind only.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub enum FormValue<'b> {
    /// Text, or one choice.
    Text(Str<'b>),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// Yes or no.
    Boolean(bool),
    /// Several choices; since 2025-11-25.
    Choices(List<'b, Str<'b>>),
    /// What no form asks for.
    Other(Raw<'b>),
}

impl<'de: 'b, 'b> Deserialize<'de> for FormValue<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let value = match raw.kind() {
            Kind::String => raw.string().map(Self::Text),
            Kind::Number => raw.number().map(|number| {
                number
                    .to_i64()
                    .map_or_else(|| Self::Number(number.to_f64()), Self::Integer)
            }),
            Kind::Bool => raw.boolean().map(Self::Boolean),
            Kind::Array => raw.decode(&mut []).ok().map(Self::Choices),
            _ => None,
        };
        Ok(value.unwrap_or(Self::Other(raw)))
    }
}

impl fmt::Debug for FormValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text",
            Self::Integer(_) => "Integer",
            Self::Number(_) => "Number",
            Self::Boolean(_) => "Boolean",
            Self::Choices(_) => "Choices",
            Self::Other(_) => "Other",
        })
    }
}

/// The parameters of `notifications/elicitation/complete`; 2025-11-25 only.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ElicitationCompleteParams", rename_all = "camelCase")]
pub struct ElicitationCompleteParams<'b> {
    /// The elicitation. One that is unknown or finished is ignored (EL-12).
    #[serde(borrow)]
    pub elicitation_id: Str<'b>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}
