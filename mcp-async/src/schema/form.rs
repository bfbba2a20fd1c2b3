//! Forms for elicitations, from types.

use mcp_proto::json::{MAX_DEPTH, Raw, RawBuf};
use mcp_proto::model::{ElicitationSchema, PrimitiveSchema, StringFormat};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::declared::declared;
use super::field::{Field, field, is_foreign};
use super::form_error::{FormError, FormFault};
use super::numbers;

/// The form that asks for a value of type `T`: a flat object of texts, numbers, yes or no, one
/// choice (an enum of unit variants) or several choices (a `Vec` of such an enum).
///
/// Fields come in the order of the struct. An `Option`, and a field with `#[serde(default)]`,
/// may be left empty. Doc comments become descriptions, those of variants what is shown for
/// them; `#[schemars(title = "..")]` beats them. Lengths, ranges and the formats `email`, `uri`,
/// `date` and `date-time` are kept, other formats of texts are left to the decoder of `T`.
///
/// The returned form has the shape of [`ElicitationSchema`](mcp_proto::model::ElicitationSchema):
/// decoded to it and encoded again for a revision, it has the members that the revision defines.
///
/// # Errors
///
/// [`FormError`] names the field that no form can ask for: forms are flat, and have no patterns.
///
/// ```
/// use mcp_async::schema;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Booking {
///     /// Where to?
///     city: String,
///     #[schemars(range(min = 1, max = 14))]
///     nights: Option<u8>,
/// }
///
/// let form = schema::form::<Booking>()?;
/// assert_eq!(
///     form.as_raw().as_str(),
///     concat!(
///         r#"{"type":"object","properties":{"#,
///         r#""city":{"type":"string","description":"Where to?"},"#,
///         r#""nights":{"type":"integer","minimum":1,"maximum":14}},"required":["city"]}"#,
///     ),
/// );
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Party {
///     guests: Vec<String>,
/// }
///
/// assert_eq!(schema::form::<Party>().unwrap_err().field(), Some("guests"));
/// # Ok::<(), schema::FormError>(())
/// ```
pub fn form<T: JsonSchema + DeserializeOwned>() -> Result<RawBuf, FormError> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    numbers::without_formats(&mut schema);
    let form = Form::read(&schema.to_value(), declared::<T>())?;
    let text = serde_json::to_vec(&form).unwrap_or_default();
    let form = Raw::parse(&text, MAX_DEPTH).map_err(|_| FormError::whole(FormFault::Deep))?;
    Ok(form.into())
}

/// Checks that a form which was written by hand says only what the answer is checked against.
///
/// # Errors
///
/// [`FormError`] names the field that no form can ask for.
pub(crate) fn check_form(form: Raw<'_>) -> Result<(), FormError> {
    let whole = || FormError::whole(FormFault::NotObject);
    let root: ElicitationSchema<'_> = form.decode(&mut []).map_err(|_| whole())?;
    let written = form.object().and_then(|form| form.get("properties"));
    let written = written.and_then(Raw::object).ok_or_else(whole)?;
    let fields = root.properties.iter().zip(written.members());
    for ((name, field), (_, written)) in fields {
        check_field(field.ok(), written).map_err(|fault| FormError {
            field: Some(name.to_cow().into_owned()),
            fault,
        })?;
    }
    Ok(())
}

fn check_field(field: Option<PrimitiveSchema<'_>>, written: Raw<'_>) -> Result<(), FormFault> {
    let members = || written.object().unwrap_or_default().members();
    let mut keywords = members().map(|(name, _)| name.to_cow());
    if let Some(keyword) = keywords.find(|name| is_foreign(name)) {
        return Err(FormFault::Keyword(keyword.into_owned()));
    }
    let kind = members().find(|(name, _)| *name == "type");
    let kind = kind.and_then(|(_, kind)| kind.string());
    match (field, kind) {
        (Some(PrimitiveSchema::String(text)), _) => match text.format {
            Some(StringFormat::Other(format)) => {
                Err(FormFault::Format(format.to_cow().into_owned()))
            }
            _ => Ok(()),
        },
        (Some(PrimitiveSchema::Other(_)) | None, Some(kind)) if kind == "object" => {
            Err(FormFault::Object)
        }
        (Some(PrimitiveSchema::Other(_)) | None, Some(kind)) if kind == "array" => {
            Err(FormFault::List)
        }
        (Some(PrimitiveSchema::Other(_)) | None, Some(kind)) => {
            Err(FormFault::Type(kind.to_cow().into_owned()))
        }
        (None, None) => Err(FormFault::Several),
        (Some(_), _) => Ok(()),
    }
}

#[derive(Serialize)]
struct Form {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(serialize_with = "properties")]
    properties: Vec<(String, Field)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required: Vec<String>,
}

impl Form {
    fn read(schema: &Value, declared: &[&str]) -> Result<Self, FormError> {
        let none = Map::new();
        let properties = match schema.get("type").and_then(Value::as_str) {
            Some("object") => match schema.get("properties") {
                Some(Value::Object(properties)) => properties,
                _ => &none,
            },
            _ => return Err(FormError::whole(FormFault::NotObject)),
        };
        // Fields under a name that the author did not give, as a map has them, and fields that
        // are there only together with others, as those of an enum that is flattened.
        for keyword in ["oneOf", "anyOf", "allOf", "patternProperties", "$ref"] {
            if schema.get(keyword).is_some() {
                return Err(FormError::whole(FormFault::Keyword(keyword.to_owned())));
            }
        }
        if schema
            .get("additionalProperties")
            .is_some_and(|rest| rest.is_object() || rest == true)
        {
            return Err(FormError::whole(FormFault::NotObject));
        }
        let place = |name: &str| {
            declared
                .iter()
                .position(|field| *field == name)
                .unwrap_or(usize::MAX)
        };
        let mut fields = Vec::with_capacity(properties.len());
        for (name, schema) in properties {
            let field = field(schema).map_err(|fault| FormError {
                field: Some(name.clone()),
                fault,
            })?;
            fields.push((name.clone(), field));
        }
        fields.sort_by_key(|(name, _)| place(name));
        let required = match schema.get("required") {
            Some(Value::Array(names)) => names.as_slice(),
            _ => &[],
        };
        Ok(Self {
            kind: "object",
            required: fields
                .iter()
                .filter(|(name, _)| required.iter().any(|required| required == name.as_str()))
                .map(|(name, _)| name.clone())
                .collect(),
            properties: fields,
        })
    }
}

fn properties<S: Serializer>(fields: &[(String, Field)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(fields.iter().map(|(name, field)| (name, field)))
}
