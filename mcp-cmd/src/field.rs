//! One field of a form that a server asks a person to fill in.

use super::json::quoted;
use super::plain::line;
use mcp_tokio::json::{RawBuf, Str};
use mcp_tokio::model::form::{
    Choices, EnumSchema, MultiEnumSchema, NumberType, PrimitiveSchema, StringFormat,
};

/// A question of a form, and the answers that it allows.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// The member of the answer.
    pub(crate) name: String,
    /// The name on the screen.
    pub(crate) label: String,
    pub(crate) description: Option<String>,
    pub(crate) required: bool,
    pub(crate) kind: Kind,
}

/// The five kinds of fields, and a sixth for what a later revision may bring.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Text {
        shortest: u64,
        longest: u64,
        /// With a description of the texts that have it.
        format: Option<(StringFormat<'static>, &'static str)>,
        /// One line without control characters.
        default: Option<String>,
    },
    Number {
        integer: bool,
        least: f64,
        most: f64,
        default: Option<f64>,
    },
    Boolean {
        default: Option<bool>,
    },
    One {
        choices: Vec<Choice>,
        default: Option<String>,
    },
    Many {
        choices: Vec<Choice>,
        fewest: u64,
        most: u64,
        default: Vec<String>,
    },
    Json,
}

/// A value and what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) label: String,
}

impl Field {
    pub(crate) fn of(name: &str, required: bool, schema: &PrimitiveSchema<'_>) -> Self {
        let (title, description, kind) = match schema {
            PrimitiveSchema::String(text) => {
                // A person agrees to what is shown: nothing else is offered.
                let default = text.default.map(owned);
                let default = default.filter(|text| line(text) == *text);
                let kind = Kind::Text {
                    shortest: text.min_length.unwrap_or_default(),
                    longest: text.max_length.unwrap_or(u64::MAX),
                    format: text.format.and_then(described),
                    default,
                };
                (text.title, text.description, kind)
            }
            PrimitiveSchema::Number(number) => {
                let kind = Kind::Number {
                    integer: number.kind == NumberType::Integer,
                    least: number.minimum.unwrap_or(f64::NEG_INFINITY),
                    most: number.maximum.unwrap_or(f64::INFINITY),
                    default: number.default,
                };
                (number.title, number.description, kind)
            }
            PrimitiveSchema::Boolean(boolean) => {
                let default = boolean.default;
                (
                    boolean.title,
                    boolean.description,
                    Kind::Boolean { default },
                )
            }
            PrimitiveSchema::Enum(one) => (one.title, one.description, Kind::one(one)),
            PrimitiveSchema::MultiEnum(many) => (many.title, many.description, Kind::many(many)),
            PrimitiveSchema::Other(_) => (None, None, Kind::Json),
        };
        let label = title.map_or_else(|| name.to_owned(), owned);
        Self {
            name: name.to_owned(),
            label: line(&label).into_owned(),
            description: description.map(|text| line(&text.to_cow()).into_owned()),
            required,
            kind,
        }
    }

    /// Returns the typed text as an answer; `None` if the field is optional and left out.
    ///
    /// # Errors
    ///
    /// The reason why the text is not a value of the field.
    pub(crate) fn read(&self, text: &str) -> Result<Option<RawBuf>, String> {
        let text = text.trim();
        match &self.kind {
            _ if text.is_empty() && !self.required => Ok(None),
            Kind::Text {
                shortest,
                longest,
                format,
                ..
            } => {
                let len = text.chars().count() as u64;
                if len < *shortest {
                    return Err(format!("at least {shortest} characters, please"));
                } else if len > *longest {
                    return Err(format!("at most {longest} characters, please"));
                } else if let Some((format, description)) = format
                    && !format.matches(Str::new(text))
                {
                    return Err(format!("{description}, please"));
                }
                Ok(Some(quoted(text)))
            }
            Kind::Number {
                integer,
                least,
                most,
                ..
            } => {
                let value = RawBuf::parse(text).ok();
                let number = value.as_ref().and_then(|value| value.as_raw().number());
                match number.map(|number| (number.to_f64(), number.is_integer())) {
                    None => Err("a number, please".to_owned()),
                    Some((_, false)) if *integer => Err("a whole number, please".to_owned()),
                    Some((number, _)) if number < *least => {
                        Err(format!("at least {least}, please"))
                    }
                    Some((number, _)) if number > *most => Err(format!("at most {most}, please")),
                    Some(_) => Ok(value),
                }
            }
            _ => {
                let value = RawBuf::parse(text);
                value
                    .map(Some)
                    .map_err(|fault| format!("JSON, please: {fault}"))
            }
        }
    }

    /// Returns true if some answer fits, as far as the bounds say it.
    pub(crate) fn has_answers(&self) -> bool {
        let fits = match &self.kind {
            Kind::Text {
                shortest, longest, ..
            } => shortest <= longest,
            Kind::Number {
                integer: true,
                least,
                most,
                ..
            } => least.ceil() <= most.floor(),
            Kind::Number { least, most, .. } => least <= most,
            Kind::One { choices, .. } => !choices.is_empty(),
            Kind::Many {
                choices,
                fewest,
                most,
                ..
            } => *fewest <= (choices.len() as u64).min(*most),
            Kind::Boolean { .. } | Kind::Json => true,
        };
        fits || !self.required
    }

    /// The default as it would be typed.
    pub(crate) fn default_text(&self) -> Option<String> {
        match &self.kind {
            Kind::Text { default, .. } => default.clone(),
            Kind::Number { default, .. } => default.map(|number| number.to_string()),
            _ => None,
        }
    }
}

impl Kind {
    fn one(schema: &EnumSchema<'_>) -> Self {
        Self::One {
            choices: choices(schema.choices),
            default: schema.default.map(owned),
        }
    }

    fn many(schema: &MultiEnumSchema<'_>) -> Self {
        let default = schema.default.unwrap_or_default();
        let default = default.iter().filter_map(Result::ok).map(owned);
        Self::Many {
            choices: choices(schema.choices),
            fewest: schema.min_items.unwrap_or_default(),
            most: schema.max_items.unwrap_or(u64::MAX),
            default: default.collect(),
        }
    }
}

/// Returns a format with a description of its texts; `None` for a format that no revision defines,
/// which allows every text.
fn described(format: StringFormat<'_>) -> Option<(StringFormat<'static>, &'static str)> {
    match format {
        StringFormat::Email => Some((StringFormat::Email, "an e-mail address")),
        StringFormat::Uri => Some((StringFormat::Uri, "a URI")),
        StringFormat::Date => Some((StringFormat::Date, "a date like 2026-07-28")),
        StringFormat::DateTime => {
            let description = "a time like 2026-07-28T12:30:00Z";
            Some((StringFormat::DateTime, description))
        }
        StringFormat::Other(_) => None,
    }
}

fn choices(choices: Choices<'_>) -> Vec<Choice> {
    let choice = |value: Str<'_>, label: Str<'_>| Choice {
        value: owned(value),
        label: line(&label.to_cow()).into_owned(),
    };
    match choices {
        Choices::Untitled(values) => {
            let values = values.iter().filter_map(Result::ok);
            values.map(|value| choice(value, value)).collect()
        }
        Choices::Titled(titled) => {
            let titled = titled.iter().filter_map(Result::ok);
            titled.map(|one| choice(one.value, one.title)).collect()
        }
        Choices::Named { values, names } => {
            let mut names = names.iter().filter_map(Result::ok);
            let values = values.iter().filter_map(Result::ok);
            let named = values.map(|value| choice(value, names.next().unwrap_or(value)));
            named.collect()
        }
    }
}

fn owned(text: Str<'_>) -> String {
    text.to_cow().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(schema: &str, required: bool) -> Field {
        let schema = RawBuf::parse(schema).unwrap();
        let schema: PrimitiveSchema<'_> = schema.decode().unwrap();
        Field::of("it", required, &schema)
    }

    #[test]
    fn answers_are_checked() {
        let check = |schema: &str, text: &str, expected: Result<&str, &str>| {
            let found = field(schema, true).read(text);
            let found = found
                .as_ref()
                .map(|value| value.as_ref().unwrap().as_raw().as_str());
            assert_eq!(found.map_err(String::as_str), expected, "{schema}: {text}");
        };
        let text = r#"{"type":"string","minLength":2,"maxLength":4}"#;
        check(text, " Zoë ", Ok("\"Zoë\""));
        check(text, "x", Err("at least 2 characters, please"));
        check(text, "", Err("at least 2 characters, please"));
        check(text, "xxxxx", Err("at most 4 characters, please"));
        let email = r#"{"type":"string","format":"email"}"#;
        check(email, "ada@example.com", Ok("\"ada@example.com\""));
        for text in ["ada", ""] {
            check(email, text, Err("an e-mail address, please"));
        }
        let uri = r#"{"type":"string","format":"uri"}"#;
        check(uri, "example.com", Err("a URI, please"));
        let date = r#"{"type":"string","format":"date"}"#;
        check(date, "2026-02-29", Err("a date like 2026-07-28, please"));
        let time = r#"{"type":"string","format":"date-time"}"#;
        check(
            time,
            "12:30",
            Err("a time like 2026-07-28T12:30:00Z, please"),
        );
        for schema in [
            r#"{"type":"string","format":"regex"}"#,
            r#"{"type":"string"}"#,
        ] {
            check(schema, "", Ok("\"\""));
        }
        let number = r#"{"type":"number","minimum":0,"maximum":1.5}"#;
        check(number, "1.25", Ok("1.25"));
        check(number, "-1", Err("at least 0, please"));
        check(number, "2", Err("at most 1.5, please"));
        check(number, "two", Err("a number, please"));
        let integer = r#"{"type":"integer"}"#;
        check(integer, "12", Ok("12"));
        check(integer, "1.5", Err("a whole number, please"));
        check(r#"{"type":"tensor"}"#, "[1]", Ok("[1]"));
    }

    #[test]
    fn what_is_not_required_may_be_left_out() {
        let empty = |schema: &str| field(schema, false).read(" ").unwrap();
        assert!(empty(r#"{"type":"string","minLength":2}"#).is_none());
        assert!(empty(r#"{"type":"number"}"#).is_none());
    }

    #[test]
    fn a_default_is_offered_if_it_can_be_shown() {
        let default = |text: &str| {
            let schema = format!(r#"{{"type":"string","default":"{text}"}}"#);
            field(&schema, true).default_text()
        };
        assert_eq!(default("Zoë 1").as_deref(), Some("Zoë 1"));
        for text in [
            r"x\u001b]52;c;ZXZpbA==\u0007",
            r"\u202ex",
            r"two\nlines",
            r"\u009b2J",
        ] {
            assert_eq!(default(text), None, "{text}");
        }
    }

    #[test]
    fn a_field_without_an_answer() {
        for (schema, has_answers) in [
            (r#"{"type":"string","minLength":2,"maxLength":2}"#, true),
            (r#"{"type":"string","minLength":3,"maxLength":2}"#, false),
            (r#"{"type":"number","minimum":1.5,"maximum":1.5}"#, true),
            (r#"{"type":"number","minimum":2,"maximum":1}"#, false),
            (r#"{"type":"integer","minimum":1.2,"maximum":1.8}"#, false),
            (r#"{"type":"string","enum":[]}"#, false),
            (
                r#"{"type":"array","minItems":2,"items":{"type":"string","enum":["a","b"]}}"#,
                true,
            ),
            (
                r#"{"type":"array","minItems":3,"items":{"type":"string","enum":["a","b"]}}"#,
                false,
            ),
        ] {
            assert_eq!(field(schema, true).has_answers(), has_answers, "{schema}");
            assert!(field(schema, false).has_answers(), "{schema}");
        }
    }

    #[test]
    fn labels_and_choices() {
        let named = field(
            r#"{"type":"string","title":"A\u001b[31mcolour","enum":["r","g"],"enumNames":["Red","Green"],"default":"g"}"#,
            true,
        );
        assert_eq!(named.label, "Acolour");
        let Kind::One { choices, default } = named.kind else {
            panic!("another kind");
        };
        let labels: Vec<_> = choices.iter().map(|choice| choice.label.as_str()).collect();
        assert_eq!(
            (labels, default.as_deref()),
            (vec!["Red", "Green"], Some("g"))
        );

        let many = field(
            r#"{"type":"array","items":{"anyOf":[{"const":"r","title":"Red"}]},"maxItems":1,"default":["r"]}"#,
            true,
        );
        let Kind::Many {
            choices,
            most,
            default,
            ..
        } = many.kind
        else {
            panic!("another kind");
        };
        assert_eq!((choices[0].label.as_str(), most), ("Red", 1));
        assert_eq!(default, ["r"]);
    }
}
