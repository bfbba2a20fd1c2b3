//! The kinds of questions: forms and pages, the model of the client, its roots.

use mcp_proto::json::{DecodeError, Raw, RawBuf};
use mcp_proto::model::{ClientFeatures, ElicitAction};
use mcp_proto::revision::Elicitation;
use mcp_proto::rpc::Method;
use mcp_proto::{Payload, SendError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::question::QuestionFuture;
use super::roots::Roots;
use crate::model::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, ElicitUrlParams,
    ListRootsResult, check_conversation,
};
use crate::payload::encode;
use crate::random;
use crate::schema;
use crate::server::call::context::CallContext;
use crate::server::caller::ask::{AskError, not_in_revision};

/// The response of a user to a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elicited<T> {
    /// The user filled in the form.
    Accepted(T),
    /// The user declined.
    Declined,
    /// The user dismissed the form without an answer.
    Cancelled,
}

impl<T> Elicited<T> {
    /// The form, if it was filled in.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(value) => Some(value),
            Self::Declined | Self::Cancelled => None,
        }
    }
}

impl CallContext {
    /// Asks a person to fill in a form with the fields of `T`; see
    /// [`schema::form`](crate::schema::form) for what these can be. Never ask for secrets in a
    /// form, and be ready for a no.
    ///
    /// ```
    /// use mcp_async::server::{AskError, CallContext, Elicited};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Trip {
    ///     /// Where to?
    ///     city: String,
    ///     nights: Option<u8>,
    /// }
    ///
    /// async fn book(cx: CallContext) -> Result<String, AskError> {
    ///     Ok(match cx.elicit::<Trip>("trip", "Where shall it be?").await? {
    ///         Elicited::Accepted(trip) => format!("off to {}", trip.city),
    ///         Elicited::Declined | Elicited::Cancelled => "staying here".into(),
    ///     })
    /// }
    /// # let _ = book;
    /// ```
    pub fn elicit<'a, T>(&'a self, key: &'a str, message: &str) -> QuestionFuture<'a, Elicited<T>>
    where
        T: DeserializeOwned + JsonSchema,
    {
        let params = schema::form::<T>().map_err(AskError::Form);
        let params = params.map(|form| ElicitParams::form(message, form));
        self.question(key, Method::ElicitationCreate, params, |raw| {
            let result: ElicitResult = raw.decode(&mut [])?;
            Ok(match result.action {
                ElicitAction::Accept => {
                    let content = result.content.as_ref();
                    let content = content.map_or(Raw::EMPTY_OBJECT, RawBuf::as_raw);
                    Elicited::Accepted(content.decode(&mut [])?)
                }
                ElicitAction::Decline => Elicited::Declined,
                ElicitAction::Cancel => Elicited::Cancelled,
            })
        })
    }

    /// Asks a person to fill in a form with this schema: a flat object of primitive fields, of
    /// which each revision is sent what it knows. The answer is checked against the schema; fields that the form does not have are left as they are. A form with a keyword that
    /// no answer is checked against, such as a `pattern`, is not asked: [`AskError::Form`].
    ///
    /// ```
    /// use mcp_async::model::ElicitResult;
    /// use mcp_async::server::{AskError, CallContext};
    ///
    /// async fn ask(cx: CallContext) -> Result<ElicitResult, Box<dyn std::error::Error>> {
    ///     let form = r#"{"type":"object","properties":{"city":{"type":"string"}}}"#;
    ///     Ok(cx.elicit_form("city", "Where to?", form.parse()?).await?)
    /// }
    /// # let _ = ask;
    /// ```
    pub fn elicit_form<'a>(
        &'a self,
        key: &'a str,
        message: &str,
        form: RawBuf,
    ) -> QuestionFuture<'a, ElicitResult> {
        let params = schema::check_form(form.as_raw()).map_err(AskError::Form);
        let params = params.map(|()| ElicitParams::form(message, form));
        self.question(key, Method::ElicitationCreate, params, decode)
    }

    /// Asks a person to visit a page, since 2025-11-25: for what must not pass through the
    /// client, such as secrets. [`ElicitAction::Accept`] means that they agreed, not
    /// that they are done; who opens the page has to be who was asked.
    ///
    /// ```
    /// use mcp_async::server::{AskError, CallContext};
    /// use mcp_proto::model::ElicitAction;
    ///
    /// async fn sign_in(cx: CallContext) -> Result<bool, AskError> {
    ///     let page = "https://example.com/authorize?flow=7f3a";
    ///     let action = cx.elicit_url("sign-in", "Please sign in.", page).await?;
    ///     Ok(action == ElicitAction::Accept)
    /// }
    /// # let _ = sign_in;
    /// ```
    pub fn elicit_url<'a>(
        &'a self,
        key: &'a str,
        message: &str,
        url: &str,
    ) -> QuestionFuture<'a, ElicitAction> {
        self.elicit_page(
            key,
            ElicitUrlParams {
                message: message.to_owned(),
                url: url.to_owned(),
                ..ElicitUrlParams::default()
            },
        )
    }

    /// Asks a person to visit a page, as [`elicit_url`](Self::elicit_url) does, with a given `elicitation_id`, by which
    /// 2025-11-25 reports the end of the elicitation:
    /// [`Peer::elicitation_complete`](crate::server::Peer::elicitation_complete) sends it to this client. Without one a random
    /// one is made; 2026-07-28 has none.
    ///
    /// ```
    /// use mcp_async::model::ElicitUrlParams;
    /// use mcp_async::server::{AskError, CallContext};
    ///
    /// async fn pay(cx: CallContext, order: &str) -> Result<(), AskError> {
    ///     let page = ElicitUrlParams {
    ///         message: "Please pay.".into(),
    ///         url: format!("https://example.com/pay/{order}"),
    ///         elicitation_id: Some(order.to_owned()),
    ///         ..ElicitUrlParams::default()
    ///     };
    ///     cx.elicit_page("pay", page).await?;
    ///     Ok(())
    /// }
    /// # let _ = pay;
    /// ```
    pub fn elicit_page<'a>(
        &'a self,
        key: &'a str,
        mut page: ElicitUrlParams,
    ) -> QuestionFuture<'a, ElicitAction> {
        let id = page.elicitation_id.take();
        let tracked = matches!(
            self.revision().elicitation(),
            Elicitation::FormAndTrackedUrl
        );
        // The question is the same whatever the id, so only what is sent holds it.
        let nested = tracked.then(|| ElicitUrlParams {
            elicitation_id: id.or_else(|| random::id().ok()),
            ..page.clone()
        });
        let nested = nested.and_then(|page| encode(&ElicitParams::Url(page), self.revision()).ok());
        let params = if is_page(&page.url) {
            Ok(ElicitParams::Url(page))
        } else {
            Err(AskError::Invalid(
                "a page has an address of http or https (EL-06)",
            ))
        };
        let decode: fn(Raw<'_>) -> _ = |raw| decode(raw).map(|result: ElicitResult| result.action);
        let question = self.question(key, Method::ElicitationCreate, params, decode);
        question.with_nested(nested)
    }

    /// Asks the client's model. Tools and foreign context need capabilities of their own,
    /// `sampling.tools` and `sampling.context`, and are refused by that name. A
    /// conversation in which uses of tools and results do not match is not asked either: [`AskError::Invalid`].
    ///
    /// ```
    /// use mcp_async::model::{CreateMessageParams, SamplingMessage};
    /// use mcp_async::server::{AskError, CallContext};
    ///
    /// async fn summarise(cx: CallContext, text: String) -> Result<String, AskError> {
    ///     let asked = SamplingMessage::user(format!("In one sentence: {text}"));
    ///     let answer = cx.sample("summary", CreateMessageParams::new(vec![asked], 100)).await?;
    ///     Ok(answer.content.text())
    /// }
    /// # let _ = summarise;
    /// ```
    pub fn sample<'a>(
        &'a self,
        key: &'a str,
        params: CreateMessageParams,
    ) -> QuestionFuture<'a, CreateMessageResult> {
        let wants_tools = !params.tools.is_empty() || params.tool_choice.is_some();
        // A revision without them would be sent a question without them, another question.
        let params = if wants_tools && !self.client().contains(ClientFeatures::SAMPLING_TOOLS) {
            Err(match self.revision().has_sampling_tools() {
                true => AskError::Refused(SendError::MissingCapability("sampling.tools")),
                false => not_in_revision(Method::SamplingCreateMessage, self.revision()),
            })
        } else {
            check_conversation(&params.messages)
                .map(|()| params)
                .map_err(AskError::Invalid)
        };
        self.question(key, Method::SamplingCreateMessage, params, decode)
    }

    /// Asks for the client's roots, under the key `roots`.
    pub fn roots(&self) -> QuestionFuture<'_, Roots> {
        self.roots_as("roots")
    }

    /// Asks for the client's roots under a given key, for example a second time in one call.
    pub fn roots_as<'a>(&'a self, key: &'a str) -> QuestionFuture<'a, Roots> {
        let params = Ok(Raw::EMPTY_OBJECT);
        self.question(key, Method::RootsList, params, |raw| {
            decode(raw).map(|result: ListRootsResult| Roots::new(result.roots))
        })
    }

    /// Asks a question of another server under a given key: `elicitation/create`, `sampling/createMessage` or `roots/list`. The
    /// parameters are the other server's, and the answer is the client's as it came.
    ///
    /// ```
    /// use mcp_async::Method;
    /// use mcp_async::json::RawBuf;
    /// use mcp_async::server::{AskError, CallContext};
    ///
    /// async fn forward(cx: &CallContext, question: RawBuf) -> Result<RawBuf, AskError> {
    ///     cx.forward_question("upstream", Method::ElicitationCreate, question).await
    /// }
    /// # let _ = forward;
    /// ```
    pub fn forward_question<'a>(
        &'a self,
        key: &'a str,
        method: Method<'static>,
        params: impl Payload,
    ) -> QuestionFuture<'a, RawBuf> {
        self.question(key, method, Ok(params), |raw| Ok(RawBuf::from(raw)))
    }

    fn question<'a, P: Payload, T>(
        &'a self,
        key: &'a str,
        method: Method<'static>,
        params: Result<P, AskError>,
        decode: fn(Raw<'_>) -> Result<T, DecodeError>,
    ) -> QuestionFuture<'a, T> {
        let params = params.and_then(|params| {
            encode(&params, self.revision()).map_err(|error| AskError::Refused(error.into()))
        });
        QuestionFuture::new(self, key, method, params, decode)
    }
}

fn decode<T: DeserializeOwned>(raw: Raw<'_>) -> Result<T, DecodeError> {
    raw.decode(&mut [])
}

/// An address that a browser opens, and a person can read (EL-06).
fn is_page(url: &str) -> bool {
    let known = ["https://", "http://"];
    known.iter().any(|scheme| url.starts_with(scheme)) && url.bytes().all(|b| b.is_ascii_graphic())
}
