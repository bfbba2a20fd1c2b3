//! Completing arguments and variables.

use std::borrow::Cow;
use std::sync::Arc;

use mcp_proto::model::{CompleteParams, Reference};

use super::super::completion::{Completed, Completer, Completing};
use super::super::service::Call;
use super::{Router, too_often, unknown};
use crate::connection::Job;
use crate::error::ErrorReply;

impl Router {
    /// Answers `completion/complete`. An argument that exists and is not completed has no
    /// suggestions; one that does not exist is an error (CP-04).
    pub(super) fn complete(&self, call: Call<'_>) -> Job {
        if !self.takes(&call, "", self.settings.rates.completions) {
            return call.refuse(too_often("completions"));
        }
        let params: CompleteParams<'_> = match call.params.as_raw().decode(&mut []) {
            Ok(params) => params,
            Err(error) => return call.refuse(ErrorReply::invalid_params(error.to_string())),
        };
        let context = call.params.get("context");
        let typed = Completing::read(params.argument.value, context);
        let argument = params.argument.name.to_cow();
        match params.reference {
            Reference::Prompt(reference) => {
                let name = reference.name.to_cow();
                let prompt = self
                    .inner
                    .view()
                    .catalog
                    .prompts
                    .find(&name)
                    .map(Arc::clone);
                let Some(prompt) = prompt else {
                    return call.refuse(unknown("prompt", &name));
                };
                let arguments = &prompt.listed.arguments;
                let exists = arguments.iter().any(|known| known.name == argument);
                suggest(call, &prompt.completers, argument, exists, typed)
            }
            Reference::Resource(reference) => {
                let uri = reference.uri.to_cow();
                let template = {
                    let catalog = &self.inner.view().catalog;
                    let template = catalog.templates.find(&uri).map(Arc::clone);
                    template.or_else(|| Some(catalog.template_of(&uri)?.0))
                };
                let Some(template) = template else {
                    return call.refuse(unknown("resource template", &uri));
                };
                let exists = template.has_variable(&argument);
                suggest(call, &template.completers, argument, exists, typed)
            }
            Reference::Other(_) => {
                call.refuse(ErrorReply::invalid_params("ref: unknown type of reference"))
            }
        }
    }
}

fn suggest(
    call: Call<'_>,
    completers: &[Completer],
    argument: Cow<'_, str>,
    exists: bool,
    typed: Completing,
) -> Job {
    let completer = completers
        .iter()
        .find(|completer| completer.argument == argument);
    match completer {
        Some(completer) => completer.call(call, typed),
        None if exists => call.ready(Completed::none()),
        None => call.refuse(unknown("argument", &argument)),
    }
}
