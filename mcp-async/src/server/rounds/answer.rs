//! Checks answers of clients against their questions.

use mcp_proto::json::Raw;
use mcp_proto::model::ElicitationSchema;
use mcp_proto::rpc::Method;

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
