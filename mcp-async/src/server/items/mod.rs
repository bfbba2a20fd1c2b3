//! The items that an application offers: tools, resources, templates, prompts and methods, each checked when it is registered.

pub(super) mod catalog;
pub(super) mod checks;
pub(super) mod completion;
pub(super) mod entry;
pub(super) mod folder;
pub(super) mod item;
pub(super) mod item_scopes;
pub(super) mod lister;
pub(super) mod method;
pub(super) mod prompt;
pub(super) mod register_error;
pub(super) mod resource;
pub(super) mod template;
pub(super) mod texts;
pub(super) mod texts_probe;
pub(super) mod tool;
pub(super) mod tool_call;
