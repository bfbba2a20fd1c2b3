//! The scopes that a request needs.

use std::sync::Arc;

use mcp_auth::resource::RequiredScopes;
use mcp_proto::json::{Object, Raw, Str};
use mcp_proto::model::{CompleteParams, Reference};
use mcp_proto::rpc::{self, Request};

use super::super::Peer;
use super::subject;
use crate::error::ErrorReply;
use crate::server::call::service::Call;
use crate::server::caller::access::Access;
use crate::server::caller::principal::Principal;
use crate::server::items::catalog::Catalog;
use crate::server::items::entry::Registered;
use crate::server::registry::inner::Inner;
use crate::server::registry::view::View;

impl Inner {
    /// Returns true if there is an item that needs scopes.
    pub(crate) fn has_scopes(&self) -> bool {
        self.view().has_scopes
    }

    /// The scopes that a request needs, before it is handled: no scopes for an item that its caller
    /// does not see.
    pub(crate) fn scopes_of(
        &self,
        request: &Request<'_>,
        caller: Option<&Principal>,
    ) -> RequiredScopes {
        let view = self.view();
        if !view.has_scopes {
            return RequiredScopes::NONE;
        }
        let params = request.params.unwrap_or_default();
        let subject = match request.method {
            rpc::Method::ToolsCall | rpc::Method::PromptsGet => params.get("name"),
            _ => params.get("uri"),
        };
        let subject = subject.and_then(Raw::string).map(Str::to_cow);
        let subject = subject.unwrap_or_default();
        self.needed(&view.catalog, request.method, &subject, params, caller)
    }

    /// Refuses a call whose token lacks scopes.
    pub(super) fn check_scopes(&self, view: &View, call: &Call<'_>) -> Result<(), ErrorReply> {
        if !view.has_scopes {
            return Ok(());
        }
        let caller = call.context().principal();
        let subject = subject(call);
        let needed = self.needed(&view.catalog, call.method, &subject, call.params, caller);
        Ok(call.context().require(&needed)?)
    }

    /// Returns true if the client may learn that the resource at this URI has changed: the token of
    /// its last request has the scopes of the resource.
    pub(in crate::server) fn may_read(&self, peer: &Peer, uri: &str) -> bool {
        let view = self.view();
        if !view.has_scopes {
            return true;
        }
        let caller = peer.principal();
        let needed = of_resource(&view.catalog, uri, caller.as_ref());
        needed.scopes().is_empty()
            || peer.shared.lock().outbound.is_none()
            || caller
                .as_ref()
                .and_then(Principal::claims::<Access>)
                .is_some_and(|access| access.permits(&needed))
    }

    fn needed(
        &self,
        catalog: &Catalog,
        method: rpc::Method<'_>,
        subject: &str,
        params: Object<'_>,
        caller: Option<&Principal>,
    ) -> RequiredScopes {
        match method {
            rpc::Method::ToolsCall => {
                let tool = catalog.tools.shown(subject, caller);
                tool.map_or(RequiredScopes::NONE, of_item)
            }
            rpc::Method::PromptsGet => of_prompt(catalog, subject, caller),
            rpc::Method::ResourcesRead => of_resource(catalog, subject, caller),
            rpc::Method::ResourcesSubscribe => of_subscription(catalog, subject, caller),
            rpc::Method::SubscriptionsListen => {
                let filter = params.get("notifications").and_then(Raw::object);
                let uris = filter.and_then(|filter| filter.get("resourceSubscriptions"));
                let uris = uris.and_then(Raw::array).unwrap_or_default().elements();
                uris.filter_map(Raw::string)
                    .fold(RequiredScopes::NONE, |all, uri| {
                        all.union(&of_subscription(catalog, &uri.to_cow(), caller))
                    })
            }
            rpc::Method::CompletionComplete => {
                match params.as_raw().decode::<CompleteParams<'_>>(&mut []) {
                    Ok(params) => match params.reference {
                        Reference::Prompt(prompt) => {
                            of_prompt(catalog, &prompt.name.to_cow(), caller)
                        }
                        Reference::Resource(resource) => {
                            let uri = resource.uri.to_cow();
                            match catalog.templates.shown(&uri, caller) {
                                Some(template) => of_item(template),
                                None => of_resource(catalog, &uri, caller),
                            }
                        }
                        Reference::Other(_) => RequiredScopes::NONE,
                    },
                    Err(_) => RequiredScopes::NONE,
                }
            }
            method => {
                let method = self.settings.method(method.name());
                method.map_or(RequiredScopes::NONE, |it| it.scopes.needed())
            }
        }
    }
}

fn of_item(item: &Arc<impl Registered>) -> RequiredScopes {
    item.entry().scopes.needed()
}

fn of_prompt(catalog: &Catalog, name: &str, caller: Option<&Principal>) -> RequiredScopes {
    let prompt = catalog.prompts.shown(name, caller);
    prompt.map_or(RequiredScopes::NONE, of_item)
}

/// Those of a resource, or else of the template that its URI matches.
fn of_resource(catalog: &Catalog, uri: &str, caller: Option<&Principal>) -> RequiredScopes {
    if let Some(resource) = catalog.resources.shown(uri, caller) {
        return of_item(resource);
    }
    match catalog.template_of(uri, caller) {
        Some((template, _)) => of_item(&template),
        None => RequiredScopes::NONE,
    }
}

/// The scopes of everything that a subscription covers, as far as that is known now: a resource,
/// and those below its URI (RS-10). Each update is checked again when it happens.
fn of_subscription(catalog: &Catalog, uri: &str, caller: Option<&Principal>) -> RequiredScopes {
    if uri.is_empty() {
        return RequiredScopes::NONE;
    }
    let resources = catalog.resources.all_shown(uri, caller).map(of_item);
    let templates = catalog.templates.all_shown(uri, caller).map(of_item);
    resources
        .chain(templates)
        .fold(of_resource(catalog, uri, caller), |all, scopes| {
            all.union(&scopes)
        })
}
