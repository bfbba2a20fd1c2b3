//! Questions inside a result, and their answers; since 2026-07-28.

use core::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::open::closed_enum;
use super::{CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, EmptyParams};
use super::{ListRootsResult, Meta};
use crate::json::{Exact, Map, Raw, Str};

/// Questions by the keys that their answers come back under (MR-04).
pub type InputRequests<'b> = Map<'b, InputRequest<'b>>;

/// Answers by the keys of their questions (MR-09).
pub type InputResponses<'b> = Map<'b, InputResponse<'b>>;

/// The result `input_required`: the request is to be made again with the answers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "mcp:InputRequiredResult", rename_all = "camelCase")]
pub struct InputRequiredResult<'b> {
    /// Says that it is one.
    pub result_type: InputRequiredTag,
    /// What the server wants to know.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<InputRequests<'b>>,
    /// What it wants to have back. One of the two is there (MR-03).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<RequestState<'b>>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

closed_enum! {
    /// The `resultType` of an [`InputRequiredResult`].
    #[derive(Default)]
    pub enum InputRequiredTag {
        /// There is no other.
        #[default]
        InputRequired = "input_required",
    }
}

/// What a server wants to have back as it is (MR-11). `Debug` does not show it.
#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct RequestState<'b>(#[serde(borrow)] pub Str<'b>);

impl Serialize for RequestState<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Exact(self.0).serialize(serializer)
    }
}

impl fmt::Debug for RequestState<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestState")
    }
}

/// A question: a method and its parameters, without an id.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "method", content = "params")]
pub enum InputRequest<'b> {
    /// `elicitation/create`.
    #[serde(rename = "elicitation/create")]
    Elicit(ElicitParams<'b>),
    /// `sampling/createMessage`.
    #[serde(rename = "sampling/createMessage")]
    CreateMessage(CreateMessageParams<'b>),
    /// `roots/list`.
    #[serde(rename = "roots/list")]
    ListRoots(EmptyParams<'b>),
    /// A method that cannot be asked here (MR-17).
    #[serde(untagged)]
    Other(Raw<'b>),
}

impl<'de: 'b, 'b> Deserialize<'de> for InputRequest<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let question = raw
            .object()
            .and_then(|object| object.find(["method", "params"]).ok());
        let Some([Some(method), params]) = question else {
            return Err(D::Error::missing_field("method"));
        };
        // Only the roots can be asked for without parameters.
        let params = params
            .filter(|params| !params.is_null())
            .unwrap_or(Raw::EMPTY_OBJECT);
        let request = match method.string() {
            Some(name) if name == "elicitation/create" => params.decode(&mut []).map(Self::Elicit),
            Some(name) if name == "sampling/createMessage" => {
                params.decode(&mut []).map(Self::CreateMessage)
            }
            Some(name) if name == "roots/list" => params.decode(&mut []).map(Self::ListRoots),
            _ => Ok(Self::Other(raw)),
        };
        request.map_err(D::Error::custom)
    }
}

/// An answer: the bare result, which tells by its members what it answers.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum InputResponse<'b> {
    /// To `elicitation/create`: it has an `action`.
    Elicit(ElicitResult<'b>),
    /// To `sampling/createMessage`: it has a `model`.
    CreateMessage(CreateMessageResult<'b>),
    /// To `roots/list`: it has `roots`.
    ListRoots(ListRootsResult<'b>),
    /// To nothing that is known.
    Other(Raw<'b>),
}

impl<'de: 'b, 'b> Deserialize<'de> for InputResponse<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let has = |member| {
            raw.object()
                .is_some_and(|object| object.get(member).is_some())
        };
        let response = if has("action") {
            raw.decode(&mut []).map(Self::Elicit)
        } else if has("model") {
            raw.decode(&mut []).map(Self::CreateMessage)
        } else if has("roots") {
            raw.decode(&mut []).map(Self::ListRoots)
        } else {
            Ok(Self::Other(raw))
        };
        response.map_err(D::Error::custom)
    }
}
