//! Listens that the application judges, and notifications of its own, over HTTP: EX-13, EX-14.

use mcp_proto::json::Raw;
use mcp_proto::rpc::{ErrorObject, Method};
use mcp_proto::server::http::{Commands, ExchangeId, HttpOptions};
use mcp_proto::server::{Growing, Server, ServerConfig};
use mcp_proto::{CustomMethod, Outcome, SendError};

use super::site::Site;

const LISTEN: &str = r#"{"jsonrpc":"2.0","id":5,"method":"subscriptions/listen","params":{"notifications":{"notes":["a","b"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// A site that listens for notes, and the exchange of one listen.
fn listening() -> (Site, ExchangeId) {
    let config = ServerConfig {
        methods: const { &[CustomMethod::new("notifications/notes")] },
        filters: &["notes"],
        ..ServerConfig::new("s", "1")
    };
    let mut site = Site::serving(config, HttpOptions::default());
    let fields = "mcp-protocol-version: 2026-07-28; mcp-method: subscriptions/listen; accept: */*";
    let exchange = site.send("POST", fields, LISTEN);
    site.reads(exchange, "..").sees(&["held"]);
    (site, exchange)
}

/// Does something for the listen.
fn with<T>(site: &mut Site, act: impl FnOnce(&mut Commands<'_, 'static>) -> T) -> T {
    let (machine, _) = site.app.calls[0];
    act(&mut site
        .served
        .http
        .commands(machine)
        .expect("the machine is there"))
}

#[test]
fn ex_13_an_accepted_listen_is_a_stream() {
    let (mut site, exchange) = listening();
    let (_, token) = site.app.calls[0];
    let told = Method::from("notifications/notes");
    let notify = |site: &mut Site| {
        with(site, |it| {
            let write = |server: &mut Server<'static, Growing>, out: &mut [u8]| {
                server.notify_for(token, told, None, out)
            };
            it.send(Some(token), write).map(drop)
        })
    };
    let early = notify(&mut site);
    assert_eq!(early, Err(SendError::NotReady));
    site.reads(exchange, "..");
    let accepted = Raw::parse(br#"["a"]"#, 2).unwrap();
    with(&mut site, |it| {
        it.put(|server, out| server.acknowledge(token, &[("notes", &accepted)], out))
            .map(drop)
    })
    .unwrap();
    site.reads(exchange, "200 subscriptions/acknowledged ..");
    notify(&mut site).unwrap();
    site.reads(exchange, "notes ..");
    with(&mut site, |it| it.end_listen(token));
    site.reads(exchange, "result");
    site.is_empty();
}

#[test]
fn ex_13_a_refused_listen_has_the_status_of_its_error() {
    for (code, status) in [(-32021, 400), (-32601, 404), (-32602, 200)] {
        let (mut site, exchange) = listening();
        let (now, (_, token)) = (site.served.now, site.app.calls[0]);
        let error = Outcome::Error(ErrorObject::new(code, "no"));
        with(&mut site, |it| it.respond(now, token, error)).unwrap();
        site.reads(exchange, &format!("{status} {code}")).is_empty();
    }
}

#[test]
fn a_held_listen_ends_with_its_exchange() {
    let (mut site, exchange) = listening();
    site.hang_up(exchange).sees(&["cancelled"]);
    site.is_empty();
}
