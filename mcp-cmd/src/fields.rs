//! The arguments that a tool's schema describes.

use super::accepts::{Accepts, DEPTH, resolve};
use super::json::{quoted, words};
use super::nearest::hint;
use mcp_tokio::json::{Kind, Object, Raw, RawBuf};

/// The properties of a tool's schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'s> {
    root: Raw<'s>,
}

/// A text as the value of an argument.
#[derive(Debug)]
pub(crate) enum Value {
    /// The value of the argument.
    Whole(RawBuf),
    /// One of the elements of its list.
    Element(RawBuf),
}

impl<'s> Fields<'s> {
    pub(crate) const fn of(schema: Raw<'s>) -> Self {
        Self { root: schema }
    }

    /// Returns `text` as the value of the argument `key`.
    ///
    /// # Errors
    ///
    /// The text is nothing that the schema takes, or there is no such argument.
    pub(crate) fn value(self, key: &str, text: &str) -> Result<Value, String> {
        let schema = self.field(key)?;
        let value = self.typed(schema, text);
        value.map_err(|why| format!("{key}: {why}"))
    }

    /// The names of those that must be given.
    pub(crate) fn required(self) -> Vec<String> {
        let required = self.object().get("required").and_then(Raw::array);
        let names = required.into_iter().flat_map(|names| names.elements());
        names
            .filter_map(|name| Some(name.string()?.to_cow().into_owned()))
            .collect()
    }

    /// Returns the arguments of the tool in a line: `city=STRING [days=INTEGER]`; nothing if it takes nothing.
    pub(crate) fn usage(self) -> String {
        let required = self.required();
        let properties = self.object().get("properties").and_then(Raw::object);
        let members = properties.unwrap_or_default().members();
        let words = members.map(|(name, schema)| {
            let name = name.to_cow();
            let word = format!("{name}{}", self.placeholder(schema));
            if required.iter().any(|required| *required == name) {
                word
            } else {
                format!("[{word}]")
            }
        });
        let words: Vec<String> = words.collect();
        words.join(" ")
    }

    fn object(self) -> Object<'s> {
        self.root.object().unwrap_or_default()
    }

    fn field(self, key: &str) -> Result<Raw<'s>, String> {
        let object = self.object();
        let properties = object.get("properties").and_then(Raw::object);
        if let Some(schema) = properties.and_then(|properties| properties.get(key)) {
            return Ok(schema);
        }
        match object.get("additionalProperties") {
            Some(schema) if schema == Raw::FALSE => {
                let usage = match self.usage() {
                    usage if usage.is_empty() => "none".to_owned(),
                    usage => usage,
                };
                let names = properties.unwrap_or_default().members();
                let names: Vec<_> = names.map(|(name, _)| name.to_cow()).collect();
                let hint = hint(key, names.iter().map(|name| &**name));
                Err(format!(
                    "there is no argument {key}{hint}; it takes {usage}"
                ))
            }
            Some(schema) => Ok(schema),
            None => Ok(Raw::TRUE),
        }
    }

    fn typed(self, schema: Raw<'s>, text: &str) -> Result<Value, String> {
        let accepts = Accepts::of(schema, self.root);
        let json = RawBuf::parse(text).ok();
        if accepts == Accepts::ANY {
            return Ok(Value::Whole(json.unwrap_or_else(|| quoted(text))));
        }
        if let Some(json) = json.filter(|json| fits(json.as_raw(), accepts)) {
            return Ok(Value::Whole(json));
        }
        if accepts.takes(Accepts::STRING) {
            return self.chosen(schema, text).map(Value::Whole);
        }
        if accepts.takes(Accepts::ARRAY) && !text.starts_with('[') {
            let value = self.typed(self.items(schema), text)?;
            return match value {
                Value::Whole(value) => Ok(Value::Element(value)),
                Value::Element(_) => Err(format!("`{text}` is no JSON array")),
            };
        }
        Err(format!("`{text}` is no {}", accepts.names()))
    }

    /// The text, if it is one of the choices that the schema may give.
    fn chosen(self, schema: Raw<'s>, text: &str) -> Result<RawBuf, String> {
        let choices = self.choices(schema);
        if choices.is_empty() || choices.iter().any(|choice| choice == text) {
            Ok(quoted(text))
        } else {
            Err(format!("`{text}` is none of {}", choices.join(", ")))
        }
    }

    fn choices(self, schema: Raw<'s>) -> Vec<String> {
        self.alternatives(schema, DEPTH).unwrap_or_default()
    }

    /// The values that a schema lists: an `enum`, a `const`, or a choice of nothing but these and
    /// `null`. `None` if it takes others, too.
    fn alternatives(self, schema: Raw<'s>, depth: u8) -> Option<Vec<String>> {
        let depth = depth.checked_sub(1)?;
        let object = resolve(schema, self.root).object()?;
        let list = |name| object.get(name).and_then(Raw::array);
        if let Some(values) = list("enum") {
            return Some(values.elements().map(words).collect());
        }
        if let Some(value) = object.get("const") {
            return Some(vec![words(value)]);
        }
        if let Some(all) = list("allOf") {
            return all.elements().find_map(|one| self.alternatives(one, depth));
        }
        let is_null = |one: &Raw<'s>| Accepts::of(*one, self.root) == Accepts::NULL;
        let any = list("oneOf").or_else(|| list("anyOf"))?.elements();
        let any = any.filter(|one| !is_null(one));
        let any: Option<Vec<_>> = any.map(|one| self.alternatives(one, depth)).collect();
        Some(any?.concat())
    }

    fn placeholder(self, schema: Raw<'s>) -> String {
        let choices = self.choices(schema);
        if !choices.is_empty() {
            return format!("={}", choices.join("|"));
        }
        let accepts = Accepts::of(schema, self.root);
        if accepts == Accepts::ANY {
            return "=VALUE".to_owned();
        }
        let words = [
            (Accepts::STRING, "=STRING"),
            (Accepts::NUMBER, "=NUMBER"),
            (Accepts::INTEGER, "=INTEGER"),
            (Accepts::BOOLEAN, "=true|false"),
        ];
        if let Some((_, word)) = words.iter().find(|(kind, _)| accepts.takes(*kind)) {
            return (*word).to_owned();
        }
        if !accepts.takes(Accepts::ARRAY) {
            return ":=OBJECT".to_owned();
        }
        let items = self.items(schema);
        if Accepts::of(items, self.root).takes(Accepts::ARRAY) {
            ":=ARRAY".to_owned()
        } else {
            format!("{}...", self.placeholder(items))
        }
    }

    fn items(self, schema: Raw<'s>) -> Raw<'s> {
        let array = resolve(schema, self.root).object().unwrap_or_default();
        array.get("items").unwrap_or(Raw::TRUE)
    }
}

/// Returns whether a word that is JSON is meant as such. A text that may be `null` is a text.
fn fits(value: Raw<'_>, accepts: Accepts) -> bool {
    let kind = match value.kind() {
        Kind::String => return false,
        Kind::Null => return accepts.takes(Accepts::NULL) && !accepts.takes(Accepts::STRING),
        Kind::Number if value.number().is_some_and(|number| number.is_integer()) => {
            Accepts::INTEGER
        }
        Kind::Number => Accepts::NUMBER,
        Kind::Bool => Accepts::BOOLEAN,
        Kind::Array => Accepts::ARRAY,
        Kind::Object => Accepts::OBJECT,
    };
    accepts.takes(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_in_a_line() {
        let check = |schema: &str, expected: &str| {
            let schema = RawBuf::parse(schema).unwrap();
            assert_eq!(Fields::of(schema.as_raw()).usage(), expected);
        };
        check("{}", "");
        check(
            r#"{"properties":{"a":{"type":"number"},"b":{"enum":["x","y"]},"c":{},"d":{"type":"object"},
                "e":{"type":"array","items":{"type":"integer"}},"f":{"type":"array"},"g":{"type":"boolean"}},
                "required":["a"]}"#,
            "a=NUMBER [b=x|y] [c=VALUE] [d:=OBJECT] [e=INTEGER...] [f:=ARRAY] [g=true|false]",
        );
        let status = r#""oneOf":[{"const":"open","description":"o"},{"const":"done"}]"#;
        check(
            &format!(
                r##"{{"properties":{{"a":{{{status}}},"b":{{"type":"string",{status}}},"c":{{"$ref":"#/$defs/S"}},
                "d":{{"anyOf":[{{"$ref":"#/$defs/S"}},{{"type":"null"}}]}},"e":{{"type":"array","items":{{"$ref":"#/$defs/S"}}}},
                "f":{{"anyOf":[{{"const":"x"}},{{"type":"string"}}]}},"g":{{"allOf":[{{"$ref":"#/$defs/S"}}]}},
                "h":{{"$ref":"#/$defs/Loop"}}}},
                "$defs":{{"S":{{{status}}},"Loop":{{"oneOf":[{{"$ref":"#/$defs/Loop"}}]}}}}}}"##
            ),
            "[a=open|done] [b=open|done] [c=open|done] [d=open|done] [e=open|done...] [f=STRING] \
             [g=open|done] [h=VALUE]",
        );
    }
}
