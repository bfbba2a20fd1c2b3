//! Questions inside a result, and their answers; since 2026-07-28.

use core::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::open::closed_enum;
use super::{CreateMessageParams, ElicitParams, EmptyParams};
use crate::json::{Exact, Raw, Str};

#[doc(hidden)]
#[macro_export]
macro_rules! declare_input {
    ($form:ident) => {
        $form! {
            /// The result `input_required`: the request is to be made again with the answers. It
            /// has questions, a state, or both.
            #[derive(Debug)]
            struct InputRequiredResult<'b> {
                /// The type of the result.
                result_type "resultType": InputRequiredTag,
                /// The questions of the server.
                input_requests "inputRequests": Questions,
                /// The state that the server wants to have back.
                request_state "requestState": Option<RequestState>,
                /// Further members.
                meta "_meta": Meta,
            }
            ;
            /// The answer to a question: the bare result, whose members tell which question it
            /// answers.
            enum InputResponse by member {
                /// The answer to `elicitation/create`, with an `action`.
                Elicit(ElicitResult) = "action",
                /// The answer to `sampling/createMessage`, with a `model`.
                CreateMessage(CreateMessageResult) = "model",
                /// The answer to `roots/list`, with `roots`.
                ListRoots(ListRootsResult) = "roots",
            }
            ;
        }
    };
}

closed_enum! {
    /// The `resultType` of an `InputRequiredResult`.
    #[derive(Default)]
    pub enum InputRequiredTag {
        /// There is no other.
        #[default]
        InputRequired = "input_required",
    }
}

/// The request state: a text that the client returns to the server as it is (MR-11). `Debug` does
/// not show it.
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
