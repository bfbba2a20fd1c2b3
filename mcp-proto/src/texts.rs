//! The texts of a configuration.

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use alloc::boxed::Box;

use crate::config_error::ConfigError;
use crate::custom_method::{CustomMethod, MAX_RESULT_TYPES, ResultType};
use crate::extension_name::are_extension_names;
use crate::features::Declare;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::features::ExtensionRevisions;
use crate::http::mirror;
use crate::json::Str;
use crate::model::Implementation;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::model::WriteDirect as _;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::per_revision::PerRevision;
use crate::revision::RevisionSet;
use crate::rpc::Method;

/// Texts of the caller.
#[expect(
    unnameable_types,
    reason = "only hidden methods of the sealed `Config` name it"
)]
#[derive(Clone, Copy, Debug)]
pub struct BorrowedTexts<'t, C> {
    pub(crate) info: &'t Implementation<'t>,
    pub(crate) capabilities: &'t C,
    /// Of a server.
    pub(crate) instructions: Option<&'t str>,
    /// The methods beyond the protocol.
    pub(crate) methods: &'t [CustomMethod<'t>],
    /// Of a server: the keys of the filter of a listen that the application judges.
    pub(crate) filters: &'t [&'t str],
    /// Of a client: the types of results that its extensions define.
    pub(crate) result_types: &'t [ResultType<'t>],
    /// The revisions in which an extension is declared.
    pub(crate) extension_revisions: &'t [(&'t str, RevisionSet)],
}

impl<C> BorrowedTexts<'_, C> {
    /// The first mistake in the texts.
    pub(crate) fn mistake(&self) -> Option<ConfigError>
    where
        C: Declare,
    {
        let extensions = self.capabilities.extensions();
        let is_declared =
            |name: &str| extensions.is_some_and(|extensions| extensions.get(name).is_some());
        if !are_extension_names(extensions) {
            return Some(ConfigError::ExtensionName);
        }
        for (index, method) in self.methods.iter().enumerate() {
            if !matches!(Method::from(method.name), Method::Other(_)) {
                return Some(ConfigError::MethodOfProtocol);
            }
            let mut before = self.methods.iter().take(index);
            if before.any(|other| other.name == method.name) {
                return Some(ConfigError::MethodTwice);
            }
            if method.name.is_empty() || !mirror::is_plain(Str::from(method.name)) {
                return Some(ConfigError::MethodName);
            }
        }
        for (index, key) in self.filters.iter().enumerate() {
            if self.filters.iter().take(index).any(|other| other == key) {
                return Some(ConfigError::FilterKey);
            }
        }
        if !(self.extension_revisions.iter()).all(|(name, _)| is_declared(name)) {
            return Some(ConfigError::ExtensionUndeclared);
        }
        (self.result_types.len() > MAX_RESULT_TYPES).then_some(ConfigError::TooManyResultTypes)
    }
}

/// Texts with memory of their own, as they are written.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[derive(Debug)]
pub(crate) struct SharedTexts {
    pub(crate) info: PerRevision,
    pub(crate) capabilities: PerRevision,
    /// The revision and the capabilities of a client, as members of `_meta`.
    pub(crate) request_meta: PerRevision,
    pub(crate) instructions: Option<Box<str>>,
    pub(crate) methods: Box<[SharedMethod]>,
    pub(crate) filters: Box<[Box<str>]>,
    pub(crate) result_types: Box<[SharedResultType]>,
}

/// A [`ResultType`] with memory of its own.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[derive(Debug)]
pub(crate) struct SharedResultType {
    pub(crate) name: Box<str>,
    pub(crate) extension: Box<str>,
    pub(crate) methods: Box<[Box<str>]>,
}

/// A [`CustomMethod`] with memory of its own.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[derive(Debug)]
pub(crate) struct SharedMethod {
    pub(crate) name: Box<str>,
    subject: Option<Box<str>>,
    requires: Option<Box<str>>,
}

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
impl SharedTexts {
    pub(crate) fn of<C: Declare>(texts: &BorrowedTexts<'_, C>, request_meta: PerRevision) -> Self {
        Self {
            request_meta,
            info: PerRevision::new(|revision, w| {
                texts.info.write(revision, w);
            }),
            capabilities: PerRevision::new(|revision, w| {
                let extensions = ExtensionRevisions(texts.extension_revisions);
                texts.capabilities.write(revision, &extensions, w);
            }),
            instructions: texts.instructions.map(Box::from),
            methods: texts.methods.iter().map(SharedMethod::new).collect(),
            filters: texts.filters.iter().map(|key| Box::from(*key)).collect(),
            result_types: texts
                .result_types
                .iter()
                .map(SharedResultType::new)
                .collect(),
        }
    }
}

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
impl SharedResultType {
    fn new(own: &ResultType<'_>) -> Self {
        Self {
            name: own.name.into(),
            extension: own.extension.into(),
            methods: own
                .methods
                .iter()
                .map(|method| Box::from(*method))
                .collect(),
        }
    }
}

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
impl SharedMethod {
    fn new(method: &CustomMethod<'_>) -> Self {
        Self {
            name: method.name.into(),
            subject: method.subject.map(Box::from),
            requires: method.requires.map(Box::from),
        }
    }

    pub(crate) fn get(&self) -> CustomMethod<'_> {
        CustomMethod {
            name: &self.name,
            subject: self.subject.as_deref(),
            requires: self.requires.as_deref(),
        }
    }
}
