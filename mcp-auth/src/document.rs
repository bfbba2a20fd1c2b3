//! Reads JSON documents of other parties, which may be hostile.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use mcp_proto::json::{Object, Raw};

use super::Secret;
use super::error::{AuthError, Document, Problem};
use super::message::HttpRequest;

/// The depth to which a document may nest.
const DEPTH: u8 = 16;

/// The most elements of a list.
const MOST_ELEMENTS: usize = 1000;

/// A JSON object whose members are read with their types.
#[derive(Clone, Copy)]
pub(crate) struct DocumentReader<'d> {
    document: Document,
    url: &'d str,
    object: Object<'d>,
}

impl<'d> DocumentReader<'d> {
    /// Checks size, grammar and depth.
    pub(crate) fn new(document: Document, url: &'d str, body: &'d [u8]) -> Result<Self, AuthError> {
        let fail = |problem| AuthError::new(document, url, problem);
        if body.len() > HttpRequest::MAX_BODY {
            return Err(fail(Problem::TooLarge));
        }
        let raw = Raw::parse(body, DEPTH).map_err(|fault| fail(Problem::NotJson(fault)))?;
        let object = raw.object();
        let object = object.ok_or_else(|| fail(Problem::NotObject(raw.kind())))?;
        Ok(Self {
            document,
            url,
            object,
        })
    }

    pub(crate) fn fail(&self, problem: Problem) -> AuthError {
        AuthError::new(self.document, self.url, problem)
    }

    /// Returns true if the object has one of these members: then it is meant to be this document.
    pub(crate) fn has_any(&self, members: &[&str]) -> bool {
        members.iter().any(|name| self.object.get(name).is_some())
    }

    /// A member; `null` counts as absent.
    fn member(&self, name: &'static str) -> Result<Option<Raw<'d>>, AuthError> {
        let [value] = self
            .object
            .find([name])
            .map_err(|_| self.fail(Problem::Duplicate(name)))?;
        Ok(value.filter(|value| !value.is_null()))
    }

    fn wrong_type(
        &self,
        member: &'static str,
        expected: &'static str,
        found: Raw<'_>,
    ) -> AuthError {
        self.fail(Problem::WrongType {
            member,
            expected,
            found: found.kind(),
        })
    }

    pub(crate) fn text(&self, name: &'static str) -> Result<Option<String>, AuthError> {
        let Some(value) = self.member(name)? else {
            return Ok(None);
        };
        let text = value.string();
        let text = text.ok_or_else(|| self.wrong_type(name, "a string", value))?;
        Ok(Some(text.to_string()))
    }

    /// An identifier, which some servers write as a number.
    pub(crate) fn text_or_number(&self, name: &'static str) -> Result<Option<String>, AuthError> {
        match self.member(name)? {
            Some(value) if value.number().is_some() => Ok(Some(value.as_str().to_string())),
            _ => Ok(self.text(name)?.filter(|text| !text.is_empty())),
        }
    }

    pub(crate) fn required_text(&self, name: &'static str) -> Result<String, AuthError> {
        let text = self.text(name)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| self.fail(Problem::Missing(name)))
    }

    /// A text that is stored; an empty one counts as absent.
    pub(crate) fn stored_text(&self, name: &'static str) -> Result<Option<String>, AuthError> {
        let text = self.text(name)?.filter(|text| !text.is_empty());
        match &text {
            Some(long) if long.len() > Secret::MAX_BYTES => Err(self.fail(Problem::TooLong(name))),
            _ => Ok(text),
        }
    }

    pub(crate) fn texts(&self, name: &'static str) -> Result<Option<Vec<String>>, AuthError> {
        let Some(value) = self.member(name)? else {
            return Ok(None);
        };
        let expected = "an array of strings";
        let array = value.array();
        let array = array.ok_or_else(|| self.wrong_type(name, expected, value))?;
        let mut texts = Vec::new();
        for element in array.elements() {
            if texts.len() >= MOST_ELEMENTS {
                return Err(self.fail(Problem::TooMany(name)));
            }
            let text = element.string();
            let text = text.ok_or_else(|| self.wrong_type(name, expected, element))?;
            texts.push(text.to_string());
        }
        Ok(Some(texts))
    }

    pub(crate) fn flag(&self, name: &'static str) -> Result<bool, AuthError> {
        match self.member(name)? {
            None => Ok(false),
            Some(value) => value
                .boolean()
                .ok_or_else(|| self.wrong_type(name, "true or false", value)),
        }
    }

    /// A number of seconds. Some servers write it as a string, some with a fraction.
    pub(crate) fn seconds(&self, name: &'static str) -> Result<Option<u64>, AuthError> {
        let Some(value) = self.member(name)? else {
            return Ok(None);
        };
        let fail = || self.wrong_type(name, "a number of seconds", value);
        if let Some(number) = value.number() {
            let seconds = number.to_u64().or_else(|| {
                let seconds = number.to_f64();
                // The conversion saturates.
                (seconds >= 0.0).then_some(seconds as u64)
            });
            return seconds.map(Some).ok_or_else(fail);
        }
        let text = value.string().ok_or_else(fail)?.to_string();
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let seconds = is_number.then(|| text.parse().unwrap_or(u64::MAX));
        seconds.map(Some).ok_or_else(fail)
    }
}
