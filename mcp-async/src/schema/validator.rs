//! Validates values against a schema.

use core::fmt;

use jsonschema::PatternOptions;
use mcp_proto::json::{Kind, Raw};
use serde_json::Value;

use super::cost::Cost;
use super::error::{SchemaError, Violation, cut};
use super::graph::Graph;
use super::limits::SchemaLimits;
use super::pattern::LARGEST;
use super::plan::Plan;
use super::value::{Unusable, value};

/// A compiled JSON Schema that checks values; both may come from untrusted peers.
///
/// The dialects are 2020-12, which is the one of a schema without `$schema`, 2019-09, draft-07,
/// draft-06 and draft-04 (JR-37, JR-39). Nothing is fetched and no file is read (JR-40). Before
/// a value is checked it is counted what that would cost; what is beyond the
/// [`SchemaLimits`] is refused, never begun (JR-42).
///
/// Compile once and keep it: compiling takes milliseconds. It is `Send` and `Sync`.
///
/// ```
/// use mcp_async::schema::Validator;
/// use mcp_proto::json::Raw;
///
/// let schema = br#"{"type": "object", "properties": {"days": {"type": "integer", "maximum": 14}}}"#;
/// let validator = Validator::compile(Raw::parse(schema, 64)?)?;
///
/// assert!(validator.check(Raw::parse(br#"{"days": 3}"#, 64)?).is_ok());
/// let violation = validator.check(Raw::parse(br#"{"days": 90}"#, 64)?).unwrap_err();
/// assert_eq!(violation.path(), "/days");
/// assert_eq!(violation.to_string(), "/days: value is greater than the maximum of 14");
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
    /// [`SchemaError`], if it is no schema, of an unknown dialect (JR-38), refers to something
    /// outside of itself (JR-41), or would cost more than it may.
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
            .map_err(|error| SchemaError::Invalid(cut(&error.masked().to_string())))?;
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
                let text = format!("two members named `{}`", cut(&name));
                Violation::new(String::new(), &text)
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
            let path = error.instance_path().to_string();
            return Err(Violation::new(path, &error.masked().to_string()));
        }
        Err(Violation::new(
            String::new(),
            "the value does not fit its schema",
        ))
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// What the engine may keep for each pattern while it matches.
const CACHE: usize = 1 << 19;
