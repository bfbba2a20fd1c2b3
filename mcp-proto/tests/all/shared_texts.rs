//! Configurations whose texts are shared: their machines write the same bytes as those that borrow,
//! and the memory is freed with the last of them.

use allocation_counter::measure;
use mcp_proto::client::{self, Call, Client, ClientConfig, Negotiation};
use mcp_proto::json::{Map, Raw};
use mcp_proto::model::{
    ClientCapabilities, ClientFeatures, Icon, Implementation, ServerCapabilities, ServerFeatures,
};
use mcp_proto::rpc::{ErrorObject, Incoming, Message, Method};
use mcp_proto::server::{self, Event, Server, ServerConfig};
use mcp_proto::{
    Action, Channel, ConfigError, CustomMethod, Instant, Machine, Outcome, Pipe, PreparedConfig,
    ResultType, Revision, RevisionSet, SendError, Source,
};

const NOW: Instant = Instant::ZERO;

fn info(name: &str) -> Implementation<'_> {
    const ICONS: &[Icon<'_>] = &[];
    Implementation {
        title: Some("A \"title\"".into()),
        description: Some("what it is for".into()),
        website_url: Some("https://example.com".into()),
        icons: Some(ICONS.into()),
        ..Implementation::new(name, "1.0")
    }
}

fn server_config(name: &str) -> ServerConfig<'_> {
    ServerConfig {
        info: info(name),
        instructions: Some("Units are \"metric\"."),
        capabilities: ServerCapabilities {
            experimental: Some((&[("com.example/a", Raw::EMPTY_OBJECT)]).into()),
            extensions: Some(
                (&[
                    ("com.example/b", Raw::EMPTY_OBJECT),
                    ("com.example/old", Raw::EMPTY_OBJECT),
                ])
                    .into(),
            ),
            ..ServerFeatures::LOGGING
                .with(ServerFeatures::TOOLS)
                .with(ServerFeatures::TOOLS_LIST_CHANGED)
                .capabilities()
        },
        revisions: RevisionSet::of(&Revision::ALL),
        extension_revisions: const { &[("com.example/old", RevisionSet::all())] },
        methods: const { &[CustomMethod::new("vendor/reload")] },
        ..ServerConfig::new(name, "1.0")
    }
}

/// Everything that a server writes in answer to these lines.
fn answers(config: PreparedConfig<ServerConfig<'_>>, lines: &[String]) -> String {
    let mut server = Server::new(config, server::Growing).unwrap();
    let mut out = vec![0; 1 << 14];
    let mut written = String::new();
    for line in lines {
        let incoming = Incoming::Message(Message::parse(line.as_bytes(), 16));
        let sent = match server.handle(NOW, &Source::PIPE, incoming) {
            Action::Reply(reply) => server.reply(NOW, reply, &mut out).unwrap(),
            Action::Event(Event::Request { token, method, .. }) => {
                let outcome = match method {
                    Method::ToolsList => Outcome::Result(&Raw::EMPTY_OBJECT),
                    _ => Outcome::Error(ErrorObject::new(-1, "no")),
                };
                server.respond(token, outcome, &mut out).unwrap()
            }
            _ => continue,
        };
        written.push_str(core::str::from_utf8(&out[..sent.len]).unwrap());
        written.push('\n');
    }
    written
}

#[test]
fn a_server_writes_the_same_in_every_revision() {
    let name = String::from("a \"name\"");
    let config = server_config(&name);
    for revision in Revision::ALL {
        // Requests of a legacy session name no revision.
        let meta = if revision.is_legacy() {
            String::new()
        } else {
            format!(
                r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"{revision}","io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/clientInfo":{{"name":"c","version":"1"}}}}"#
            )
        };
        let lines = [
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
            ),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into(),
            format!(r#"{{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{{{meta}}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{{{meta}}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":4,"method":"vendor/reload","params":{{{meta}}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":5,"method":"vendor/other","params":{{{meta}}}}}"#),
        ];
        let borrowed = answers(config.into(), &lines);
        assert_eq!(
            answers(PreparedConfig::from(config).shared(), &lines),
            borrowed,
            "{revision}"
        );
        assert!(
            borrowed.contains(r#"a \"name\""#) && borrowed.contains(r#""code":-1,"#),
            "{borrowed}"
        );
    }
}

#[test]
fn shared_texts_are_measured_like_borrowed_ones() {
    let config = server_config("demo");
    let shared = PreparedConfig::from(config).shared();
    let one = Server::new(config, server::Growing).unwrap();
    let other = Server::new(shared, server::Growing).unwrap();
    assert_eq!(one.reserve(), other.reserve());
}

#[test]
fn a_changed_configuration_is_measured_anew() {
    fn change(config: &mut ServerConfig<'_>) {
        config.revisions = RevisionSet::of(&[Revision::V2024_11_05]);
    }
    fn reserve(config: PreparedConfig<ServerConfig<'_>>) -> usize {
        Server::new(config, server::Growing).unwrap().reserve()
    }
    let config = PreparedConfig::from(server_config("demo"));
    let shared = reserve(config.clone().shared().with(change));
    assert_eq!(shared, reserve(config.clone().with(change)));
    assert!(shared < reserve(config));
}

#[test]
fn a_text_that_is_changed_after_the_others_were_shared_is_a_mistake() {
    let shared = PreparedConfig::from(server_config("demo")).shared();
    let late = shared
        .clone()
        .with(|config| config.instructions = Some("late"));
    let server = Server::new(late, server::Growing);
    assert_eq!(server.err(), Some(ConfigError::TextsAreShared));
    let late = shared.clone().with(|config| {
        config.capabilities = ServerFeatures::LOGGING.capabilities();
    });
    let server = Server::new(late, server::Growing);
    assert_eq!(server.err(), Some(ConfigError::TextsAreShared));
    let other = shared.with(|config| config.null_ids = true);
    assert!(Server::new(other, server::Growing).is_ok());
}

/// Compiles while the lifetimes of configurations are covariant.
#[test]
fn lifetimes_may_be_shorter() {
    fn shorter<'a>(
        server: Server<'static, server::Growing>,
        client: Client<'static, client::Growing>,
        _: &'a str,
    ) -> (Server<'a, server::Growing>, Client<'a, client::Growing>) {
        (server, client)
    }
    let server = Server::new(ServerConfig::new("s", "1"), server::Growing).unwrap();
    let client = Client::new(ClientConfig::new("c", "1"), client::Growing).unwrap();
    let name = String::from("for a while");
    assert!(shorter(server, client, &name).0.revision().is_none());
}

/// What a client says first, and in the requests of a modern server.
fn requests(config: PreparedConfig<ClientConfig<'_>>) -> String {
    let mut client = Client::new(config, client::Growing).unwrap();
    let mut out = vec![0; 1 << 14];
    let mut written = String::new();
    client.connect(NOW).unwrap();
    let discovered = br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}}"#;
    let own = br#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"com.example/own"}}"#;
    let other = br#"{"jsonrpc":"2.0","id":3,"result":{"resultType":"com.example/own"}}"#;
    for line in [&discovered[..], own, other] {
        while let Some(sent) = client.poll_transmit(NOW, Channel::PIPE, &mut out).unwrap() {
            written.push_str(core::str::from_utf8(&out[..sent.len]).unwrap());
        }
        let incoming = Incoming::Message(Message::parse(line, 16));
        let action = client.handle(NOW, &Pipe, incoming);
        if let Action::Event(client::Event::Answer { outcome, .. }) = &action {
            written.push_str(if outcome.is_ok() { " ok " } else { " failed " });
        }
        for extensions in [None, Some(&["com.example/old"][..])] {
            let call = Call {
                extensions,
                ..Call::new(Method::ToolsList)
            };
            match client.call(NOW, &call, &mut out) {
                Ok((_, sent)) => written.push_str(core::str::from_utf8(&out[..sent.len]).unwrap()),
                Err(SendError::NotReady | SendError::Closed) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
    written
}

#[test]
fn a_client_writes_the_same_in_every_revision() {
    let name = String::from("a \"name\"");
    let (form, url) = (
        ClientFeatures::ELICITATION_FORM,
        ClientFeatures::ELICITATION_URL,
    );
    let extensions = [
        ("com.example/new", Raw::EMPTY_OBJECT),
        ("com.example/old", Raw::EMPTY_OBJECT),
    ];
    let modes = [
        ClientFeatures::NONE,
        ClientFeatures::ELICITATION,
        form,
        url,
        form.with(url),
    ];
    for (revision, elicitation) in Revision::ALL
        .into_iter()
        .flat_map(|revision| modes.map(|mode| (revision, mode)))
    {
        let config = ClientConfig {
            info: info(&name),
            capabilities: ClientCapabilities {
                features: elicitation,
                extensions: Some(Map::new(&extensions)),
                ..ClientCapabilities::default()
            },
            result_types: &[ResultType {
                name: "com.example/own",
                extension: "com.example/new",
                methods: &["tools/list"],
            }],
            extension_revisions: &[("com.example/old", RevisionSet::all())],
            revisions: RevisionSet::of(&[revision]),
            negotiation: Negotiation::Handshake,
            ..ClientConfig::new(&name, "1.0")
        };
        let borrowed = requests(config.into());
        assert_eq!(
            requests(PreparedConfig::from(config).shared()),
            borrowed,
            "{revision}"
        );
        assert!(borrowed.contains(r#"a \"name\""#), "{borrowed}");
    }
}

#[test]
fn shared_texts_are_freed_with_their_last_machine() {
    let used = measure(|| {
        for tenant in 0..32 {
            let name = format!("tenant {tenant}");
            let config = PreparedConfig::from(server_config(&name)).shared();
            let one = Server::new(config.clone(), server::Growing).unwrap();
            let other = Server::new(config, server::Growing).unwrap();
            drop((name, one));
            drop(other);
            let name = format!("tenant {tenant}");
            let config = PreparedConfig::from(ClientConfig::new(&name, "1.0")).shared();
            drop(Client::new(config, client::Growing).unwrap());
        }
    });
    assert_eq!(used.bytes_current, 0);
    let config = PreparedConfig::from(server_config("demo")).shared();
    assert_eq!(measure(|| drop(config.clone())).count_total, 0);
}
