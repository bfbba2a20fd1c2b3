//! Reads resources and subscribes to them.

use super::super::handler_error::not_found;
use super::super::service::Call;
use super::super::template::Found;
use super::super::visibility::Visibility;
use super::{Empty, Router, is_shown, subject};
use crate::connection::Job;

impl Router {
    /// Answers `resources/read`: a resource by its URI, or else the first template that
    /// matches.
    pub(super) fn read(&self, call: Call<'_>) -> Job {
        let uri = subject(&call);
        let view = self.host.inner.view();
        let found = view.catalog.resources.find(&uri);
        if let Some(resource) = found.filter(|resource| is_shown(&resource.visibility, &call)) {
            return resource.call(call, self.settings.hint, &self.host);
        }
        let caller = call.context().principal();
        let Some((template, captures)) = view.catalog.template_of(&uri, caller) else {
            return call.refuse(not_found(Some(&uri)));
        };
        let uri = uri.into_owned();
        let found = Found { uri, captures };
        template.call(call, found, self.settings.hint, &self.host)
    }

    /// Answers `resources/subscribe`; the core keeps the URI once this has agreed. It may be
    /// that of a resource or of what lies above some (RS-10); above all of them is nothing.
    pub(super) fn subscribe(&self, call: Call<'_>) -> Job {
        let uri = subject(&call);
        let known = {
            let catalog = &self.host.inner.view().catalog;
            let covers = |known: &str, visibility: &Visibility| {
                !uri.is_empty() && known.starts_with(&*uri) && is_shown(visibility, &call)
            };
            let caller = call.context().principal();
            catalog
                .resources
                .iter()
                .any(|resource| covers(&resource.listed.uri, &resource.visibility))
                || catalog.template_of(&uri, caller).is_some()
                || catalog
                    .templates
                    .iter()
                    .any(|template| covers(&template.listed.uri_template, &template.visibility))
        };
        if known {
            call.ready(Ok(Empty {}))
        } else {
            call.refuse(not_found(Some(&uri)))
        }
    }
}
