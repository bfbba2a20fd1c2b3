//! Mistakes in the texts of a configuration.

use crate::config_error::ConfigError;
use crate::extension_name::are_extension_names;
use crate::features::Declare;
use crate::http::mirror;
use crate::json::Str;
use crate::result_type::MAX_RESULT_TYPES;
use crate::rpc::Method;
use crate::texts::BorrowedTexts;

/// The first mistake in these texts.
pub(crate) fn first<C: Declare>(texts: &BorrowedTexts<'_, C>) -> Option<ConfigError> {
    let extensions = texts.capabilities.extensions();
    let is_declared = |name: &str| {
        extensions.is_some_and(|extensions| extensions.iter().any(|(key, _)| key == *name))
    };
    if !are_extension_names(extensions) {
        return Some(ConfigError::ExtensionName);
    }
    for (index, method) in texts.methods.iter().enumerate() {
        if !matches!(Method::from(method.name), Method::Other(_)) {
            return Some(ConfigError::MethodOfProtocol);
        }
        let mut before = texts.methods.iter().take(index);
        if before.any(|other| other.name == method.name) {
            return Some(ConfigError::MethodTwice);
        }
        if !mirror::is_plain(Str::from(method.name)) {
            return Some(ConfigError::MethodName);
        }
    }
    for (index, key) in texts.filters.iter().enumerate() {
        if texts.filters.iter().take(index).any(|other| other == key) {
            return Some(ConfigError::FilterKey);
        }
    }
    if !(texts.extension_revisions.iter()).all(|(name, _)| is_declared(name)) {
        return Some(ConfigError::ExtensionUndeclared);
    }
    (texts.result_types.len() > MAX_RESULT_TYPES).then_some(ConfigError::TooManyResultTypes)
}
