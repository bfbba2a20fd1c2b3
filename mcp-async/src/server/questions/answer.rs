//! Checks answers of clients against their questions.

use mcp_proto::json::Raw;
use mcp_proto::model::ElicitationSchema;
use mcp_proto::rpc::Method;
use serde::de::DeserializeOwned;

use crate::model::{CreateMessageResult, ElicitResult, ListRootsResult};

/// Checks that this is an answer to a question of this method with these parameters.
///
/// # Errors
/// The member that does not fit, and what is wrong with it.
pub(crate) fn check_answer(method: &str, params: Raw<'_>, result: Raw<'_>) -> Result<(), String> {
    match method {
        "elicitation/create" => {
            decodes::<ElicitResult>(result)?;
            check_form(Method::ElicitationCreate, params, result)
        }
        "sampling/createMessage" => decodes::<CreateMessageResult>(result),
        "roots/list" => decodes::<ListRootsResult>(result),
        _ => Ok(()),
    }
}

fn decodes<T: DeserializeOwned>(result: Raw<'_>) -> Result<(), String> {
    let decoded = result.decode::<T>(&mut []);
    decoded.map(drop).map_err(|error| error.to_string())
}

/// Checks what a person filled in.
///
/// # Errors
/// The field that does not fit the form, and what is wrong with it.
pub(super) fn check_form(
    method: Method<'_>,
    params: Raw<'_>,
    result: Raw<'_>,
) -> Result<(), String> {
    if method != Method::ElicitationCreate {
        return Ok(());
    }
    let params = params.object();
    let form = params.and_then(|params| params.get("requestedSchema"));
    let form = form.and_then(|form| form.decode::<ElicitationSchema<'_>>(&mut []).ok());
    let result = result.object().unwrap_or_default();
    let action = result.get("action").and_then(Raw::string);
    let Some(form) = form.filter(|_| action.is_some_and(|action| action == "accept")) else {
        return Ok(());
    };
    let content = result.get("content").and_then(Raw::object);
    form.check(content.unwrap_or_default())
        .map_err(|mismatch| mismatch.to_string())
}
