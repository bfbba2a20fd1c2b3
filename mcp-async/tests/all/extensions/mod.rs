//! Extensions that an application serves, seen from the wire.

mod apps;
mod background;
mod declared;
mod events;
mod filters;
mod methods;
