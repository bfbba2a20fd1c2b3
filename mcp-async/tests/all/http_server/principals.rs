//! Who sends a request, and what that proves.

use mcp_async::Server;
use mcp_async::http::HttpService;
use mcp_async::server::layers::around;
use mcp_async::server::{Context, Principal, ServerBuilder};
use mcp_proto::rpc::Method;
use serde::{Deserialize, Serialize};

use crate::http_server::nodes::{at, epoch, pass, processes_of};
use crate::scripted::{HttpClient, RequestExt, Serve, call, modern, post, send};

#[derive(Serialize, Deserialize)]
struct Scope(String);

#[derive(Clone)]
struct User(u32);

fn server() -> ServerBuilder {
    tool(Server::builder("demo", "1.0"))
}

fn tool(server: ServerBuilder) -> ServerBuilder {
    server.tool("whose", "Says who asks", |(): (), cx: Context| async move {
        let principal = cx.principal();
        let name = principal.map_or("nobody", Principal::name);
        let scope = principal.and_then(Principal::claims::<Scope>);
        let scope = scope.map_or("nothing", |scope| &scope.0);
        let of_peer = cx.peer().principal();
        let of_peer = of_peer.as_ref().and_then(Principal::claims::<Scope>);
        assert_eq!(of_peer.map_or("nothing", |scope| &scope.0), scope);
        let user = cx.extension::<User>().map_or(0, |user| user.0);
        Ok(format!("{name} may {scope} as {user}"))
    })
}

fn service() -> HttpService {
    server().http().served()
}

fn ada(scope: &str) -> Principal {
    Principal::new("ada").with_claims(Scope(scope.into()))
}

const WHO: &str = r#"1 tools/call {"name":"whose","arguments":{}}"#;

/// Every request of a session has claims of its own.
#[test]
fn claims_are_those_of_the_request() {
    let service = service();
    for scope in ["read", "write"] {
        let reply = send(&service, modern(WHO).extend(ada(scope)));
        reply.says(200, [&format!("ada may {scope} ")]);
    }
    let session = HttpClient::open_as(&service, "2025-11-25", Some(ada("open")));
    for scope in ["read", "write"] {
        let session = session.used_by(Some(ada(scope)));
        let reply = session.post(&call(1, "whose"));
        reply.says(200, [&format!("ada may {scope} ")]);
    }
}

/// The store keeps the name; the claims come with each request, which another process may forward.
#[test]
fn a_session_that_is_shared_has_the_claims_of_each_request() {
    let [first, second] = processes_of(tool, |http| http.share_claims::<Scope>("scope"));
    let here = HttpClient::open_as(&first.service, "2025-11-25", Some(ada("open")));
    let who = |scope| {
        let there = at(&second, &here).used_by(Some(ada(scope)));
        let reply = there.post(&call(1, "whose"));
        reply.says(200, [&format!("ada may {scope} ")]);
    };
    who("read");
    first.kill();
    pass(16);
    who("resume");
    assert_eq!(epoch(&second, &here), 1);
}

/// Claims that are not shared stay where they were verified.
#[test]
fn claims_that_are_not_shared_are_not_forwarded() {
    let [first, second] = processes_of(tool, |http| http);
    let here = HttpClient::open_as(&first.service, "2025-11-25", Some(ada("open")));
    let reply = at(&second, &here).post(&call(1, "whose"));
    reply.says(200, ["ada may nothing "]);
}

#[test]
fn what_middleware_adds_reaches_handlers() {
    let service = service();
    send(&service, modern(WHO).extend(User(7))).says(200, ["as 7"]);
    let layered = server().layer(around(|mut call, service| {
        if call.method == Method::ToolsCall {
            call.set_extension(User(1));
            call.set_extension(User(2));
        }
        service.call(call)
    }));
    let layered = layered.http().served();
    send(&layered, modern(WHO).extend(User(7))).says(200, ["as 2"]);
    let session = HttpClient::open(&service, "2025-06-18");
    let reply = session.send(post(&call(1, "whose")).extend(User(9)));
    reply.says(200, ["nobody may nothing as 9"]);
}
