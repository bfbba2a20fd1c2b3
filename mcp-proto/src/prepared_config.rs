//! A configuration with its mistakes found and its longest answer measured.

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use alloc::sync::Arc;
use core::fmt::Debug;
use core::ops::Deref;

use crate::config_error::ConfigError;
use crate::custom_method::CustomMethod;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::features::write_chosen;
use crate::features::{ChosenExtensions, Declare, ExtensionRevisions};
use crate::json::{Str, Writer};
use crate::limits::Limits;
use crate::model::WriteDirect as _;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::per_revision::PerRevision;
use crate::revision::Revision;
use crate::texts::BorrowedTexts;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::texts::{SharedMethod, SharedTexts};

/// The configuration of a role: [`ServerConfig`](crate::server::ServerConfig),
/// [`ClientConfig`](crate::client::ClientConfig) or [`Constant`](crate::server::Constant). It cannot be implemented elsewhere.
pub trait Config: Copy + Debug {
    /// The type of the fields: `Self`, or [`ServerConfig`](crate::server::ServerConfig) for a constant.
    type Settings;
    /// The capabilities.
    #[doc(hidden)]
    #[expect(private_bounds, reason = "it is implemented for the two roles only")]
    type Capabilities: Declare;
    /// The configuration without borrowed texts.
    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    type Unborrowed: Config;

    /// True if the compiler knows the settings, so that it leaves out what they do not use.
    #[doc(hidden)]
    const IS_CONSTANT: bool = false;

    /// Returns the fields.
    #[doc(hidden)]
    fn settings(&self) -> &Self::Settings;

    /// Returns the fields for a change; `None` if they are a constant.
    #[doc(hidden)]
    fn settings_mut(&mut self) -> Option<&mut Self::Settings>;

    /// Returns the limits.
    #[doc(hidden)]
    fn limits(&self) -> &Limits;

    /// The texts.
    #[doc(hidden)]
    fn texts(&self) -> BorrowedTexts<'_, Self::Capabilities>;

    /// Writes the revision and the capabilities of the client as members of `_meta`; nothing for a revision whose requests have no such
    /// members.
    #[doc(hidden)]
    fn write_request_meta(&self, _: Revision, _: &mut Writer<'_>) {}

    /// The features that the capabilities declare, as bits: a type that depends on the configuration would make its lifetime
    /// invariant.
    #[doc(hidden)]
    fn declared_bits(&self) -> u16;

    /// The most that an answer of the core takes, apart from the id that it repeats.
    #[doc(hidden)]
    fn reserve(prepared: &PreparedConfig<Self>) -> usize;

    /// The settings that are no texts.
    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    #[doc(hidden)]
    fn without_texts(&self) -> Self::Unborrowed;
}

/// A [`ServerConfig`](crate::server::ServerConfig) or a [`ClientConfig`](crate::client::ClientConfig) as machines keep it: its
/// longest answer is measured, and its texts are searched for mistakes.
///
/// Conversion does not fail: a mistake is returned by `check` and by the `new` of each role, and `with_room` does not look for it.
///
/// Every function that takes a `PreparedConfig` takes a plain configuration as well. Prepare one for many machines of one
/// configuration, and for texts that are known at run time only: they are borrowed, or, with the feature `alloc`,
/// [shared](Self::shared).
///
/// ```
/// use mcp_proto::server::{Fixed, Server, ServerConfig};
/// use mcp_proto::{Machine, PreparedConfig};
///
/// let prepared = PreparedConfig::from(ServerConfig::new("demo", "1.0"));
/// let one = Server::new(prepared.clone(), Fixed::new())?;
/// let other = Server::new(prepared, Fixed::new())?;
/// assert_eq!(one.reserve(), other.reserve());
/// # Ok::<(), mcp_proto::ConfigError>(())
/// ```
///
/// It derefs to its configuration, for the settings. Once the texts are [shared](Self::shared), the fields for texts (`info`,
/// `instructions`, `capabilities`, `extension_revisions`, `methods`, `filters`, `result_types`) are empty there: do not make another
/// configuration of it by `..*prepared`. A constant configuration has no settings to change; it derefs to its `ServerConfig`.
///
/// With the feature `alloc`, on a target with atomic compare-and-swap, it is one allocation, which its clones and the machines that are
/// made of them share.
#[derive(Clone, Debug)]
pub struct PreparedConfig<C: Config>(Shared<ConfigParts<C>>);

/// With an allocator, what the machines of one configuration share.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
type Shared<T> = Arc<T>;
#[cfg(not(all(feature = "alloc", target_has_atomic = "ptr")))]
type Shared<T> = T;

#[derive(Clone, Debug)]
pub(crate) struct ConfigParts<C> {
    pub(crate) config: C,
    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    shared: Option<Arc<SharedTexts>>,
    /// The features that the capabilities declare, as bits.
    pub(crate) declared: u16,
    /// The most that an answer of the core takes, apart from the id that it repeats.
    reserve: usize,
    /// The first mistake in the texts.
    mistake: Option<ConfigError>,
}

impl<C: Config> PreparedConfig<C> {
    /// Changes settings, then measures and checks again. Texts can be changed until they are [shared](Self::shared); afterwards
    /// that is the mistake [`ConfigError::TextsAreShared`].
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut C)) -> Self {
        let parts = self.parts_mut();
        change(&mut parts.config);
        #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
        if parts.shared.is_some() {
            if !parts.is_without_texts() {
                parts.mistake = parts.mistake.or(Some(ConfigError::TextsAreShared));
            }
            self.measure();
            return self;
        }
        parts.config.into()
    }

    /// Returns the limits of the configuration.
    pub(crate) fn limits(&self) -> &Limits {
        self.0.config.limits()
    }

    fn of(parts: ConfigParts<C>) -> Self {
        #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
        let parts = Arc::new(parts);
        Self(parts)
    }

    /// Returns the parts for a change; a copy of them, if others share them.
    pub(crate) fn parts_mut(&mut self) -> &mut ConfigParts<C> {
        #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
        return Arc::make_mut(&mut self.0);
        #[cfg(not(all(feature = "alloc", target_has_atomic = "ptr")))]
        &mut self.0
    }

    fn measure(&mut self) {
        let reserve = C::reserve(self);
        self.parts_mut().reserve = reserve;
    }

    /// Copies the texts into memory that is freed with the last clone of this configuration and the
    /// last machine made of it. A clone copies no text.
    ///
    /// A `PreparedConfig<ServerConfig<'_>>` becomes a `PreparedConfig<ServerConfig<'static>>`, and that of a client likewise. Only
    /// the texts move: other settings stay readable, and can be changed by [`with`](Self::with).
    ///
    /// ```
    /// use mcp_proto::PreparedConfig;
    /// use mcp_proto::server::{Growing, Server, ServerConfig};
    ///
    /// fn server(tenant: &str) -> Result<Server<'static, Growing>, mcp_proto::ConfigError> {
    ///     let name = format!("notes of {tenant}");
    ///     let prepared = PreparedConfig::from(ServerConfig::new(&name, "1.0"));
    ///     Server::new(prepared.shared(), Growing)
    /// }
    /// assert!(server("ada").is_ok());
    /// ```
    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    #[must_use]
    pub fn shared(self) -> PreparedConfig<C::Unborrowed> {
        let parts = &*self.0;
        let config = &parts.config;
        let written = || {
            let request_meta =
                PerRevision::new(|revision, w| config.write_request_meta(revision, w));
            Arc::new(SharedTexts::of(&config.texts(), request_meta))
        };
        PreparedConfig::of(ConfigParts {
            shared: Some(parts.shared.clone().unwrap_or_else(written)),
            config: parts.config.without_texts(),
            declared: parts.declared,
            reserve: parts.reserve,
            mistake: parts.mistake,
        })
    }

    /// The features that the capabilities declare, as bits.
    pub(crate) fn declared_bits(&self) -> u16 {
        if C::IS_CONSTANT {
            return self.0.config.declared_bits();
        }
        self.0.declared
    }

    /// The most that an answer of the core takes, apart from the id that it repeats.
    pub(crate) fn reserve(&self) -> usize {
        self.0.reserve
    }

    /// The first mistake in the texts.
    pub(crate) fn mistake(&self) -> Option<ConfigError> {
        self.0.mistake
    }

    /// The least output of a machine that repeats ids of so many bytes.
    pub(crate) fn least_output(&self, id_echo: usize) -> usize {
        self.reserve().saturating_add(id_echo).saturating_add(1)
    }

    /// The texts, wherever they are.
    #[inline]
    pub(crate) fn texts(&self) -> Texts<'_, C> {
        #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
        if let Some(shared) = &self.0.shared {
            return Texts::Shared(shared);
        }
        Texts::Borrowed(&self.0.config)
    }
}

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
impl<C: Config> ConfigParts<C> {
    /// Returns true if no text is set beside those that are shared.
    fn is_without_texts(&self) -> bool {
        let texts = self.config.texts();
        texts.info.name == *""
            && texts.info.version == *""
            && texts.instructions.is_none()
            && texts.capabilities.extensions().is_none()
            && texts.methods.is_empty()
            && texts.filters.is_empty()
            && texts.result_types.is_empty()
            && texts.extension_revisions.is_empty()
            && self.config.declared_bits() == 0
    }
}

impl<C: Config> From<C> for PreparedConfig<C> {
    fn from(config: C) -> Self {
        let mut prepared = Self::of(ConfigParts {
            config,
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            shared: None,
            declared: config.declared_bits(),
            reserve: 0,
            mistake: config.texts().mistake(),
        });
        prepared.measure();
        prepared
    }
}

impl<C: Config> Deref for PreparedConfig<C> {
    type Target = C::Settings;

    #[inline]
    fn deref(&self) -> &C::Settings {
        self.0.config.settings()
    }
}

/// The texts by which a program describes itself.
#[derive(Clone, Copy)]
pub(crate) enum Texts<'t, C> {
    Borrowed(&'t C),
    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    Shared(&'t SharedTexts),
}

impl<'t, C: Config> Texts<'t, C> {
    /// Writes who the program is, as far as the revision has a place for it.
    pub(crate) fn write_info(self, revision: Revision, w: &mut Writer<'_>) {
        match self {
            Self::Borrowed(config) => config.texts().info.write(revision, w),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                w.literal(texts.info.get(revision));
            }
        }
    }

    /// Writes what the program can do, as far as the revision knows it.
    pub(crate) fn write_capabilities(self, revision: Revision, w: &mut Writer<'_>) {
        match self {
            Self::Borrowed(config) => {
                let extensions = ExtensionRevisions(config.texts().extension_revisions);
                config.texts().capabilities.write(revision, &extensions, w);
            }
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                w.literal(texts.capabilities.get(revision));
            }
        }
    }

    /// Writes the revision and the capabilities of the client as members of `_meta`; nothing for a revision whose requests have no such
    /// members.
    pub(crate) fn write_request_meta(self, revision: Revision, w: &mut Writer<'_>) {
        match self {
            Self::Borrowed(config) => config.write_request_meta(revision, w),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                w.literal(texts.request_meta.get(revision));
            }
        }
    }

    /// Writes the capabilities without the extensions that are not among `chosen`.
    pub(crate) fn write_capabilities_with(
        self,
        chosen: &[&str],
        revision: Revision,
        w: &mut Writer<'_>,
    ) {
        match self {
            Self::Borrowed(config) => {
                let extensions = ChosenExtensions {
                    names: chosen,
                    revisions: ExtensionRevisions(config.texts().extension_revisions),
                };
                config.texts().capabilities.write(revision, &extensions, w);
            }
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                write_chosen(texts.capabilities.get(revision), chosen, w);
            }
        }
    }

    pub(crate) fn instructions(self) -> Option<&'t str> {
        let borrowed = self.borrowed().and_then(|texts| texts.instructions);
        #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
        let borrowed = borrowed.or_else(|| self.shared()?.instructions.as_deref());
        borrowed
    }

    /// The methods beyond the protocol.
    pub(crate) fn methods(self) -> impl Iterator<Item = CustomMethod<'t>> {
        let borrowed = self.borrowed().map_or(&[][..], |texts| texts.methods);
        let methods = borrowed.iter().copied();
        #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
        let methods = {
            let shared = self.shared().map_or(&[][..], |texts| &texts.methods);
            methods.chain(shared.iter().map(SharedMethod::get))
        };
        methods
    }

    /// Returns the method of this name beyond the protocol.
    pub(crate) fn method(self, name: Str<'_>) -> Option<CustomMethod<'t>> {
        self.methods().find(|method| name == *method.name)
    }

    /// Returns true if there is a method of this name beyond the protocol.
    pub(crate) fn has_method(self, name: Str<'_>) -> bool {
        self.place_of(name).is_some()
    }

    /// Returns the place of the method of this name in the list.
    pub(crate) fn place_of(self, name: Str<'_>) -> Option<usize> {
        self.methods().position(|method| name == *method.name)
    }

    /// Returns the method at this place of the list.
    pub(crate) fn method_at(self, place: usize) -> Option<CustomMethod<'t>> {
        self.methods().nth(place)
    }

    /// The keys of a filter that the application judges.
    pub(crate) fn filters(self) -> impl Iterator<Item = &'t str> {
        let borrowed = self.borrowed().map_or(&[][..], |texts| texts.filters);
        let filters = borrowed.iter().copied();
        #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
        let filters = {
            let shared = self.shared().map_or(&[][..], |texts| &texts.filters);
            filters.chain(shared.iter().map(|key| &**key))
        };
        filters
    }

    /// Returns the types of results that a method may return on a request that declares these
    /// extensions, or all of them, as bits of their places in the list.
    pub(crate) fn result_types_of(self, method: Str<'_>, extensions: Option<&[&str]>) -> u32 {
        self.result_types(|_, extension, has| {
            extensions.is_none_or(|extensions| extensions.contains(&extension)) && has(method)
        })
    }

    /// Returns the bit of this type of results; 0 if no extension defines it.
    pub(crate) fn result_type(self, name: Str<'_>) -> u32 {
        self.result_types(|own, _, _| name == *own)
    }

    /// Returns the bits of the types of results of which `is` holds: of the name, of the extension,
    /// and of the function that returns true for the methods that may return the type.
    fn result_types(self, is: impl Fn(&str, &str, &dyn Fn(Str<'_>) -> bool) -> bool) -> u32 {
        let borrowed = self.borrowed().map_or(&[][..], |texts| texts.result_types);
        let found = borrowed.iter().map(|own| {
            let has = |method: Str<'_>| own.methods.iter().any(|own| method == **own);
            is(own.name, own.extension, &has)
        });
        #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
        let found = {
            let shared = self.shared().map_or(&[][..], |texts| &texts.result_types);
            found.chain(shared.iter().map(|own| {
                let has = |method: Str<'_>| own.methods.iter().any(|own| method == **own);
                is(&own.name, &own.extension, &has)
            }))
        };
        (0..).zip(found).fold(0, |types, (place, is_found)| {
            types | u32::from(is_found).checked_shl(place).unwrap_or_default()
        })
    }

    fn borrowed(self) -> Option<BorrowedTexts<'t, C::Capabilities>> {
        match self {
            Self::Borrowed(config) => Some(config.texts()),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(_) => None,
        }
    }

    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    const fn shared(self) -> Option<&'t SharedTexts> {
        match self {
            Self::Borrowed(_) => None,
            Self::Shared(texts) => Some(texts),
        }
    }
}

/// Declares the configuration of a role: its texts, then all other settings, each with its type and
/// its default.
macro_rules! config {
    (
        $(#[$outer:meta])*
        struct $name:ident<$life:lifetime>;
        texts { $($(#[$text_outer:meta])* $text:ident: $text_type:ty = $text_default:expr,)* }
        others { $($(#[$inner:meta])* $setting:ident: $type:ty = $default:expr,)* }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<$life> {
            $($(#[$text_outer])* pub $text: $text_type,)*
            $($(#[$inner])* pub $setting: $type,)*
        }

        impl<$life> $name<$life> {
            /// The defaults, without a name.
            const fn unnamed() -> Self {
                Self {
                    $($text: $text_default,)*
                    $($setting: $default,)*
                }
            }

            /// The settings that are no texts, with empty texts.
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            pub(super) fn others(&self) -> $name<'static> {
                $name {
                    $($setting: self.$setting,)*
                    ..$name::unnamed()
                }
            }
        }
    };
}

pub(crate) use config;
