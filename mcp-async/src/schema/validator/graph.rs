//! The references between the subschemas of a schema.

use std::collections::{BTreeMap, HashMap, HashSet};

use referencing::{Draft, Registry, Resolver};
use serde_json::{Map, Value};

use super::limits::SchemaLimits;
use super::pattern::{Matching, Patterns};
use crate::schema::error::SchemaError;
use crate::schema::expected::cut;

/// The subschemas of one schema, each named by its index.
///
/// References are resolved by the library that the validator resolves them with, so that the
/// guard and the validator never see two schemas. Where a reference depends on how it was
/// reached (`$dynamicRef`), it leads to every subschema that it might lead to.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
}

/// One subschema: what it checks on the same value, and what on the parts of it.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Subschemas for the same value that stand in this one: `allOf`, `not`, `if` and their like.
    pub(super) arms: Vec<u32>,
    /// Subschemas for the same value that it refers to.
    pub(super) references: Vec<u32>,
    /// Subschemas for parts of the value that stand in this one.
    pub(super) children: Vec<u32>,
    /// `properties`
    pub(super) properties: BTreeMap<String, u32>,
    /// `patternProperties`
    pub(super) patterns: Vec<(Matching, u32)>,
    /// `additionalProperties`
    pub(super) additional: Option<u32>,
    /// `propertyNames`
    pub(super) names: Option<u32>,
    /// `unevaluatedProperties`
    pub(super) unevaluated_members: Option<u32>,
    /// `prefixItems`, or `items` where that is a list
    pub(super) prefix: Vec<u32>,
    /// `items` or `additionalItems`
    pub(super) items: Option<u32>,
    /// `contains`
    pub(super) contains: Option<u32>,
    /// `unevaluatedItems`
    pub(super) unevaluated_items: Option<u32>,
    /// `pattern`
    pub(super) pattern: Option<Matching>,
    /// `uniqueItems`
    pub(super) unique: bool,
    /// `format`, or what a text is said to contain
    pub(super) reads_text: bool,
    /// The values that an evaluation compares with, in sixteenths of an evaluation.
    pub(super) compared: u64,
    /// The base of its references; bases are equal if their numbers are.
    pub(super) base: u32,
}

impl Node {
    /// The other subschemas that are checked on the same value.
    pub(super) fn in_place(&self) -> impl Iterator<Item = u32> {
        self.arms.iter().chain(&self.references).copied()
    }

    /// Returns true if the subschema depends on which parts other subschemas have checked. The
    /// validator then runs those once more.
    pub(super) const fn marks(&self) -> bool {
        self.unevaluated_members.is_some() || self.unevaluated_items.is_some()
    }

    /// Returns true if any part of a value is checked.
    pub(super) const fn looks_inside(&self) -> bool {
        !self.children.is_empty()
    }
}

impl Graph {
    /// Walks through a schema; its first node is the root.
    pub(super) fn new(schema: &Value, limits: &SchemaLimits) -> Result<Self, SchemaError> {
        let survey = Survey::new(schema, limits)?;
        let draft = Draft::default().detect(schema);
        if draft == Draft::Unknown {
            return Err(dialect(schema));
        }
        let resource = draft.create_resource_ref(schema);
        let base = resource.id().unwrap_or(NAMELESS);
        let base = referencing::uri::from_str(base).map_err(|error| unresolved(&error))?;
        // Without a retriever of its own it fetches nothing (JR-40).
        let registry = Registry::new()
            .draft(draft)
            .add(base.as_str(), resource)
            .and_then(referencing::RegistryBuilder::prepare)
            .map_err(|error| unresolved(&error))?;
        let mut builder = Builder {
            graph: Self::default(),
            draft,
            survey,
            patterns: Patterns::new(limits),
            most: limits.subschemas,
            numbers: HashMap::new(),
            bases: HashMap::new(),
            found: Vec::new(),
            anchors: HashMap::new(),
            recursive: Vec::new(),
            dynamic: Vec::new(),
            rooted: Vec::new(),
        };
        let resolver = registry.resolver(base);
        builder.node(schema, &resolver)?;
        while let Some((node, schema, resolver)) = builder.found.pop() {
            builder.read(node, schema, &resolver)?;
        }
        Ok(builder.linked())
    }
}

/// The parts of a schema that are known before references are resolved.
struct Survey {
    /// The places of everything in it that can be a schema.
    places: HashSet<*const Value>,
}

impl Survey {
    fn new(schema: &Value, limits: &SchemaLimits) -> Result<Self, SchemaError> {
        let mut places = HashSet::new();
        let mut identifiers = 0usize;
        let mut rest = vec![(schema, 1usize)];
        while let Some((value, depth)) = rest.pop() {
            match value {
                Value::Object(members) => {
                    places.insert(core::ptr::from_ref(value));
                    if let Some(Value::String(id)) = members.get("$id").or(members.get("id")) {
                        identifiers = identifiers.saturating_add(id.len());
                    }
                    rest.extend(members.values().map(|member| (member, depth + 1)));
                }
                Value::Array(elements) => {
                    rest.extend(elements.iter().map(|element| (element, depth + 1)));
                }
                Value::Bool(_) => {
                    places.insert(core::ptr::from_ref(value));
                    continue;
                }
                _ => continue,
            }
            if depth > limits.depth {
                return Err(SchemaError::Limit("depth"));
            }
        }
        // Each may become the beginning of every reference below it.
        if identifiers > IDENTIFIERS {
            return Err(SchemaError::Limit("identifiers"));
        }
        Ok(Self { places })
    }
}

struct Builder<'s, 'r> {
    graph: Graph,
    draft: Draft,
    survey: Survey,
    patterns: Patterns<'s>,
    most: usize,
    /// The nodes by place and base.
    numbers: HashMap<(*const Value, u32), u32>,
    bases: HashMap<String, u32>,
    /// The subschemas that were found and not yet read.
    found: Vec<(u32, &'s Value, Resolver<'r>)>,
    /// The nodes by `$dynamicAnchor`.
    anchors: HashMap<&'s str, Vec<u32>>,
    /// The nodes with `$recursiveAnchor`.
    recursive: Vec<u32>,
    /// The nodes with `$dynamicRef`, and the name that it leads to.
    dynamic: Vec<(u32, &'s str)>,
    /// The nodes with `$recursiveRef`.
    rooted: Vec<u32>,
}

impl<'s, 'r> Builder<'s, 'r>
where
    'r: 's,
{
    /// The number of a subschema that stands in another, or of the root.
    fn node(&mut self, schema: &'s Value, around: &Resolver<'r>) -> Result<u32, SchemaError> {
        let resolver = around
            .in_subresource(self.draft.create_resource_ref(schema))
            .map_err(|error| unresolved(&error))?;
        self.number(schema, resolver)
    }

    /// The number of the subschema at a place; a new one is read later.
    fn number(&mut self, schema: &'s Value, resolver: Resolver<'r>) -> Result<u32, SchemaError> {
        if self.draft.detect(schema) != self.draft {
            return Err(dialect(schema));
        }
        let uri = resolver.base_uri();
        let base = match self.bases.get(uri.as_str()) {
            Some(base) => *base,
            None => {
                let base = u32::try_from(self.bases.len()).unwrap_or(u32::MAX);
                self.bases.insert(uri.as_str().to_owned(), base);
                base
            }
        };
        let place = (core::ptr::from_ref(schema), base);
        if let Some(number) = self.numbers.get(&place) {
            return Ok(*number);
        }
        if self.graph.nodes.len() >= self.most {
            return Err(SchemaError::Limit("subschemas"));
        }
        let number =
            u32::try_from(self.graph.nodes.len()).map_err(|_| SchemaError::Limit("subschemas"))?;
        self.graph.nodes.push(Node::default());
        self.numbers.insert(place, number);
        self.found.push((number, schema, resolver));
        if let Some(node) = self.graph.nodes.last_mut() {
            node.base = base;
        }
        Ok(number)
    }

    /// Reads the keywords of one subschema. Those of other dialects are read as well: to count
    /// what is ignored costs nothing.
    fn read(
        &mut self,
        number: u32,
        schema: &'s Value,
        resolver: &Resolver<'r>,
    ) -> Result<(), SchemaError> {
        let Value::Object(schema) = schema else {
            return Ok(());
        };
        let mut node = Node::default();
        if let Some(Value::String(reference)) = schema.get("$ref") {
            node.references.extend(self.target(reference, resolver)?);
            if matches!(self.draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7) {
                // Nothing else counts beside it.
                self.keep(number, node);
                return Ok(());
            }
        }
        self.read_dynamic(&mut node, number, schema, resolver)?;
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                ("allOf" | "anyOf" | "oneOf", Value::Array(arms)) => {
                    for arm in arms {
                        node.arms.push(self.node(arm, resolver)?);
                    }
                }
                ("not" | "if" | "then" | "else", arm) if is_schema(arm) => {
                    node.arms.push(self.node(arm, resolver)?);
                }
                ("dependentSchemas" | "dependencies", Value::Object(arms)) => {
                    for arm in arms.values() {
                        if is_schema(arm) {
                            node.arms.push(self.node(arm, resolver)?);
                        } else {
                            node.compared = node.compared.saturating_add(parts(arm));
                        }
                    }
                }
                ("properties", Value::Object(properties)) => {
                    node.compared = node.compared.saturating_add(properties.len() as u64);
                    for (name, property) in properties {
                        let property = self.node(property, resolver)?;
                        node.children.push(property);
                        node.properties.insert(name.clone(), property);
                    }
                }
                ("patternProperties", Value::Object(properties)) => {
                    for (pattern, property) in properties {
                        let property = self.node(property, resolver)?;
                        node.children.push(property);
                        node.patterns.push((self.patterns.add(pattern)?, property));
                    }
                }
                ("items" | "prefixItems", Value::Array(items)) => {
                    for item in items {
                        let item = self.node(item, resolver)?;
                        node.children.push(item);
                        node.prefix.push(item);
                    }
                }
                (
                    "items"
                    | "additionalItems"
                    | "contains"
                    | "additionalProperties"
                    | "propertyNames"
                    | "unevaluatedProperties"
                    | "unevaluatedItems",
                    child,
                ) if is_schema(child) => {
                    let child = self.node(child, resolver)?;
                    node.children.push(child);
                    *match keyword.as_str() {
                        "items" | "additionalItems" => &mut node.items,
                        "contains" => &mut node.contains,
                        "additionalProperties" => &mut node.additional,
                        "propertyNames" => &mut node.names,
                        "unevaluatedProperties" => &mut node.unevaluated_members,
                        _ => &mut node.unevaluated_items,
                    } = Some(child);
                }
                ("$defs" | "definitions", Value::Object(definitions)) => {
                    // They may have anchors, even if no reference leads to them.
                    for definition in definitions.values().filter(|value| is_schema(value)) {
                        self.node(definition, resolver)?;
                    }
                }
                ("pattern", Value::String(pattern)) => {
                    node.pattern = Some(self.patterns.add(pattern)?);
                }
                ("uniqueItems", Value::Bool(unique)) => node.unique = *unique,
                ("format" | "contentMediaType" | "contentEncoding", _) => node.reads_text = true,
                ("enum" | "const" | "required" | "dependentRequired", values) => {
                    node.compared = node.compared.saturating_add(parts(values));
                }
                _ => {}
            }
        }
        self.keep(number, node);
        Ok(())
    }

    fn read_dynamic(
        &mut self,
        node: &mut Node,
        number: u32,
        schema: &'s Map<String, Value>,
        resolver: &Resolver<'r>,
    ) -> Result<(), SchemaError> {
        if self.draft == Draft::Draft202012 {
            if let Some(Value::String(anchor)) = schema.get("$dynamicAnchor") {
                self.anchors.entry(anchor).or_default().push(number);
            }
            if let Some(Value::String(reference)) = schema.get("$dynamicRef") {
                node.references.extend(self.target(reference, resolver)?);
                if let Some((_, anchor)) = reference.rsplit_once('#') {
                    self.dynamic.push((number, anchor));
                }
            }
        }
        if self.draft == Draft::Draft201909 {
            if schema.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
                self.recursive.push(number);
            }
            if let Some(Value::String(reference)) = schema.get("$recursiveRef") {
                node.references.extend(self.target(reference, resolver)?);
                self.rooted.push(number);
            }
        }
        Ok(())
    }

    /// Returns the target of a reference; `None` if the reference is empty, which the validator
    /// ignores.
    fn target(
        &mut self,
        reference: &str,
        resolver: &Resolver<'r>,
    ) -> Result<Option<u32>, SchemaError> {
        if reference.is_empty() {
            return Ok(None);
        }
        if reference.len() > REFERENCE {
            return Err(SchemaError::Limit("references"));
        }
        let resolved = resolver
            .lookup(reference)
            .map_err(|error| unresolved(&error))?;
        let (schema, resolver, _) = resolved.into_inner();
        // The library knows the schemas of the dialects, which are no part of this one.
        if !self.survey.places.contains(&core::ptr::from_ref(schema)) {
            return Err(SchemaError::Reference(cut(reference)));
        }
        // The resolver is already based where the target is.
        self.number(schema, resolver).map(Some)
    }

    fn keep(&mut self, number: u32, read: Node) {
        let place = usize::try_from(number).ok();
        if let Some(node) = place.and_then(|place| self.graph.nodes.get_mut(place)) {
            *node = Node {
                base: node.base,
                ..read
            };
        }
    }

    /// Leads what is decided only while a value is checked to everything that it may lead to.
    fn linked(mut self) -> Graph {
        for (number, anchor) in &self.dynamic {
            let targets = self.anchors.get(anchor).into_iter().flatten();
            link(&mut self.graph, *number, targets);
        }
        for number in &self.rooted {
            link(&mut self.graph, *number, self.recursive.iter());
        }
        self.graph
    }
}

fn link<'t>(graph: &mut Graph, number: u32, targets: impl Iterator<Item = &'t u32>) {
    let place = usize::try_from(number).ok();
    if let Some(node) = place.and_then(|place| graph.nodes.get_mut(place)) {
        for target in targets {
            if !node.references.contains(target) {
                node.references.push(*target);
            }
        }
    }
}

const fn is_schema(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Bool(_))
}

fn dialect(schema: &Value) -> SchemaError {
    let uri = schema.get("$schema").and_then(Value::as_str);
    SchemaError::Dialect(cut(uri.unwrap_or_default()))
}

fn unresolved(error: &referencing::Error) -> SchemaError {
    SchemaError::Reference(cut(&error.to_string()))
}

/// The parts of a value: itself, and those of what is in it.
pub(super) fn parts(value: &Value) -> u64 {
    let mut count = 0u64;
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        count = count.saturating_add(1);
        match value {
            Value::Array(elements) => rest.extend(elements),
            Value::Object(members) => rest.extend(members.values()),
            _ => {}
        }
    }
    count
}

/// The base of a schema that has no `$id`; that of the validator.
const NAMELESS: &str = "json-schema:///";
/// The bytes of all `$id` together.
const IDENTIFIERS: usize = 8 << 10;
/// The bytes of one reference.
const REFERENCE: usize = 2 << 10;
