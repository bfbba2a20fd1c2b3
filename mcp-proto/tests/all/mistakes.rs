//! Mistakes of configurations, each refused with its reason where a machine is made.

use mcp_proto::client::{self, Client, ClientConfig};
use mcp_proto::model::{ClientFeatures, ServerFeatures};
use mcp_proto::server::{self, Server, ServerConfig};
use mcp_proto::{ConfigError, CustomMethod, PingPolicy, ResultType, RevisionSet};

const TWICE: [CustomMethod<'_>; 2] = [CustomMethod::new("a/b"), CustomMethod::new("a/b")];
const KNOWN: [CustomMethod<'_>; 1] = [CustomMethod::new("tools/call")];
const ALIAS: [CustomMethod<'_>; 1] = [CustomMethod::new("$/cancelRequest")];
const UNDECLARED: [(&str, RevisionSet); 1] = [("a.b/c", RevisionSet::all())];

/// SC-17: the header `Mcp-Method` is the exact name.
#[test]
fn names_of_methods_that_no_header_can_carry() {
    for (name, expected) in [
        (r#"a/"b\c""#, Ok(())),
        ("", Err(ConfigError::MethodName)),
        ("a/é", Err(ConfigError::MethodName)),
        ("a/\n", Err(ConfigError::MethodName)),
        (" a", Err(ConfigError::MethodName)),
        ("=?base64?YQ==?=", Err(ConfigError::MethodName)),
    ] {
        let methods = &[CustomMethod::new(name)];
        let config = ServerConfig {
            methods,
            ..ServerConfig::new("s", "1")
        };
        let made = Server::new(config, server::Fixed::new()).map(drop);
        assert_eq!(made, expected, "{name}");
        let config = ClientConfig {
            methods,
            ..ClientConfig::new("c", "1")
        };
        let made = Client::new(config, client::Fixed::new()).map(drop);
        assert_eq!(made, expected, "{name}");
    }
}

#[test]
fn of_servers() {
    let good = ServerConfig::new("s", "1");
    let with_methods = |methods| ServerConfig { methods, ..good };
    let with_filters = |filters| ServerConfig { filters, ..good };
    for (config, expected) in [
        (good, Ok(())),
        (
            ServerConfig {
                revisions: RevisionSet::of(&[]),
                ..good
            },
            Err(ConfigError::NoRevision),
        ),
        (with_methods(&TWICE), Err(ConfigError::MethodTwice)),
        (with_methods(&KNOWN), Err(ConfigError::MethodOfProtocol)),
        (with_methods(&ALIAS), Err(ConfigError::MethodOfProtocol)),
        (with_methods(&TWICE[1..]), Ok(())),
        (with_filters(&["a", "b"]), Ok(())),
        (with_filters(&["a", "a"]), Err(ConfigError::FilterKey)),
        (
            with_filters(&["resourceSubscriptions"]),
            Err(ConfigError::FilterKey),
        ),
        (
            with_filters(&["promptsListChanged"]),
            Err(ConfigError::FilterKey),
        ),
        (
            ServerConfig {
                extension_revisions: &UNDECLARED,
                ..good
            },
            Err(ConfigError::ExtensionUndeclared),
        ),
        (
            ServerConfig {
                ping: Some(PingPolicy::default()),
                ..good
            },
            Err(ConfigError::NoRoomForPings),
        ),
        (
            ServerConfig {
                capabilities: ServerFeatures::RESOURCES_SUBSCRIBE.capabilities(),
                ..good
            },
            Err(ConfigError::NoRoomForSubscriptions),
        ),
    ] {
        let made = Server::new(config, server::Fixed::new()).map(drop);
        assert_eq!(made, expected, "{config:?}");
    }
    // With the tables for them.
    let config = ServerConfig {
        ping: Some(PingPolicy::default()),
        capabilities: ServerFeatures::RESOURCES_SUBSCRIBE.capabilities(),
        ..good
    };
    let storage = server::Fixed::new().questions::<1>().uris::<64>();
    assert!(Server::new(config, storage).is_ok());
}

#[test]
fn of_clients() {
    let good = ClientConfig::new("c", "1");
    let with_methods = |methods| ClientConfig { methods, ..good };
    let types = [ResultType {
        name: "a",
        extension: "a.b/c",
        methods: &[],
    }; 33];
    let with_types = |result_types| ClientConfig {
        result_types,
        ..good
    };
    for (config, expected) in [
        (good, Ok(())),
        (
            ClientConfig {
                revisions: RevisionSet::of(&[]),
                ..good
            },
            Err(ConfigError::NoRevision),
        ),
        (
            ClientConfig {
                capabilities: ClientFeatures::ROOTS.capabilities(),
                ..good
            },
            Err(ConfigError::NoRoomForQuestions),
        ),
        // Questions of the modern era come in results.
        (
            ClientConfig {
                capabilities: ClientFeatures::ROOTS.capabilities(),
                revisions: RevisionSet::modern(),
                ..good
            },
            Ok(()),
        ),
        (with_methods(&TWICE), Err(ConfigError::MethodTwice)),
        (with_methods(&KNOWN), Err(ConfigError::MethodOfProtocol)),
        (with_types(&types[1..]), Ok(())),
        (with_types(&types), Err(ConfigError::TooManyResultTypes)),
        (
            ClientConfig {
                extension_revisions: &UNDECLARED,
                ..good
            },
            Err(ConfigError::ExtensionUndeclared),
        ),
    ] {
        let made = Client::new(config, client::Fixed::new()).map(drop);
        assert_eq!(made, expected, "{config:?}");
    }
}
