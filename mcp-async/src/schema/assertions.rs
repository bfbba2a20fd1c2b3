//! The assertions of a schema that uses the keywords that types publish.
//!
//! Each part of a value is checked against the schemas that stand on one way through the schema, so
//! a check takes time linear in the value. A schema that would need several ways, or a pattern, is
//! not read: the tool is not registered.

use core::fmt;
use std::collections::{BTreeMap, HashSet};

use mcp_proto::json::{Array, Kind, Number, Object, Raw, Str};

use super::expected::{self, Segment};
use super::formats::TextFormat;

/// The assertions of a schema that decoding into a type does not enforce.
#[derive(Debug)]
pub(crate) struct Assertions {
    /// The schemas; the first is the root.
    pub(super) nodes: Vec<Node>,
}

/// The assertions of one schema.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The types, each by its name.
    pub(super) types: Option<Vec<Type>>,
    /// `enum` and `const`
    pub(super) choices: Option<Vec<Scalar>>,
    pub(super) numbers: Numbers,
    /// `minLength` and `maxLength`
    pub(super) length: Count,
    pub(super) format: Option<(String, TextFormat)>,
    /// `minItems` and `maxItems`
    pub(super) items_count: Count,
    pub(super) unique: bool,
    /// `minProperties` and `maxProperties`
    pub(super) members_count: Count,
    pub(super) required: Vec<String>,
    /// `"additionalProperties": false`, with the names that it allows.
    pub(super) closed: Option<HashSet<String>>,
    /// The schemas of members; `None` for one that asserts nothing.
    pub(super) properties: BTreeMap<String, Option<usize>>,
    /// The schema of all other members.
    pub(super) additional: Option<usize>,
    pub(super) prefix: Vec<Option<usize>>,
    pub(super) items: Option<usize>,
    /// A schema for the same value.
    pub(super) also: Option<usize>,
    /// `null` fits, and the schema for the same value does not count then.
    pub(super) nullable: bool,
}

/// A type of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Of(Kind),
    Integer,
}

/// A value without parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Number(Bound),
    Text(String),
}

/// A number to compare with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    integer: Option<i128>,
    nearest: f64,
}

/// The bounds of a number.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) minimum: Option<Bound>,
    pub(super) maximum: Option<Bound>,
    pub(super) above: Option<Bound>,
    pub(super) below: Option<Bound>,
}

/// The bounds of a count.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) least: Option<u64>,
    pub(super) most: Option<u64>,
}

/// A value that breaks an assertion: the place in it, and what is asserted there. The text has
/// nothing of the value but names of members.
#[derive(Debug)]
pub(crate) struct Mismatch {
    /// The place, the last segment first.
    path: Vec<Segment>,
    text: String,
}

impl Assertions {
    pub(crate) fn check(&self, value: Raw<'_>) -> Result<(), Mismatch> {
        self.check_at(0, value)
    }

    fn check_at(&self, number: usize, value: Raw<'_>) -> Result<(), Mismatch> {
        let mut next = Some(number);
        // The reader has seen that these do not form a circle.
        while let Some(node) = next.and_then(|number| self.nodes.get(number)) {
            if node.nullable && value.is_null() {
                return Ok(());
            }
            self.check_node(node, value)?;
            next = node.also;
        }
        Ok(())
    }

    fn check_node(&self, node: &Node, value: Raw<'_>) -> Result<(), Mismatch> {
        if let Some(types) = &node.types
            && !types.iter().any(|kind| kind.allows(value))
        {
            let types = types.iter().map(|kind| kind.name());
            let found = value.kind().to_string();
            return Err(Mismatch::new(expected::types(types, &found)));
        }
        if let Some(choices) = &node.choices
            && !Scalar::of(value).is_some_and(|value| choices.contains(&value))
        {
            let choices = choices.iter().map(ToString::to_string);
            return Err(Mismatch::new(expected::one_of(choices)));
        }
        if let Some(number) = value.number() {
            node.numbers.check(number)
        } else if let Some(text) = value.string() {
            node.check_text(text)
        } else if let Some(elements) = value.array() {
            self.check_elements(node, elements)
        } else if let Some(members) = value.object() {
            self.check_members(node, members)
        } else {
            Ok(())
        }
    }

    fn check_elements(&self, node: &Node, array: Array<'_>) -> Result<(), Mismatch> {
        if node.items_count != Count::default() {
            let count = array.elements().count();
            node.items_count.check(count, "elements")?;
        }
        if node.unique {
            let mut known = HashSet::new();
            for element in array.elements() {
                let mut text = String::new();
                write_canonical(element, &mut text);
                if !known.insert(text) {
                    return Err(Mismatch::new(expected::DISTINCT));
                }
            }
        }
        for (index, element) in array.elements().enumerate() {
            let schema = node.prefix.get(index).copied().unwrap_or(node.items);
            if let Some(schema) = schema {
                self.check_at(schema, element)
                    .map_err(|mismatch| mismatch.inside(Segment::Element(index)))?;
            }
        }
        Ok(())
    }

    fn check_members(&self, node: &Node, object: Object<'_>) -> Result<(), Mismatch> {
        if node.members_count != Count::default() {
            let count = object.members().count();
            node.members_count.check(count, "members")?;
        }
        for name in &node.required {
            if object.get(name).is_none() {
                return Err(Mismatch::new(expected::missing(name)));
            }
        }
        if node.properties.is_empty() && node.additional.is_none() && node.closed.is_none() {
            return Ok(());
        }
        for (name, value) in object.members() {
            let name = name.to_cow();
            if let Some(allowed) = &node.closed
                && !allowed.contains(&*name)
            {
                return Err(Mismatch::new(expected::unknown(&name)));
            }
            let known = node.properties.get(&*name).copied();
            if let Some(schema) = known.unwrap_or(node.additional) {
                self.check_at(schema, value)
                    .map_err(|mismatch| mismatch.inside(Segment::Member(name.into_owned())))?;
            }
        }
        Ok(())
    }
}

impl Node {
    fn check_text(&self, text: Str<'_>) -> Result<(), Mismatch> {
        if self.length != Count::default() {
            self.length.check(text.chars().count(), "characters")?;
        }
        match &self.format {
            Some((name, format)) if !format.matches(text) => {
                Err(Mismatch::new(expected::format(name)))
            }
            _ => Ok(()),
        }
    }
}

impl Type {
    fn allows(self, value: Raw<'_>) -> bool {
        match self {
            Self::Of(kind) => value.kind() == kind,
            Self::Integer => value.number().is_some_and(|number| {
                let nearest = number.to_f64();
                number.is_integer() || nearest.is_infinite() || nearest % 1.0 == 0.0
            }),
        }
    }
}

impl Type {
    fn name(self) -> String {
        match self {
            Self::Of(kind) => kind.to_string(),
            Self::Integer => "integer".to_owned(),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Number(value) => value.fmt(f),
            Self::Text(value) => fmt::Debug::fmt(value, f),
        }
    }
}

impl Scalar {
    fn of(value: Raw<'_>) -> Option<Self> {
        Some(match value.kind() {
            Kind::Null => Self::Null,
            Kind::Bool => Self::Bool(value.boolean()?),
            Kind::Number => Self::Number(Bound::of(value.number()?)),
            Kind::String => Self::Text(value.string()?.to_cow().into_owned()),
            Kind::Array | Kind::Object => return None,
        })
    }
}

impl Bound {
    /// The number as a schema would hold it: beyond 64 bits, and with a fraction or an exponent, the nearest double.
    fn of(number: Number<'_>) -> Self {
        let signed = || number.to_i64().map(i128::from);
        let integer = number.to_u64().map(i128::from).or_else(signed);
        Self::new(integer, number.to_f64().clamp(f64::MIN, f64::MAX))
    }

    fn new(integer: Option<i128>, nearest: f64) -> Self {
        // Such a double is an integer, and is compared with others as one.
        let is_whole = nearest % 1.0 == 0.0 && nearest.abs() < TWO_TO_127;
        let integer = integer.or(is_whole.then_some(nearest as i128));
        Self { integer, nearest }
    }

    fn order(self, other: Self) -> Option<core::cmp::Ordering> {
        match (self.integer, other.integer) {
            (Some(one), Some(other)) => Some(one.cmp(&other)),
            _ => self.nearest.partial_cmp(&other.nearest),
        }
    }
}

impl From<&serde_json::Number> for Bound {
    fn from(number: &serde_json::Number) -> Self {
        let unsigned = number.as_u64().map(i128::from);
        let integer = unsigned.or(number.as_i64().map(i128::from));
        Self::new(integer, number.as_f64().unwrap_or(f64::NAN))
    }
}

impl PartialEq for Bound {
    fn eq(&self, other: &Self) -> bool {
        self.order(*other).is_some_and(core::cmp::Ordering::is_eq)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.integer {
            Some(integer) => integer.fmt(f),
            None => self.nearest.fmt(f),
        }
    }
}

impl Numbers {
    fn check(&self, number: Number<'_>) -> Result<(), Mismatch> {
        type Fits = fn(core::cmp::Ordering) -> bool;
        let value = Bound::of(number);
        let bounds: [(Option<Bound>, Fits, &str); 4] = [
            (self.minimum, core::cmp::Ordering::is_ge, "at least"),
            (self.maximum, core::cmp::Ordering::is_le, "at most"),
            (self.above, core::cmp::Ordering::is_gt, "greater than"),
            (self.below, core::cmp::Ordering::is_lt, "less than"),
        ];
        for (bound, fits, words) in bounds {
            if let Some(bound) = bound
                && !value.order(bound).is_some_and(fits)
            {
                return Err(Mismatch::new(expected::bound(words, &bound)));
            }
        }
        Ok(())
    }
}

impl Count {
    fn check(&self, count: usize, what: &str) -> Result<(), Mismatch> {
        let found = count as u64;
        match (self.least, self.most) {
            (Some(least), _) if found < least => Err(Mismatch::new(expected::count(
                "at least", least, what, count,
            ))),
            (_, Some(most)) if found > most => {
                Err(Mismatch::new(expected::count("at most", most, what, count)))
            }
            _ => Ok(()),
        }
    }
}

impl Mismatch {
    fn new(text: impl Into<String>) -> Self {
        Self {
            path: Vec::new(),
            text: text.into(),
        }
    }

    fn inside(mut self, segment: Segment) -> Self {
        self.path.push(segment);
        self
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", expected::place(self.path.iter().rev()))?;
        }
        f.write_str(&self.text)
    }
}

/// Writes a value so that equal values have equal texts.
fn write_canonical(value: Raw<'_>, text: &mut String) {
    if let Some(number) = value.number() {
        // `1`, `1.0` and `1e0` are one number.
        text.push_str(&Bound::of(number).to_string());
    } else if let Some(string) = value.string() {
        text.push_str(&format!("{:?}", string.to_cow()));
    } else if let Some(array) = value.array() {
        text.push('[');
        for element in array.elements() {
            write_canonical(element, text);
            text.push(',');
        }
        text.push(']');
    } else if let Some(object) = value.object() {
        let members = object.members().map(|(name, value)| (name.to_cow(), value));
        text.push('{');
        for (name, value) in members.collect::<BTreeMap<_, _>>() {
            text.push_str(&format!("{name:?}:"));
            write_canonical(value, text);
            text.push(',');
        }
        text.push('}');
    } else {
        text.push_str(value.as_str());
    }
}

/// The first double that is greater than every `i128`.
const TWO_TO_127: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;

#[cfg(test)]
#[path = "assertions_tests.rs"]
mod tests;

#[cfg(all(test, feature = "schema"))]
#[path = "agreement_tests.rs"]
mod agreement_tests;
