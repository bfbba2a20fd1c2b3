//! The capabilities that the application declares by name.

use mcp_proto::json::{Object, RawBuf};
use mcp_proto::model::{ClientCapabilities, Settings};
use mcp_proto::{CustomMethod, ResultType, RevisionSet, is_extension_name};

use super::Extension;
use crate::error::ConnectError;
use crate::model::Meta;

/// Extensions and experimental capabilities, as messages carry them.
pub(in crate::client) struct Declared<'e> {
    list: &'e [Extension],
    extensions: Option<RawBuf>,
    experimental: Option<RawBuf>,
}

impl<'e> Declared<'e> {
    pub(in crate::client) fn new(
        list: &'e [Extension],
        experimental: &Meta,
    ) -> Result<Self, ConnectError> {
        let mut extensions = Meta::new();
        for extension in list {
            let wrong = || ConnectError::Extension(extension.name.clone());
            if !is_extension_name(&extension.name) {
                return Err(wrong());
            }
            let settings = extension.settings.as_ref().ok_or_else(wrong)?;
            let inserted = extensions.insert(extension.name.as_str(), settings);
            inserted.map_err(|_| wrong())?;
        }
        let wrong = experimental
            .iter()
            .find(|(_, settings)| settings.object().is_none());
        if let Some((name, _)) = wrong {
            return Err(ConnectError::Extension(name.to_owned()));
        }
        Ok(Self {
            list,
            extensions: object(&extensions),
            experimental: object(experimental),
        })
    }

    /// The capabilities with these.
    pub(in crate::client) fn add_to<'c>(
        &'c self,
        features: ClientCapabilities<'c>,
    ) -> ClientCapabilities<'c> {
        ClientCapabilities {
            extensions: self.extensions.as_ref().and_then(settings),
            experimental: self.experimental.as_ref().and_then(settings),
            ..features
        }
    }

    /// The types of results that the extensions define (EX-09).
    pub(in crate::client) fn result_types(&self) -> Vec<ResultType<'_>> {
        let types = self.list.iter().flat_map(|extension| {
            let types = extension.result_types.iter();
            types.map(|one| ResultType {
                name: one.name,
                extension: &extension.name,
                methods: one.methods,
            })
        });
        types.collect()
    }

    /// The revisions in which the extensions are declared (EX-02).
    pub(in crate::client) fn revisions(&self) -> Vec<(&str, RevisionSet)> {
        let extensions = self.list.iter();
        extensions.map(|one| (&*one.name, one.revisions)).collect()
    }

    /// The methods of the extensions, and those that callbacks answer.
    pub(in crate::client) fn methods<'m>(
        &'m self,
        answered: impl Iterator<Item = &'m str>,
    ) -> Vec<CustomMethod<'m>> {
        let own = self.list.iter().flat_map(|one| &one.methods);
        let own = own.map(|method| CustomMethod {
            subject: method.subject.as_deref(),
            ..CustomMethod::new(&method.name)
        });
        own.chain(answered.map(CustomMethod::new)).collect()
    }
}

fn object(members: &Meta) -> Option<RawBuf> {
    let encoded = || RawBuf::encode(members).ok();
    (!members.is_empty()).then(encoded).flatten()
}

fn settings(object: &RawBuf) -> Option<Settings<'_>> {
    object
        .as_raw()
        .object()
        .map(|object: Object<'_>| object.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ex_03_names_have_a_prefix() {
        for (name, expected) in [
            ("io.modelcontextprotocol/tasks", true),
            ("com.example/my-extension_2.x", true),
            ("x/y", true),
            ("tasks", false),
            ("/tasks", false),
            ("com.example/", false),
            ("com..example/x", false),
            ("1com/x", false),
            ("com.example-/x", false),
            ("com.example/-x", false),
            ("com.example/a/b", false),
            ("com.example/\u{e9}", false),
        ] {
            assert_eq!(is_extension_name(name), expected, "{name}");
        }
    }
}
