//! Completes the answer of a user.

use std::collections::HashSet;

use mcp_proto::json::{Object, Raw, RawBuf, Str};
use mcp_proto::model::{ElicitAction, ElicitationSchema, FieldFault, FieldMismatch};
use mcp_proto::rpc::code;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::error::ErrorReply;
use crate::model::ElicitResult;

/// EL-08, EL-09, EL-18: the content goes with a form that was accepted only, the fields that the
/// person left alone have the values that the form was shown with, and what does not fit the form
/// is not sent. A field that is `null` counts as left alone.
pub(in crate::client) fn complete(
    mut result: ElicitResult,
    schema: Option<&RawBuf>,
) -> Result<ElicitResult, ErrorReply> {
    let Some(schema) = schema.filter(|_| result.action == ElicitAction::Accept) else {
        result.content = None;
        return Ok(result);
    };
    let content = result
        .content
        .as_ref()
        .map_or(Some(Object::EMPTY), |content| content.as_raw().object());
    // A form's content is an object; that it is none is the callback's mistake.
    let content = content.ok_or_else(ErrorReply::internal)?;
    let filled = Filled {
        content,
        defaults: defaults(schema.as_raw()),
    };
    if let Ok(form) = schema.as_raw().decode(&mut []) {
        filled.check(&form).map_err(|mismatch| {
            let text = format!("The answer does not fit the form: {mismatch}");
            ErrorReply::new(code::INTERNAL_ERROR, text)
        })?;
    }
    let filled = RawBuf::encode(&filled).map_err(|_| ErrorReply::internal())?;
    result.content = Some(filled);
    Ok(result)
}

/// A form's content, with the defaults of what is missing.
struct Filled<'c> {
    content: Object<'c>,
    defaults: Vec<(Str<'c>, Raw<'c>)>,
}

impl<'c> Filled<'c> {
    /// Returns the members that the person filled in.
    fn given(&self) -> impl Iterator<Item = (Str<'c>, Raw<'c>)> + use<'c> {
        let members = self.content.members();
        members.filter(|(_, value)| !value.is_null())
    }

    /// Checks what the person filled in, and that nothing is missing. A form may be large, and
    /// its author is not trusted: the time is proportional to it.
    fn check<'f>(&self, form: &ElicitationSchema<'f>) -> Result<(), FieldMismatch<'f>> {
        form.check_given(self.content)?;
        let Some(required) = form.required else {
            return Ok(());
        };
        let given = self.given().map(|(name, _)| name);
        let defaults = self.defaults.iter().map(|(name, _)| *name);
        let present: HashSet<_> = given.chain(defaults).map(Str::to_cow).collect();
        let missing = required
            .iter()
            .filter_map(Result::ok)
            .find(|name| !present.contains(&name.to_cow()));
        missing.map_or(Ok(()), |field| {
            let fault = FieldFault::Missing;
            Err(FieldMismatch { field, fault })
        })
    }
}

impl Serialize for Filled<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.given() {
            map.serialize_entry(&name, &value)?;
        }
        for (name, value) in &self.defaults {
            if !self.given().any(|(given, _)| given == *name) {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

fn defaults(schema: Raw<'_>) -> Vec<(Str<'_>, Raw<'_>)> {
    let properties = schema
        .object()
        .and_then(|schema| schema.get("properties")?.object())
        .unwrap_or_default();
    let defaults = properties
        .members()
        .filter_map(|(name, property)| Some((name, property.object()?.get("default")?)));
    defaults.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: ElicitResult, schema: Option<&str>, expected: Option<&str>) {
        let schema = schema.map(|schema| schema.parse::<RawBuf>().unwrap());
        let completed = complete(result, schema.as_ref()).unwrap();
        let content = completed.content.as_ref();
        assert_eq!(content.map(|content| content.as_raw().as_str()), expected);
    }

    fn accept(json: &str) -> ElicitResult {
        ElicitResult::accept(&json.parse::<RawBuf>().unwrap()).unwrap()
    }

    #[test]
    fn what_was_left_alone_has_its_default() {
        let schema = Some(
            r#"{"type":"object","properties":{"name":{"type":"string"},"\u0061ge":{"default":7},
               "newsletter":{"type":"boolean","default":true}}}"#,
        );
        check(
            accept(r#"{"name":"Ada","age":36}"#),
            schema,
            Some(r#"{"name":"Ada","age":36,"newsletter":true}"#),
        );
        check(
            ElicitResult::agree(),
            schema,
            Some(r#"{"\u0061ge":7,"newsletter":true}"#),
        );
        check(accept("{}"), Some("{}"), Some("{}"));
    }

    #[test]
    fn what_does_not_fit_the_form_is_not_sent() {
        let schema = r#"{"type":"object","properties":{"name":{"type":"string"},
            "age":{"type":"integer","minimum":0,"default":7}},"required":["name","age"]}"#;
        check(
            accept(r#"{"name":"Ada","age":null}"#),
            Some(schema),
            Some(r#"{"name":"Ada","age":7}"#),
        );
        let schema = schema.parse::<RawBuf>().unwrap();
        for (content, expected) in [
            (r#"{"name":7}"#, "name: the value is of another type"),
            (
                r#"{"name":"Ada","age":-1}"#,
                "age: the number is out of range",
            ),
            (r#"{"name":null}"#, "name: a value is required"),
        ] {
            let error = complete(accept(content), Some(&schema)).unwrap_err();
            assert_eq!(error.code, code::INTERNAL_ERROR);
            let text = format!("The answer does not fit the form: {expected}");
            assert_eq!(error.message, text, "{content}");
        }
    }

    #[test]
    fn content_goes_with_an_accepted_form_only() {
        let declined = ElicitResult {
            action: ElicitAction::Decline,
            ..accept(r#"{"name":"Ada"}"#)
        };
        check(declined, Some("{}"), None);
        check(accept(r#"{"name":"Ada"}"#), None, None);
        assert!(complete(accept("[]"), Some(&"{}".parse().unwrap())).is_err());
    }
}
