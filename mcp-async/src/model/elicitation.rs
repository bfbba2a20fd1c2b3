//! Elicitation: questions to the user.

use core::fmt;

use mcp_proto::json::{DecodeError, EncodeError, Raw, RawBuf};
use serde::{Deserialize, Serialize};

use super::{ElicitAction, ElicitFormParams, ElicitParams, ElicitResult, ElicitUrlParams, Meta};

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

    /// The message for the user; `None` in an unknown mode.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Form(form) => Some(&form.message),
            Self::Url(page) => Some(&page.message),
            Self::Other(_) => None,
        }
    }
}

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

    /// Decodes the content of the form; without a form, `null`.
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
