//! The items that an application offers: tools, resources, templates, prompts and methods, each checked when it is registered.

pub(super) mod catalog;
pub(super) mod checks;
pub(super) mod completion;
pub(super) mod item;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(super) mod item_scopes;
#[cfg(not(all(feature = "auth", feature = "http-server")))]
#[path = "no_item_scopes.rs"]
pub(super) mod item_scopes;
pub(super) mod item_settings;
pub(super) mod keyed;
pub(super) mod lister;
pub(super) mod method;
pub(super) mod prompt;
pub(super) mod register_error;
pub(super) mod resource;
pub(super) mod task_listing;
pub(super) mod template;
pub(super) mod texts;
pub(super) mod texts_probe;
pub(super) mod tool;
pub(super) mod visibility;
