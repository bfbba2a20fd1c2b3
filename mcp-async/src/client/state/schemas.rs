//! The output schemas of the listed tools.

use std::sync::{Arc, OnceLock};

use mcp_proto::json::{Object, Raw, RawBuf};

use super::listed_tools::{ListedTools, tools};
use crate::error::CallError;
use crate::schema::Validator;

/// The output schemas of the tools that have one.
#[derive(Default)]
pub(in crate::client) struct Schemas(ListedTools<Arc<Schema>>);

/// An output schema, compiled when it is needed first.
pub(in crate::client) struct Schema {
    source: RawBuf,
    compiled: OnceLock<Result<Validator, String>>,
}

impl Schemas {
    /// Notes the tools of one page. A schema that has not changed stays compiled.
    pub(in crate::client) fn learn(&mut self, page: Raw<'_>) {
        for (name, tool) in tools(page) {
            let Some(schema) = tool.get("outputSchema").filter(|schema| !schema.is_null()) else {
                self.0.set(&name, None);
                continue;
            };
            let known = self.0.get(&name);
            if known.is_none_or(|known| known.source.as_raw().as_bytes() != schema.as_bytes()) {
                let schema = Schema {
                    source: RawBuf::from(schema),
                    compiled: OnceLock::new(),
                };
                // Results of a tool whose schema is not kept are not checked.
                self.0.set(&name, Some(Arc::new(schema)));
            }
        }
    }

    pub(in crate::client) fn of(&self, tool: &str) -> Option<Arc<Schema>> {
        self.0.get(tool).cloned()
    }

    pub(in crate::client) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Schema {
    /// TL-10. A tool that failed promises nothing.
    pub(in crate::client) fn check(&self, result: Raw<'_>) -> Result<(), CallError> {
        let result = result.object().unwrap_or(Object::EMPTY);
        if result.get("isError").and_then(Raw::boolean) == Some(true) {
            return Ok(());
        }
        let Some(content) = result.get("structuredContent") else {
            return Err(CallError::Output("there is no structured content".into()));
        };
        let compiled = self.compiled.get_or_init(|| {
            Validator::compile(self.source.as_raw()).map_err(|error| error.to_string())
        });
        match compiled {
            Ok(validator) => validator
                .check(content)
                .map_err(|violation| CallError::Output(violation.to_string())),
            // It is unknown what a refused schema would allow (JR-41).
            Err(why) => Err(CallError::Output(format!("the schema is refused: {why}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        Raw::parse(text.as_bytes(), 32).unwrap()
    }

    #[test]
    fn structured_content_keeps_the_promise() {
        let mut schemas = Schemas::default();
        let page = concat!(
            r#"{"tools":[{"name":"plain"},{"name":"sum","outputSchema":{"type":"object","#,
            r#""properties":{"sum":{"type":"number"}},"required":["sum"]}},"#,
            r#"{"name":"far","outputSchema":{"$ref":"https://example.com/x"}}]}"#
        );
        schemas.learn(raw(page));
        assert!(schemas.of("plain").is_none());
        let check = |tool, result, expected: Option<&str>| {
            let checked = schemas.of(tool).unwrap().check(raw(result));
            match (checked, expected) {
                (Ok(()), None) => {}
                (Err(CallError::Output(why)), Some(part)) => assert!(why.contains(part), "{why}"),
                (other, _) => panic!("{result}: {other:?}"),
            }
        };
        check("sum", r#"{"structuredContent":{"sum":3}}"#, None);
        check("sum", r#"{"isError":true}"#, None);
        check("sum", r#"{"structuredContent":{"sum":"3"}}"#, Some("sum"));
        check("sum", r#"{"structuredContent":{}}"#, Some("sum"));
        check("sum", r#"{"content":[]}"#, Some("no structured content"));
        check("far", r#"{"structuredContent":{}}"#, Some("refused"));
    }

    #[test]
    fn a_schema_is_compiled_once_until_it_changes() {
        let mut schemas = Schemas::default();
        let page = |sum: &str| {
            format!(r#"{{"tools":[{{"name":"a","outputSchema":{{"type":"{sum}"}}}}]}}"#)
        };
        schemas.learn(raw(&page("object")));
        let first = schemas.of("a").unwrap();
        schemas.learn(raw(&page("object")));
        assert!(Arc::ptr_eq(&first, &schemas.of("a").unwrap()));
        schemas.learn(raw(&page("string")));
        assert!(!Arc::ptr_eq(&first, &schemas.of("a").unwrap()));
        schemas.learn(raw(r#"{"tools":[{"name":"a"}]}"#));
        assert!(schemas.of("a").is_none());
    }
}
