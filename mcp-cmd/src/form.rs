//! A form on the terminal.

use dialoguer::{Confirm, Input, MultiSelect, Select};

use super::field::{Choice, Field, Kind};
use super::json::{Members, quoted};
use super::menu::{menu, theme};
use super::plain::{escaped, line, plain};
use mcp_tokio::json::RawBuf;
use mcp_tokio::mcp_async::model::{ElicitFormParams, ElicitResult};
use mcp_tokio::model::form::ElicitationSchema;

/// Asks a person to fill in the form, to decline or to cancel. Blocks.
///
/// # Errors
///
/// Those of the terminal, Ctrl-C among them.
pub(crate) fn fill(form: &ElicitFormParams, server: &str) -> dialoguer::Result<ElicitResult> {
    let Ok(fields) = fields(form) else {
        eprintln!("{server} sends an unreadable form; it is declined");
        return Ok(ElicitResult::decline());
    };
    if let Some(field) = fields.iter().find(|field| !field.has_answers()) {
        let label = &field.label;
        eprintln!("{server} sends a form whose field {label} has no answer; it is declined");
        return Ok(ElicitResult::decline());
    }
    eprintln!("\n{server} asks: {}", plain(&form.message));
    converse(&fields)
}

fn fields(form: &ElicitFormParams) -> Result<Vec<Field>, Box<dyn core::error::Error>> {
    let schema: ElicitationSchema<'_> = form.requested_schema.decode()?;
    let required = schema.required.unwrap_or_default();
    let required: Vec<_> = required.iter().filter_map(Result::ok).collect();
    let mut fields = Vec::new();
    for property in schema.properties.iter() {
        let (name, schema) = (property.0, property.1?);
        let required = required.contains(&name);
        fields.push(Field::of(&name.to_cow(), required, &schema));
    }
    Ok(fields)
}

fn converse(fields: &[Field]) -> dialoguer::Result<ElicitResult> {
    let begin = if fields.is_empty() {
        "Accept"
    } else {
        "Answer"
    };
    match menu("What now?", &[begin, "Decline", "Cancel"], 0)? {
        Some(0) => {}
        Some(1) => return Ok(ElicitResult::decline()),
        _ => return Ok(ElicitResult::cancel()),
    }
    loop {
        let mut answers = Members::default();
        for field in fields {
            if let Some(value) = ask(field)? {
                answers.put(&field.name, value);
            }
        }
        let Ok(content) = answers.object() else {
            return Ok(ElicitResult::cancel());
        };
        let accepted = ElicitResult {
            content: Some(content),
            ..ElicitResult::agree()
        };
        if fields.is_empty() {
            return Ok(accepted);
        }
        // The user can review the answers before they are sent (EL-06).
        for name in answers.names() {
            let value = answers.get(name).map_or("", |value| value.as_str());
            eprintln!("  {}: {}", line(name), escaped(value));
        }
        let next = ["Send", "Answer again", "Decline", "Cancel"];
        match menu("Send this?", &next, 0)? {
            Some(0) => return Ok(accepted),
            Some(1) => {}
            Some(2) => return Ok(ElicitResult::decline()),
            _ => return Ok(ElicitResult::cancel()),
        }
    }
}

fn ask(field: &Field) -> dialoguer::Result<Option<RawBuf>> {
    if let Some(description) = &field.description {
        eprintln!("  {description}");
    }
    match &field.kind {
        Kind::Boolean { default } => confirm(field, *default),
        Kind::One { choices, default } => pick(field, choices, default.as_deref()),
        Kind::Many {
            choices,
            fewest,
            most,
            default,
        } => pick_many(field, choices, *fewest..=*most, default),
        _ => text(field),
    }
}

fn text(field: &Field) -> dialoguer::Result<Option<RawBuf>> {
    let theme = theme();
    let mut input = Input::<String>::with_theme(&theme)
        .with_prompt(prompt(field))
        .allow_empty(true)
        .validate_with(|text: &String| field.read(text).map(|_| ()));
    if let Some(default) = field.default_text() {
        input = input.default(default);
    }
    let text = input.interact_text()?;
    Ok(field.read(&text).unwrap_or_default())
}

fn confirm(field: &Field, default: Option<bool>) -> dialoguer::Result<Option<RawBuf>> {
    let theme = theme();
    let mut confirm = Confirm::with_theme(&theme).with_prompt(prompt(field));
    if let Some(default) = default {
        confirm = confirm.default(default);
    }
    let answer = if field.required {
        Some(confirm.interact()?)
    } else {
        confirm.interact_opt()?
    };
    Ok(answer.and_then(|answer| RawBuf::encode(&answer).ok()))
}

fn pick(
    field: &Field,
    choices: &[Choice],
    default: Option<&str>,
) -> dialoguer::Result<Option<RawBuf>> {
    let theme = theme();
    let mut labels: Vec<&str> = choices.iter().map(|choice| choice.label.as_str()).collect();
    if !field.required {
        labels.push("(no answer)");
    }
    let default = choices
        .iter()
        .position(|choice| Some(choice.value.as_str()) == default);
    let select = Select::with_theme(&theme)
        .with_prompt(prompt(field))
        .items(&labels);
    let chosen = select.default(default.unwrap_or_default()).interact()?;
    Ok(choices.get(chosen).map(|choice| quoted(&choice.value)))
}

fn pick_many(
    field: &Field,
    choices: &[Choice],
    count: core::ops::RangeInclusive<u64>,
    default: &[String],
) -> dialoguer::Result<Option<RawBuf>> {
    let theme = theme();
    let labels = choices.iter().map(|choice| {
        let chosen = default.contains(&choice.value);
        (choice.label.as_str(), chosen)
    });
    let labels: Vec<_> = labels.collect();
    loop {
        let select = MultiSelect::with_theme(&theme).with_prompt(prompt(field));
        let chosen = select.items_checked(labels.iter().copied()).interact()?;
        let chosen = chosen.iter().filter_map(|at| choices.get(*at));
        let values: Vec<&str> = chosen.map(|choice| choice.value.as_str()).collect();
        if values.is_empty() && !field.required {
            return Ok(None);
        }
        if count.contains(&(values.len() as u64)) {
            return Ok(RawBuf::encode(&values).ok());
        }
        let most = (*count.end()).min(choices.len() as u64);
        eprintln!("  between {} and {most} of them, please", count.start());
    }
}

fn prompt(field: &Field) -> String {
    let optional = if field.required { "" } else { " (optional)" };
    let space = if let Kind::Many { .. } = field.kind {
        " (space marks)"
    } else {
        ""
    };
    format!("{}{optional}{space}", field.label)
}
