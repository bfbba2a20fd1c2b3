//! Completes arguments and variables.

use std::borrow::Cow;
use std::sync::Arc;

use mcp_proto::model::{CompleteParams, Reference};

use super::{Router, caller, too_often, unknown};
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::server::call::service::Call;
use crate::server::items::catalog::Catalog;
use crate::server::items::completion::{Completers, CompletionRequest};

impl Router {
    /// Answers `completion/complete`. An argument that exists and is not completed has no
    /// suggestions; one that does not exist is an error (CP-04).
    pub(super) fn complete(&self, catalog: &Catalog, call: Call<'_>) -> Job {
        if !self.takes(&call, "", self.settings.rates.completions) {
            return call.refuse(too_often("completions"));
        }
        let params: CompleteParams<'_> = match call.params.as_raw().decode(&mut []) {
            Ok(params) => params,
            Err(error) => return call.refuse(ErrorReply::invalid_params(error.to_string())),
        };
        let context = call.params.get("context");
        let typed = CompletionRequest::read(params.argument.value, context);
        let argument = params.argument.name.to_cow();
        match params.reference {
            Reference::Prompt(reference) => {
                let name = reference.name.to_cow();
                let Some(prompt) = catalog.prompts.shown(&name, caller(&call)) else {
                    return call.refuse(unknown("prompt", &name));
                };
                let exists = prompt.arguments().any(|name| name == argument);
                self.suggest(call, &prompt.completers, (argument, exists), typed)
            }
            Reference::Resource(reference) => {
                let uri = reference.uri.to_cow();
                let caller = caller(&call);
                let shown = catalog.templates.shown(&uri, caller).map(Arc::clone);
                let template = shown.or_else(|| Some(catalog.template_of(&uri, caller)?.0));
                let Some(template) = template else {
                    return call.refuse(unknown("resource template", &uri));
                };
                let exists = template.has_variable(&argument);
                self.suggest(call, &template.completers, (argument, exists), typed)
            }
            Reference::Other(_) => {
                call.refuse(ErrorReply::invalid_params("ref: unknown type of reference"))
            }
        }
    }

    /// Suggests values of an argument, if it exists.
    fn suggest(
        &self,
        call: Call<'_>,
        completers: &Completers,
        (argument, exists): (Cow<'_, str>, bool),
        typed: CompletionRequest,
    ) -> Job {
        match exists {
            true => completers.call(call, &argument, typed),
            false => call.refuse(unknown("argument", &argument)),
        }
    }
}
