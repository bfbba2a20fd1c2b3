//! The settings, items and states that a builder of a server was given.

use std::sync::Arc;

use mcp_proto::json::RawBuf;
use serde::Serialize;

use super::build_error::BuildError;
use crate::server::items::catalog::Catalog;
use crate::server::items::item::Item;
use crate::server::items::register_error::{RegisterError, TWICE};
use crate::server::registry::inner::{Inner, States};
use crate::server::registry::settings::Settings;

/// The settings, items, states and mistakes of a builder, whatever its state.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(in crate::server) settings: Settings,
    catalog: Catalog,
    pub(in crate::server) states: States,
    pub(in crate::server) mistakes: Vec<RegisterError>,
}

impl Parts {
    /// Nothing but settings and the state of the builder.
    pub(in crate::server) fn new(settings: Settings, state: &Arc<()>) -> Self {
        Self {
            settings,
            catalog: Catalog::default(),
            states: vec![Arc::clone(state) as _],
            mistakes: Vec::new(),
        }
    }

    /// Builds the server.
    pub(super) fn build_inner(self) -> Result<Arc<Inner>, BuildError> {
        let Self {
            settings,
            catalog,
            states,
            mut mistakes,
        } = self;
        if !settings.draft {
            let tools = catalog.tools.iter();
            mistakes.extend(tools.filter_map(|tool| tool.published().err()));
        }
        mistakes.extend(settings.mistakes(&catalog));
        BuildError::check(mistakes)?;
        Ok(Inner::new(settings, catalog, states))
    }

    pub(in crate::server) fn add(&mut self, item: Item) {
        if self.catalog.holds(&item) {
            self.mistakes.push(item.error(&TWICE));
        }
        // The build of the server decides if the transports draft may serve the item.
        if let Err(mistake) = self.catalog.add(item, true) {
            self.mistakes.push(mistake);
        }
    }

    /// Adds the items, extensions and methods of another builder, the names of its tools and prompts behind this prefix.
    pub(super) fn merge(&mut self, other: Self, prefix: &str) {
        let Self {
            settings,
            catalog,
            states,
            mistakes,
        } = other;
        self.mistakes.extend(mistakes);
        self.states.extend(states);
        self.catalog.merge(catalog, prefix, &mut self.mistakes);
        self.settings.merge(settings, &mut self.mistakes);
    }

    /// Declares an experimental capability.
    pub(super) fn declare_experimental(&mut self, name: String, settings: &impl Serialize) {
        let declared = &mut self.settings.experimental;
        let twice = declared.iter().any(|(known, _)| *known == name);
        match RawBuf::encode(settings) {
            Ok(value) if value.as_raw().object().is_some() && !twice => {
                declared.push((name, value));
            }
            _ if twice => {
                let mistake = RegisterError::new("capability", &name, &TWICE);
                self.mistakes.push(mistake);
            }
            _ => self.mistakes.push(RegisterError::settings(&name)),
        }
    }
}
