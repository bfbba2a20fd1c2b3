//! The configuration of a server as a constant.

use core::fmt;
use core::marker::PhantomData;

use super::config::ServerConfig;
use super::storage::Storage;
use super::{Server, reply};
use crate::limits::Limits;
use crate::model::{ServerCapabilities, ServerFeatures};
use crate::prepared_config::{Config, PreparedConfig};
use crate::texts::BorrowedTexts;

/// A configuration of a server as an associated constant, for [`Server::constant`].
///
/// ```
/// use mcp_proto::ConfigError;
/// use mcp_proto::server::{ConstantConfig, ConstantServer, Fixed, Server, ServerConfig};
///
/// struct Demo;
///
/// impl ConstantConfig for Demo {
///     const CONFIG: ServerConfig<'static> = ServerConfig::new("demo", "1.0");
/// }
///
/// struct Program {
///     server: ConstantServer<Demo, Fixed>,
/// }
///
/// fn program() -> Result<Program, ConfigError> {
///     let server = Server::constant(Fixed::new())?;
///     Ok(Program { server })
/// }
/// # program().map(|program| assert_eq!(program.server.config().info.version, *"1.0")).unwrap();
/// ```
pub trait ConstantConfig {
    /// The configuration.
    const CONFIG: ServerConfig<'static>;
}

/// The configuration `T::CONFIG` of a server with the storage `S`, in the type of that server.
pub struct Constant<T, S>(PhantomData<(T, S)>);

/// A server whose configuration is the constant of `T`, with the storage `S`: made by [`Server::constant`].
pub type ConstantServer<T, S> = Server<'static, S, Constant<T, S>>;

impl<T: ConstantConfig, S: Storage> Constant<T, S> {
    const CONFIG: ServerConfig<'static> = {
        let mut config = T::CONFIG;
        config.revisions = config.revisions.of_eras(S::LEGACY, S::MODERN);
        config
    };
    const FEATURES: ServerFeatures = Self::CONFIG.capabilities.features.with_parents();

    pub(super) const NEW: Self = Self(PhantomData);
}

impl<T: ConstantConfig, S: Storage> Config for Constant<T, S> {
    type Settings = ServerConfig<'static>;
    type Capabilities = ServerCapabilities<'static>;
    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    type Unborrowed = Self;

    const IS_CONSTANT: bool = true;

    #[inline(always)]
    fn settings(&self) -> &ServerConfig<'static> {
        &const { Self::CONFIG }
    }

    fn settings_mut(&mut self) -> Option<&mut ServerConfig<'static>> {
        None
    }

    #[inline(always)]
    fn limits(&self) -> &Limits {
        &self.settings().limits
    }

    #[inline(always)]
    fn texts(&self) -> BorrowedTexts<'_, ServerCapabilities<'static>> {
        self.settings().texts()
    }

    #[inline(always)]
    fn declared_bits(&self) -> u16 {
        let features = const { Self::FEATURES };
        let features = match self.settings().capabilities.extensions {
            None => features,
            extensions => features.with_extensions(extensions),
        };
        features.to_bits()
    }

    fn reserve(prepared: &PreparedConfig<Self>) -> usize {
        reply::reserve(prepared)
    }

    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    fn without_texts(&self) -> Self {
        *self
    }
}

impl<T, S> Clone for Constant<T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, S> Copy for Constant<T, S> {}

impl<T, S> fmt::Debug for Constant<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Constant")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::{Incoming, Message};
    use crate::server::{Fixed, LegacyOnly, ModernOnly, WithoutSubscriptions};
    use crate::{Action, Instant, Machine, Pipe};

    struct Everything;

    impl ConstantConfig for Everything {
        const CONFIG: ServerConfig<'static> = ServerConfig {
            instructions: Some("Ask \"twice\"."),
            capabilities: ServerFeatures::PROMPTS_LIST_CHANGED
                .with(ServerFeatures::TASKS_TOOLS_CALL)
                .with(ServerFeatures::TASKS_EXTENSION)
                .capabilities(),
            ..ServerConfig::new("demo", "1.0")
        };
    }

    struct Subscribed;

    impl ConstantConfig for Subscribed {
        const CONFIG: ServerConfig<'static> = ServerConfig {
            capabilities: ServerFeatures::RESOURCES_SUBSCRIBE.capabilities(),
            ..ServerConfig::new("demo", "1.0")
        };
    }

    struct Filtered;

    impl ConstantConfig for Filtered {
        const CONFIG: ServerConfig<'static> = ServerConfig {
            filters: &["notes"],
            ..ServerConfig::new("demo", "1.0")
        };
    }

    struct Silent;

    impl ConstantConfig for Silent {
        const CONFIG: ServerConfig<'static> = ServerConfig::new("demo", "1.0");
    }

    const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#;
    const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

    fn answer<
        'c,
        S: Storage<Place = crate::source::Pipe>,
        C: Config<Settings = ServerConfig<'c>>,
    >(
        server: &mut Server<'c, S, C>,
        request: &str,
    ) -> std::string::String {
        let message = Message::parse(request.as_bytes(), 16);
        let mut out = [0; 1024];
        let Action::Reply(reply) = server.handle(Instant::ZERO, &Pipe, Incoming::Message(message))
        else {
            panic!("the core answers");
        };
        let written = server.reply(Instant::ZERO, reply, &mut out).unwrap();
        core::str::from_utf8(&out[..written.len]).unwrap().into()
    }

    fn check<S: Storage<Place = crate::source::Pipe> + Copy>(storage: S) {
        let mut constant = Server::constant::<Everything>(storage).unwrap();
        let mut plain = Server::new(Everything::CONFIG, storage).unwrap();
        // `plain` is measured for all revisions, before the storage leaves some out.
        assert!(constant.reserve() <= plain.reserve());
        assert_eq!(constant.config().revisions, plain.config().revisions);
        assert_eq!(constant.config().declared(), plain.config().declared());
        for request in [DISCOVER, INITIALIZE] {
            assert_eq!(answer(&mut constant, request), answer(&mut plain, request));
        }
    }

    #[test]
    fn constant_settings_are_served_as_others_are() {
        check(Fixed::new());
        check(LegacyOnly(Fixed::new()));
        check(ModernOnly(Fixed::new()));
    }

    #[test]
    fn constant_settings_are_checked() {
        let refused = Some(crate::ConfigError::NoRoomForSubscriptions);
        let without_uris = Server::constant::<Subscribed>(Fixed::<4, 0, 0, 0, 64>);
        assert_eq!(without_uris.err(), refused);
        let promised = Server::constant::<Everything>(WithoutSubscriptions(Fixed::new()));
        assert_eq!(promised.err(), refused);
        let filtered = Server::constant::<Filtered>(WithoutSubscriptions(Fixed::new()));
        assert_eq!(filtered.err(), refused);
        // No filter comes in legacy revisions.
        let storage = WithoutSubscriptions(LegacyOnly(Fixed::new()));
        assert!(Server::constant::<Filtered>(storage).is_ok());
        assert!(Server::constant::<Filtered>(LegacyOnly(Fixed::new())).is_ok());
    }

    #[test]
    fn a_listen_is_an_unknown_method_where_none_are_served() {
        let mut server = Server::constant::<Silent>(WithoutSubscriptions(Fixed::new())).unwrap();
        let listen = DISCOVER.replace("server/discover", "subscriptions/listen");
        let answer = answer(&mut server, &listen);
        assert!(answer.contains("-32601"), "{answer}");
    }
}
