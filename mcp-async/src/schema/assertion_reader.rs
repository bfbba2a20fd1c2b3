//! Reads the assertions of a schema.

use std::collections::{HashMap, HashSet};

use mcp_proto::json::Kind;
use serde_json::{Map, Value};

use super::assertions::{Assertions, Bound, Node, Scalar, Type};
use super::formats::{Enforcement, TextFormat};
use super::keywords::{is_annotation, is_not_zero, is_null, is_of_type, is_structure};
use super::publish_error::PublishError;
use super::subschemas::{escaped, subschemas};
use super::tool_schema::{Origin, ToolSchema};
use super::value::{Unusable, value};

/// Reads one schema.
struct Reader<'s> {
    root: &'s Map<String, Value>,
    place: &'static str,
    /// The schema is that of a type, which enforces all but bounds and formats.
    typed: bool,
    nodes: Vec<Node>,
    /// The nodes that references lead to.
    targets: HashMap<&'s str, usize>,
    /// References whose targets are not read yet.
    open: Vec<(&'s str, usize)>,
    /// References from schemas that count only for some values.
    optional: HashSet<&'s str>,
    /// Those of them whose targets are not read yet.
    open_optional: Vec<&'s str>,
}

impl Assertions {
    /// Reads the schema that stands at `place`; `None` if there is nothing to check. `decoded` leaves to the decoder what it enforces
    /// of the schema of a type.
    pub(super) fn of(
        schema: &ToolSchema,
        place: &'static str,
        decoded: bool,
    ) -> Result<Option<Self>, PublishError> {
        Reader::read(schema, place, decoded)
    }
}

impl<'s> Reader<'s> {
    fn read(
        schema: &'s ToolSchema,
        place: &'static str,
        decoded: bool,
    ) -> Result<Option<Assertions>, PublishError> {
        let written;
        let (root, typed) = match &schema.0 {
            Origin::Type(root) => (root, decoded),
            Origin::Text(text) => {
                let read = value(text.as_raw(), usize::MAX);
                written = read.map_err(|unusable| match unusable {
                    Unusable::Duplicate(name) => PublishError::Duplicate { place, name },
                    Unusable::Large => PublishError::NotObject { place },
                })?;
                let root = written.as_object();
                (root.ok_or(PublishError::NotObject { place })?, false)
            }
        };
        Reader::new(root, place, typed).assertions()
    }

    fn new(root: &'s Map<String, Value>, place: &'static str, typed: bool) -> Self {
        Self {
            root,
            place,
            typed,
            nodes: Vec::new(),
            targets: HashMap::new(),
            open: Vec::new(),
            optional: HashSet::new(),
            open_optional: Vec::new(),
        }
    }

    fn assertions(mut self) -> Result<Option<Assertions>, PublishError> {
        let dialect = self.root.get("$schema").and_then(Value::as_str);
        if dialect.is_some_and(|dialect| dialect.trim_end_matches('#') != DIALECT) {
            return Err(unenforced("$schema", self.place));
        }
        self.node(self.root, self.place.to_owned())?;
        loop {
            if let Some((reference, number)) = self.open.pop() {
                let (schema, place) = self.target(reference)?;
                let node = self.nodes_of(schema, place)?;
                if let Some(slot) = self.nodes.get_mut(number) {
                    *slot = node;
                }
            } else if let Some(reference) = self.open_optional.pop() {
                let (schema, place) = self.target(reference)?;
                self.optional_object(schema, place)?;
            } else {
                break;
            }
        }
        self.check_circles()?;
        Ok(self.pruned())
    }

    /// The number of a schema that counts for every value that meets it; `None` if it says
    /// nothing.
    fn schema(&mut self, schema: &'s Value, place: String) -> Result<Option<usize>, PublishError> {
        match schema {
            Value::Object(schema) => self.node(schema, place).map(Some),
            Value::Bool(all) if *all || self.typed => Ok(None),
            _ => Err(unenforced(&schema.to_string(), place)),
        }
    }

    fn node(
        &mut self,
        schema: &'s Map<String, Value>,
        place: String,
    ) -> Result<usize, PublishError> {
        let number = self.nodes.len();
        self.nodes.push(Node::default());
        let node = self.nodes_of(schema, place)?;
        if let Some(slot) = self.nodes.get_mut(number) {
            *slot = node;
        }
        Ok(number)
    }

    fn nodes_of(
        &mut self,
        schema: &'s Map<String, Value>,
        place: String,
    ) -> Result<Node, PublishError> {
        let mut node = Node::default();
        for (keyword, value) in schema {
            let known = self.read_bound(&mut node, schema, keyword, value, &place)?
                || self.read_inner(&mut node, keyword, value, &place)?
                || (self.typed && self.is_decoded(schema, keyword, value, &place)?)
                || (!self.typed && read_structure(&mut node, schema, keyword, value));
            if !known && !is_annotation(keyword, schema, self.root) {
                return Err(unenforced(keyword, place));
            }
        }
        Ok(node)
    }

    /// Reads the bound of a number, of a length or of a count, and the format of a text.
    fn read_bound(
        &self,
        node: &mut Node,
        schema: &Map<String, Value>,
        keyword: &str,
        value: &Value,
        place: &str,
    ) -> Result<bool, PublishError> {
        let bound = value.as_number().map(Bound::from);
        let count = value.as_u64();
        let known = match keyword {
            _ if self.typed && is_of_type(schema, keyword, value) => true,
            "minimum" => set(&mut node.numbers.minimum, bound),
            "maximum" => set(&mut node.numbers.maximum, bound),
            "exclusiveMinimum" => set(&mut node.numbers.above, bound),
            "exclusiveMaximum" => set(&mut node.numbers.below, bound),
            "minLength" => set(&mut node.length.least, count),
            "maxLength" => set(&mut node.length.most, count),
            "minItems" => set(&mut node.items_count.least, count),
            "maxItems" => set(&mut node.items_count.most, count),
            "minProperties" => set(&mut node.members_count.least, count),
            "maxProperties" => set(&mut node.members_count.most, count),
            "uniqueItems" => {
                node.unique = *value == true;
                value.is_boolean()
            }
            "format" => {
                let name = value.as_str().unwrap_or_default();
                match Enforcement::of(name) {
                    Enforcement::Always => {
                        node.format = TextFormat::of(name).map(|format| (name.to_owned(), format));
                    }
                    Enforcement::Validator => return Err(unenforced(keyword, place)),
                    Enforcement::Never => {
                        return Err(PublishError::unenforced(keyword, place, None));
                    }
                    Enforcement::Annotation => {}
                }
                true
            }
            _ => false,
        };
        Ok(known)
    }

    /// Reads the schemas of parts, and those that always count for the same value.
    fn read_inner(
        &mut self,
        node: &mut Node,
        keyword: &str,
        value: &'s Value,
        place: &str,
    ) -> Result<bool, PublishError> {
        let inside = |name: &str| format!("{place}/{keyword}/{}", escaped(name));
        match (keyword, value) {
            ("$ref", Value::String(reference)) if node.also.is_none() => {
                node.also = Some(self.reference(reference, place)?);
            }
            ("anyOf", Value::Array(arms)) if node.also.is_none() => {
                let nulls = arms.iter().filter(|arm| is_null(arm)).count();
                let mut others = arms.iter().enumerate().filter(|(_, arm)| !is_null(arm));
                match (others.next(), others.next()) {
                    (Some((index, arm)), None) if nulls > 0 => {
                        let arm = self.schema(arm, inside(&index.to_string()))?;
                        let optional = Node {
                            also: arm,
                            nullable: true,
                            ..Node::default()
                        };
                        node.also = Some(self.nodes.len());
                        self.nodes.push(optional);
                    }
                    _ => return Ok(false),
                }
            }
            ("allOf", Value::Array(arms)) if arms.len() == 1 && node.also.is_none() => {
                if let Some(arm) = arms.first() {
                    node.also = self.schema(arm, inside("0"))?;
                }
            }
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    let number = self.schema(property, inside(name))?;
                    node.properties.insert(name.clone(), number);
                }
            }
            ("additionalProperties", Value::Object(rest)) => {
                node.additional = Some(self.node(rest, format!("{place}/{keyword}"))?);
            }
            ("prefixItems", Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    let number = self.schema(item, inside(&index.to_string()))?;
                    node.prefix.push(number);
                }
            }
            ("items", Value::Object(items)) => {
                node.items = Some(self.node(items, format!("{place}/{keyword}"))?);
            }
            ("items" | "additionalProperties", Value::Bool(true)) => {}
            ("$defs" | "definitions", Value::Object(_)) => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns true if decoding into the type enforces the keyword. Schemas that count only for
    /// some values then have no bounds, which would be enforced for none.
    fn is_decoded(
        &mut self,
        schema: &'s Map<String, Value>,
        keyword: &'s str,
        value: &'s Value,
        place: &str,
    ) -> Result<bool, PublishError> {
        match keyword {
            "type" | "enum" | "const" | "required" => return Ok(true),
            "additionalProperties" | "items" => return Ok(value.is_boolean()),
            // An integer that is not zero.
            "not" => return Ok(is_not_zero(schema, value)),
            "anyOf" | "oneOf" | "allOf" | "patternProperties" | "propertyNames" => {}
            _ => return Ok(false),
        }
        for (below, inner) in subschemas(schema) {
            let is_below = below
                .strip_prefix('/')
                .and_then(|below| below.strip_prefix(keyword));
            if is_below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
                self.optional(inner, format!("{place}{below}"))?;
            }
        }
        Ok(true)
    }

    /// Reads a schema that counts only for some values.
    fn optional(&mut self, schema: &'s Value, place: String) -> Result<(), PublishError> {
        match schema {
            Value::Object(schema) => self.optional_object(schema, place),
            _ => Ok(()),
        }
    }

    fn optional_object(
        &mut self,
        schema: &'s Map<String, Value>,
        place: String,
    ) -> Result<(), PublishError> {
        for (keyword, value) in schema {
            let fixed = is_of_type(schema, keyword, value);
            let format = value.as_str().map(Enforcement::of);
            match keyword.as_str() {
                "$ref" => {
                    let reference = value.as_str().unwrap_or_default();
                    if self.optional.insert(reference) {
                        self.open_optional.push(reference);
                    }
                }
                "format" if !fixed && format != Some(Enforcement::Annotation) => {
                    return Err(unenforced(keyword, place));
                }
                "uniqueItems" if *value == false => {}
                "not" if is_not_zero(schema, value) => {}
                _ if fixed || is_structure(keyword) => {}
                _ if is_annotation(keyword, schema, self.root) => {}
                _ => return Err(unenforced(keyword, place)),
            }
        }
        for (below, inner) in subschemas(schema) {
            if !below.starts_with("/$defs/") && !below.starts_with("/definitions/") {
                self.optional(inner, format!("{place}{below}"))?;
            }
        }
        Ok(())
    }

    /// The number of the schema that a reference leads to.
    fn reference(&mut self, reference: &'s str, place: &str) -> Result<usize, PublishError> {
        if let Some(number) = self.targets.get(reference) {
            return Ok(*number);
        }
        self.target(reference)
            .map_err(|_| unenforced("$ref", place))?;
        let number = self.nodes.len();
        self.nodes.push(Node::default());
        self.targets.insert(reference, number);
        self.open.push((reference, number));
        Ok(number)
    }

    /// The schema that a reference leads to, and its place.
    fn target(&self, reference: &'s str) -> Result<(&'s Map<String, Value>, String), PublishError> {
        let error = || unenforced("$ref", self.place);
        let pointer = reference.strip_prefix('#').ok_or_else(error)?;
        let mut schema = self.root;
        let mut segments = pointer.split('/');
        if segments.next() != Some("") || pointer.contains('%') {
            return Err(error());
        }
        while let Some(keyword) = segments.next() {
            let named = matches!(keyword, "$defs" | "definitions" | "properties");
            let name = segments.next().filter(|_| named).ok_or_else(error)?;
            let name = name.replace("~1", "/").replace("~0", "~");
            let found = schema.get(keyword).and_then(|named| named.get(&name));
            schema = found.and_then(Value::as_object).ok_or_else(error)?;
        }
        Ok((schema, format!("{}{pointer}", self.place)))
    }

    /// References that lead back to their own schema say nothing of any value.
    fn check_circles(&self) -> Result<(), PublishError> {
        for start in 0..self.nodes.len() {
            let mut next = Some(start);
            let mut left = self.nodes.len();
            while let Some(node) = next.and_then(|number| self.nodes.get(number)) {
                left = left
                    .checked_sub(1)
                    .ok_or_else(|| unenforced("$ref", self.place))?;
                next = node.also;
            }
        }
        Ok(())
    }

    /// Drops the schemas that assert nothing.
    fn pruned(mut self) -> Option<Assertions> {
        let mut asserts: Vec<bool> = self.nodes.iter().map(Node::asserts).collect();
        loop {
            let mut changed = false;
            for (number, node) in self.nodes.iter().enumerate() {
                let any = node
                    .inner()
                    .any(|inner| asserts.get(inner).copied().unwrap_or_default());
                if let Some(known) = asserts.get_mut(number)
                    && any
                    && !*known
                {
                    *known = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let asserts = |number: usize| asserts.get(number).copied().unwrap_or_default();
        for node in &mut self.nodes {
            let single = [&mut node.additional, &mut node.items, &mut node.also];
            let parts = node.prefix.iter_mut().chain(node.properties.values_mut());
            for inner in single.into_iter().chain(parts) {
                *inner = inner.filter(|number| asserts(*number));
            }
            // Those that assert nothing are not among the others.
            if node.additional.is_none() {
                node.properties.retain(|_, number| number.is_some());
            }
        }
        asserts(0).then_some(Assertions { nodes: self.nodes })
    }
}

impl Node {
    /// Returns true if the node asserts something of the value itself.
    fn asserts(&self) -> bool {
        let Self {
            types,
            choices,
            numbers,
            length,
            format,
            items_count,
            unique,
            members_count,
            required,
            closed,
            ..
        } = self;
        let bounds = [
            numbers.minimum,
            numbers.maximum,
            numbers.above,
            numbers.below,
        ];
        let counts = [length, items_count, members_count];
        types.is_some()
            || choices.is_some()
            || bounds.iter().any(Option::is_some)
            || counts.iter().any(|count| **count != Default::default())
            || format.is_some()
            || *unique
            || !required.is_empty()
            || closed.is_some()
    }

    fn inner(&self) -> impl Iterator<Item = usize> {
        let single = [self.additional, self.items, self.also];
        let prefix = self.prefix.iter().copied().flatten();
        let properties = self.properties.values().copied().flatten();
        single.into_iter().flatten().chain(prefix).chain(properties)
    }
}

/// Reads what decoding into a type would enforce.
fn read_structure(
    node: &mut Node,
    schema: &Map<String, Value>,
    keyword: &str,
    value: &Value,
) -> bool {
    match (keyword, value) {
        ("type", Value::String(kind)) => {
            node.types = kind_of(kind).map(|kind| vec![kind]);
            node.types.is_some()
        }
        ("type", Value::Array(kinds)) => {
            let kinds = kinds.iter().map(|kind| kind_of(kind.as_str()?));
            node.types = kinds.collect();
            node.types.is_some()
        }
        ("enum", Value::Array(values)) if !schema.contains_key("const") => {
            node.choices = values.iter().map(scalar).collect();
            node.choices.is_some()
        }
        ("const", value) if !schema.contains_key("enum") => {
            node.choices = scalar(value).map(|value| vec![value]);
            node.choices.is_some()
        }
        ("required", Value::Array(names)) => {
            let names = names.iter().map(|name| name.as_str().map(str::to_owned));
            match names.collect() {
                Some(names) => {
                    node.required = names;
                    true
                }
                None => false,
            }
        }
        ("additionalProperties", Value::Bool(false)) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let names = properties.into_iter().flat_map(Map::keys).cloned();
            node.closed = Some(names.collect());
            true
        }
        _ => false,
    }
}

fn kind_of(name: &str) -> Option<Type> {
    Some(Type::Of(match name {
        "integer" => return Some(Type::Integer),
        "null" => Kind::Null,
        "boolean" => Kind::Bool,
        "number" => Kind::Number,
        "string" => Kind::String,
        "array" => Kind::Array,
        "object" => Kind::Object,
        _ => return None,
    }))
}

fn scalar(value: &Value) -> Option<Scalar> {
    Some(match value {
        Value::Null => Scalar::Null,
        Value::Bool(boolean) => Scalar::Bool(*boolean),
        Value::Number(number) => Scalar::Number(number.into()),
        Value::String(text) => Scalar::Text(text.clone()),
        Value::Array(_) | Value::Object(_) => return None,
    })
}

fn set<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    *place = value;
    place.is_some()
}

fn unenforced(keyword: &str, place: impl Into<String>) -> PublishError {
    PublishError::unenforced(keyword, place, Some("schema"))
}

/// The one dialect that is read here.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
