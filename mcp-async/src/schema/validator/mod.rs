//! Validates values against a schema.

mod cost;
mod graph;
mod limits;
mod pattern;
mod plan;

use core::fmt;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::LocationSegment;
use jsonschema::{PatternOptions, ValidationError};
use mcp_proto::json::{Kind, Raw};
use serde_json::{Map, Value};

use self::cost::Cost;
use self::graph::Graph;

use self::pattern::LARGEST;
use self::plan::Plan;
use super::error::{SchemaError, Violation};
use super::expected::{self, Segment, cut};
use super::value::{Unusable, value};

pub use self::limits::SchemaLimits;

/// A compiled JSON Schema that checks values; both may come from untrusted peers.
///
/// The dialects are 2020-12, which is the one of a schema without `$schema`, 2019-09, draft-07,
/// draft-06 and draft-04. Nothing is fetched and no file is read. Before
/// a value is checked it is counted what that would cost; what is beyond the
/// [`SchemaLimits`] is refused, never begun.
///
/// Compile once and keep it: compiling takes milliseconds. It is `Send` and `Sync`.
///
/// ```
/// use mcp_async::schema::Validator;
/// use mcp_async::json::Raw;
///
/// let schema = br#"{"type": "object", "properties": {"days": {"type": "integer", "maximum": 14}}}"#;
/// let validator = Validator::compile(Raw::parse(schema, 64)?)?;
///
/// assert!(validator.check(Raw::parse(br#"{"days": 3}"#, 64)?).is_ok());
/// let violation = validator.check(Raw::parse(br#"{"days": 90}"#, 64)?).unwrap_err();
/// assert_eq!(violation.path(), "/days");
/// assert_eq!(violation.to_string(), "days: expected at most 14");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Validator {
    plan: Plan,
    validator: jsonschema::Validator,
    limits: SchemaLimits,
}

impl Validator {
    /// Compiles a schema, within the limits of [`SchemaLimits::default`].
    ///
    /// # Errors
    ///
    /// [`SchemaError`], if it is no schema, of an unknown dialect, refers to something
    /// outside of itself, or would cost more than it may.
    pub fn compile(schema: Raw<'_>) -> Result<Self, SchemaError> {
        Self::with_limits(schema, SchemaLimits::default())
    }

    /// Compiles a schema within limits of the caller's.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile).
    pub fn with_limits(schema: Raw<'_>, limits: SchemaLimits) -> Result<Self, SchemaError> {
        let schema = Self::read(schema, &limits)?;
        Self::build(&schema, limits, None)
    }

    /// Reads the text of a schema.
    pub(super) fn read(schema: Raw<'_>, limits: &SchemaLimits) -> Result<Value, SchemaError> {
        if !matches!(schema.kind(), Kind::Object | Kind::Bool) {
            return Err(SchemaError::Kind);
        }
        if schema.as_bytes().len() > limits.bytes {
            return Err(SchemaError::Limit("bytes"));
        }
        value(schema, limits.values).map_err(|error| match error {
            Unusable::Duplicate(name) => SchemaError::Duplicate(cut(&name)),
            Unusable::Large => SchemaError::Limit("values"),
        })
    }

    /// Compiles a schema that was read, and says whether formats are checked; its dialect decides
    /// otherwise.
    pub(super) fn build(
        schema: &Value,
        limits: SchemaLimits,
        formats: Option<bool>,
    ) -> Result<Self, SchemaError> {
        let plan = Plan::new(Graph::new(schema, &limits)?, &limits)?;
        let patterns = PatternOptions::regex()
            .size_limit(LARGEST)
            .dfa_size_limit(CACHE);
        // Another crate of the program may have switched on fetching, so it is switched off here.
        let mut options = jsonschema::options()
            .offline()
            .with_pattern_options(patterns);
        if let Some(formats) = formats {
            options = options.should_validate_formats(formats);
        }
        let validator = options
            .build(schema)
            .map_err(|error| SchemaError::invalid(&error))?;
        Ok(Self {
            plan,
            validator,
            limits,
        })
    }

    /// Checks a value.
    ///
    /// An object with two members of one name is invalid, because its user may read the other one.
    ///
    /// # Errors
    ///
    /// [`Violation`] says what does not fit and where, or that a limit ended the check.
    pub fn check(&self, value: Raw<'_>) -> Result<(), Violation> {
        let value = self::value(value, self.limits.values).map_err(|error| match error {
            Unusable::Duplicate(name) => {
                let text = format!("member `{}` stands twice", cut(&name));
                Violation::new("", "", &text)
            }
            Unusable::Large => Violation::limit("values"),
        })?;
        let cost = Cost::of(&self.plan, &value, &self.limits).map_err(Violation::limit)?;
        if self.validator.is_valid(&value) {
            return Ok(());
        }
        // Describing keeps every way in which a value does not fit, and may ask several times.
        if cost.evaluations <= self.limits.described
            && cost.total / 16 <= self.limits.described
            && let Err(error) = self.validator.validate(&value)
        {
            return Err(violation(&error, &value));
        }
        Err(Violation::new("", "", "the value does not fit its schema"))
    }
}

/// Describes the part of a value that does not fit, in the words of all errors of arguments.
fn violation(error: &ValidationError<'_>, value: &Value) -> Violation {
    let path = error.instance_path();
    let segments = Vec::from_iter(path.segments().map(|segment| match segment {
        LocationSegment::Property(name) => Segment::Member(name.into_owned()),
        LocationSegment::Index(index) => Segment::Element(index),
    }));
    let place = expected::place(segments.iter());
    // The error of an object that may have no members is that of one of them, without its name.
    let is_closed = matches!(error.kind(), ValidationErrorKind::FalseSchema)
        && error
            .schema_path()
            .as_str()
            .ends_with("/additionalProperties");
    let closed = value.pointer(path.as_str()).filter(|_| is_closed);
    let member = closed.and_then(|value| value.as_object()?.keys().next());
    let text = member.map_or_else(|| text(error), |name| expected::unknown(name));
    Violation::new(path.as_str(), &place, &text)
}

fn text(error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as Kind;

    let found: &Value = error.instance();
    let characters = || found.as_str().map_or(0, |text| text.chars().count());
    let elements = || found.as_array().map_or(0, Vec::len);
    let members = || found.as_object().map_or(0, Map::len);
    match error.kind() {
        Kind::Type { kind } => {
            let kinds = match kind {
                TypeKind::Single(kind) => vec![*kind],
                TypeKind::Multiple(kinds) => kinds.iter().collect(),
            };
            expected::types(kinds.iter().map(ToString::to_string), kind_of(found))
        }
        Kind::Enum { options } => {
            let options = options.as_array().into_iter().flatten();
            expected::one_of(options.map(Value::to_string))
        }
        Kind::Constant { expected_value } => {
            expected::one_of(core::iter::once(expected_value.to_string()))
        }
        Kind::Required { property } => expected::missing(property.as_str().unwrap_or_default()),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            expected::unknown(unexpected.first().map_or("", String::as_str))
        }
        Kind::Minimum { limit } => expected::bound("at least", limit),
        Kind::Maximum { limit } => expected::bound("at most", limit),
        Kind::ExclusiveMinimum { limit } => expected::bound("greater than", limit),
        Kind::ExclusiveMaximum { limit } => expected::bound("less than", limit),
        Kind::MinLength { limit } => {
            expected::count("at least", *limit, "characters", characters())
        }
        Kind::MaxLength { limit } => expected::count("at most", *limit, "characters", characters()),
        Kind::MinItems { limit } => expected::count("at least", *limit, "elements", elements()),
        Kind::MaxItems { limit } => expected::count("at most", *limit, "elements", elements()),
        Kind::MinProperties { limit } => expected::count("at least", *limit, "members", members()),
        Kind::MaxProperties { limit } => expected::count("at most", *limit, "members", members()),
        Kind::Format { format } => expected::format(format),
        Kind::Pattern { pattern } => expected::bound("a match of", pattern),
        Kind::MultipleOf { multiple_of } => expected::bound("a multiple of", multiple_of),
        Kind::UniqueItems => expected::DISTINCT.to_owned(),
        Kind::FalseSchema => "expected no such value".to_owned(),
        _ => error.masked().to_string(),
    }
}

const fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// The bytes that the engine may keep for each pattern while it matches.
const CACHE: usize = 1 << 19;
