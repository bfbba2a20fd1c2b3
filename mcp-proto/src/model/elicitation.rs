//! Elicitation: questions to the user.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::ElicitResult;
use super::open::closed_enum;
use crate::json::{Kind, List, Map, Raw, Str};

#[doc(hidden)]
#[macro_export]
macro_rules! declare_elicitation {
    ($form:ident) => {
        $form! {
            /// A form to fill in.
            #[derive(Debug, Default)]
            struct ElicitFormParams ["mode" SINCE_2025_11] {
                /// The message to the person.
                message: Text,
                /// The form: a flat object of primitive fields. It is written as the revision has
                /// it.
                requested_schema "requestedSchema": Form,
                /// The progress token and further members; until 2025-11-25.
                meta "_meta": Meta [LEGACY],
            } core {
                /// The request for a task; 2025-11-25 only.
                task: Option<TaskMetadata> [ONLY_2025_11],
            }

            /// A page to visit; since 2025-11-25.
            #[derive(Debug, Default)]
            struct ElicitUrlParams {
                /// The message to the person.
                message: Text,
                /// The page. A client shows it in full and opens it only with consent.
                url: Text,
                /// The id that reports the completion; required in 2025-11-25, and only there.
                elicitation_id "elicitationId": Option<Text> [ONLY_2025_11],
                /// The progress token and further members; until 2025-11-25.
                meta "_meta": Meta [LEGACY],
            } core {
                /// The request for a task; 2025-11-25 only.
                task: Option<TaskMetadata> [ONLY_2025_11],
            }

            /// The result of `elicitation/create`. `Debug` does not show the answers.
            struct ElicitResult {
                /// The action of the person.
                action: ElicitAction,
                /// The form, filled in: only if it was accepted.
                content: Answers,
                /// Further members; until 2025-11-25.
                meta "_meta": Meta [LEGACY],
            }

            /// The parameters of `notifications/elicitation/complete`; 2025-11-25 only.
            #[derive(Debug, Default)]
            struct ElicitationCompleteParams<'b> {
                /// The id of the elicitation. One that is unknown or finished is ignored.
                elicitation_id "elicitationId": Text,
                /// Further members.
                meta "_meta": Meta,
            }
            ;
            /// The parameters of `elicitation/create`: a request of its own until 2025-11-25, since
            /// then a question of an `input_required`. The member `mode` names the arm; absent
            /// means a form.
            enum ElicitParams by "mode" else Form {
                /// A form to fill in. It must not ask for secrets.
                Form(ElicitFormParams) = "form",
                /// A page to visit; since 2025-11-25.
                Url(ElicitUrlParams) = "url",
            }
            ;
        }
    };
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
    /// The action of a person in response to an elicitation.
    pub enum ElicitAction {
        /// Yes: the form is filled in, or the page may be opened (EL-10).
        Accept = "accept",
        /// No.
        Decline = "decline",
        /// Neither: it was put away.
        Cancel = "cancel",
    }
}

/// The value that a person entered into a field of a form. `Debug` shows its kind only.
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
    /// A value of a kind that no form asks for.
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
