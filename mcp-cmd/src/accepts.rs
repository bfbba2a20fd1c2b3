//! The kinds of values that a schema takes.

use mcp_tokio::json::{Kind, Raw};

/// The kinds of values that a schema takes, as far as a command line has to know: a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accepts(u8);

impl Accepts {
    pub(crate) const STRING: Self = Self(1);
    pub(crate) const INTEGER: Self = Self(2);
    /// Integers too.
    pub(crate) const NUMBER: Self = Self(2 | 4);
    pub(crate) const BOOLEAN: Self = Self(8);
    pub(crate) const NULL: Self = Self(16);
    pub(crate) const ARRAY: Self = Self(32);
    pub(crate) const OBJECT: Self = Self(64);
    /// Nothing is said about the kind.
    pub(crate) const ANY: Self = Self(127);

    /// Of a schema that is part of `root`. Looks through `$ref`, `anyOf`, `oneOf` and `allOf`;
    /// what it does not understand it takes for anything, and leaves to the server.
    pub(crate) fn of(schema: Raw<'_>, root: Raw<'_>) -> Self {
        Self::within(schema, root, 0)
    }

    /// Returns whether values of all these kinds are taken.
    pub(crate) const fn takes(self, kinds: Self) -> bool {
        self.0 & kinds.0 == kinds.0
    }

    /// The kinds by name, for a sentence.
    pub(crate) fn names(self) -> String {
        let integer = self.takes(Self::INTEGER) && !self.takes(Self::NUMBER);
        let names = [
            (self.takes(Self::NUMBER), "number"),
            (integer, "integer"),
            (self.takes(Self::BOOLEAN), "boolean"),
            (self.takes(Self::ARRAY), "JSON array"),
            (self.takes(Self::OBJECT), "JSON object"),
            (self.takes(Self::STRING), "string"),
            (self.takes(Self::NULL), "null"),
        ];
        let names = names.iter().filter(|(taken, _)| *taken);
        let names: Vec<&str> = names.map(|(_, name)| *name).collect();
        names.join(" or ")
    }

    fn within(schema: Raw<'_>, root: Raw<'_>, depth: u8) -> Self {
        let Some(object) = schema.object().filter(|_| depth < DEPTH) else {
            return Self::ANY;
        };
        let inner = |schema| Self::within(schema, root, depth + 1);
        let elements = |name| {
            let all = object.get(name).and_then(Raw::array);
            all.map(|all| all.elements())
        };
        if object.get("$ref").is_some() {
            let target = resolve(schema, root);
            return if target == schema {
                Self::ANY
            } else {
                inner(target)
            };
        }
        if let Some(kind) = object.get("type") {
            return match kind.array() {
                Some(kinds) => Self::any_of(kinds.elements().map(Self::named)),
                None => Self::named(kind),
            };
        }
        if let Some(values) = elements("enum") {
            return Self::any_of(values.map(Self::kind));
        }
        if let Some(value) = object.get("const") {
            return Self::kind(value);
        }
        if let Some(schemas) = elements("anyOf").or_else(|| elements("oneOf")) {
            return Self::any_of(schemas.map(inner));
        }
        if let Some(schemas) = elements("allOf") {
            let all = schemas.map(inner);
            return all.fold(Self::ANY, |all, one| Self(all.0 & one.0));
        }
        if object.get("properties").is_some() {
            return Self::OBJECT;
        }
        Self::ANY
    }

    fn named(kind: Raw<'_>) -> Self {
        match kind.string().and_then(|kind| kind.as_plain()) {
            Some("string") => Self::STRING,
            Some("integer") => Self::INTEGER,
            Some("number") => Self::NUMBER,
            Some("boolean") => Self::BOOLEAN,
            Some("null") => Self::NULL,
            Some("array") => Self::ARRAY,
            Some("object") => Self::OBJECT,
            _ => Self::ANY,
        }
    }

    const fn kind(value: Raw<'_>) -> Self {
        match value.kind() {
            Kind::Null => Self::NULL,
            Kind::Bool => Self::BOOLEAN,
            Kind::Number => Self::NUMBER,
            Kind::String => Self::STRING,
            Kind::Array => Self::ARRAY,
            Kind::Object => Self::OBJECT,
        }
    }

    fn any_of(sets: impl Iterator<Item = Self>) -> Self {
        sets.fold(Self(0), |all, one| Self(all.0 | one.0))
    }
}

/// The schema that `$ref` means, if it is one of the same document; else the schema itself.
pub(crate) fn resolve<'s>(schema: Raw<'s>, root: Raw<'s>) -> Raw<'s> {
    let mut found = schema;
    for _ in 0..DEPTH {
        let reference = found
            .object()
            .and_then(|object| object.get("$ref")?.string());
        let Some(reference) = reference else {
            return found;
        };
        let reference = reference.to_cow();
        let Some(pointer) = reference.strip_prefix('#') else {
            return schema;
        };
        let target = pointer.split('/').skip(1).try_fold(root, |value, step| {
            let step = step.replace("~1", "/").replace("~0", "~");
            value.object()?.get(&step)
        });
        match target {
            Some(target) => found = target,
            None => return schema,
        }
    }
    schema
}

/// The number of steps from schema to schema that are followed: no sane one has more.
pub(crate) const DEPTH: u8 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_tokio::json::RawBuf;

    #[test]
    fn kinds() {
        let check = |schema: &str, expected: &str| {
            let root = format!("{DEFINITIONS},\"is\":{schema}}}");
            let root = RawBuf::parse(root).unwrap();
            let is = root.as_raw().object().unwrap().get("is").unwrap();
            let found = match Accepts::of(is, root.as_raw()) {
                Accepts::ANY => "any".to_owned(),
                accepts => accepts.names(),
            };
            assert_eq!(found, expected, "{schema}");
        };
        check("true", "any");
        check("{}", "any");
        check(r#"{"type":"string"}"#, "string");
        check(r#"{"type":"integer"}"#, "integer");
        check(r#"{"type":["number","null"]}"#, "number or null");
        check(r#"{"type":"quaternion"}"#, "any");
        check(r#"{"enum":["a",1]}"#, "number or string");
        check(r#"{"const":true}"#, "boolean");
        check(r##"{"$ref":"#/$defs/Color"}"##, "string");
        check(r##"{"$ref":"#/$defs/a~1b"}"##, "boolean");
        check(
            r##"{"anyOf":[{"$ref":"#/$defs/Color"},{"type":"null"}]}"##,
            "string or null",
        );
        check(
            r#"{"allOf":[{"description":"x"},{"type":"array"}]}"#,
            "JSON array",
        );
        check(r#"{"properties":{}}"#, "JSON object");
        check(r##"{"$ref":"#/$defs/Loop"}"##, "any");
        check(r##"{"$ref":"#/$defs/None"}"##, "any");
        check(r#"{"$ref":"https://elsewhere"}"#, "any");
    }

    const DEFINITIONS: &str = r##"{"$defs":{"Color":{"enum":["red"]},"a/b":{"type":"boolean"},
        "Loop":{"$ref":"#/$defs/Loop"}}"##;
}
