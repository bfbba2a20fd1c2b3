//! Adds an extension to a builder of a server.

use std::sync::Arc;

use mcp_proto::is_extension_name;

use super::parts::Parts;
use crate::server::extension::declaration::Declaration;
use crate::server::extension::{Extension, check_method};
use crate::server::items::register_error::{RegisterError, TWICE};

impl<S: Send + Sync + 'static> Extension<S> {
    /// Adds the extension and its mistakes to what a builder was given.
    pub(in crate::server) fn register(self, state: &Arc<S>, parts: &mut Parts) {
        let Self {
            name,
            settings: declared,
            revisions,
            required,
            needs,
            methods,
            notifications,
            sends,
            filters,
            layers,
            background,
            items,
            list_changed,
            mistakes: own_mistakes,
        } = self;
        for item in items {
            parts.add(item.bind(state));
        }
        let Parts {
            settings, mistakes, ..
        } = parts;
        mistakes.extend(own_mistakes);
        settings.list_changed.extend(list_changed);
        for method in methods {
            match method.bind(state, &name, (revisions, required)) {
                Ok(method) => settings.add_method(method, mistakes),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        for notification in notifications {
            match notification.bind(state, &name, revisions) {
                Ok(notification) => settings.add_notification(notification, mistakes),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        for sent in sends {
            match check_method(Some(&name), &sent) {
                Ok(()) => match settings.sends.iter_mut().find(|(known, _)| *known == sent) {
                    Some((_, known)) => *known = known.or(revisions),
                    None => settings.sends.push((sent, revisions)),
                },
                Err(reason) => {
                    mistakes.push(RegisterError::new("notification", &sent, &reason));
                }
            }
        }
        for filter in filters {
            match filter.bind(state, &name, required) {
                Ok(filter) => settings.add_filter(filter, mistakes),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        settings.finds_tools |= !layers.is_empty();
        settings.layers.extend(layers);
        settings.background.extend(background);
        let error = |reason: &str| RegisterError::new("extension", &name, &reason);
        let twice = settings.extensions.iter().any(|known| known.name == name);
        match declared {
            _ if !is_extension_name(&name) => mistakes.push(error(NO_NAME)),
            _ if twice => mistakes.push(error(TWICE)),
            Some(declared) => settings.extensions.push(Declaration {
                name,
                settings: declared,
                revisions,
                needs,
            }),
            None => mistakes.push(error("its settings are no JSON object")),
        }
    }
}

const NO_NAME: &str = "its name is not a prefix, a slash and a name";
