//! Reads resources and subscribes to them.

use mcp_proto::json::Str;
use mcp_proto::server::ListKind;

use super::lists::{invalid_cursor, list};
use super::{Router, caller, subject};
use crate::connection::Job;
use crate::cursor;
use crate::server::call::handler_error::not_found;
use crate::server::call::service::Call;
use crate::server::items::catalog::Catalog;
use crate::server::items::lister::page;
use crate::server::items::method::Answer;
use crate::server::items::resource::RESOURCES;
use crate::server::items::template::MatchedUri;
use crate::server::registry::settings::Settings;

impl Router {
    /// Answers `resources/list`: what is registered, and what handlers list for the caller.
    pub(super) fn list_resources(&self, catalog: &Catalog, call: Call<'_>) -> Job {
        let Settings {
            page_size: size,
            hint,
            ref listers,
            ..
        } = *self.settings;
        let hint = catalog.hint(ListKind::Resources, hint);
        let templates = catalog.templates.all_shown("", caller(&call));
        let of_templates = templates.filter_map(|template| template.lister.as_ref());
        let listers = of_templates.chain(listers.iter().map(|lister| &**lister));
        let listing: Vec<_> = listers.map(|lister| lister.begin(&call)).collect();
        if listing.is_empty() {
            let varies = catalog
                .templates
                .iter()
                .any(|template| template.lister.is_some());
            let hint = if varies { hint.private() } else { hint };
            return list(call, &catalog.resources, &self.settings, hint);
        }
        let cursor = call.request.subject.map(Str::to_cow);
        let after = cursor
            .as_deref()
            .map(|cursor| cursor::read(RESOURCES, cursor));
        let after = match after {
            Some(None) => return call.refuse(invalid_cursor()),
            after => after.flatten(),
        };
        let shown = catalog.resources.all_shown("", caller(&call));
        let mut all: Vec<_> = shown
            .map(|resource| resource.entry.listed.clone())
            .collect();
        call.answer(async move {
            for listing in listing {
                match listing.await {
                    Ok(listed) => all.extend(listed),
                    Err(error) => return Answer(Err(error.settle(None))),
                }
            }
            Answer(Ok(page(all, after.as_deref(), size, hint)))
        })
    }

    /// Answers `resources/read`: a resource by its URI, or else the first template that
    /// matches.
    pub(super) fn read(&self, catalog: &Catalog, call: Call<'_>) -> Job {
        let uri = subject(&call);
        if let Some(resource) = catalog.resources.shown(&uri, caller(&call)) {
            return resource.call(call, self.settings.hint);
        }
        let Some((template, captures)) = catalog.template_of(&uri, caller(&call)) else {
            return call.refuse(not_found(Some(&uri)));
        };
        let uri = uri.into_owned();
        let found = MatchedUri { uri, captures };
        template.call(call, found, self.settings.hint)
    }

    /// Answers `resources/subscribe`; the core keeps the URI once this has agreed. It may be
    /// that of a resource or of what lies above some (RS-10); above all of them is nothing.
    pub(super) fn subscribe(catalog: &Catalog, call: Call<'_>) -> Job {
        let uri = subject(&call);
        let is_known = {
            let caller = caller(&call);
            let mut resources = catalog.resources.all_shown(&uri, caller);
            let mut templates = catalog.templates.all_shown(&uri, caller);
            let covers =
                !uri.is_empty() && (resources.next().is_some() || templates.next().is_some());
            covers || catalog.template_of(&uri, caller).is_some()
        };
        if is_known {
            call.ready(Ok(()))
        } else {
            call.refuse(not_found(Some(&uri)))
        }
    }
}
