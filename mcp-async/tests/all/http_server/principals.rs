//! Who sends a request, and what that proves.

use http::Request;
use mcp_async::Server;
use mcp_async::http::{HttpService, Principal};
use mcp_async::server::layers::around;
use mcp_async::server::{Context, ServerBuilder};
use mcp_proto::rpc::Method;
use serde::{Deserialize, Serialize};

use crate::http_server::nodes::{at, epoch, pass, processes_of};
use crate::scripted::{Session, call, modern, post, request, send};
use crate::sim::Sim;

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
    server().http().into_service(Sim).unwrap()
}

fn with<T: Clone + Send + Sync + 'static>(mut request: Request<&str>, value: T) -> Request<&str> {
    request.extensions_mut().insert(value);
    request
}

fn ada(scope: &str) -> Principal {
    Principal::new("ada").with_claims(Scope(scope.into()))
}

const WHO: &str = r#""name":"whose","arguments":{}"#;

/// Every request of a session has claims of its own.
#[test]
fn claims_are_those_of_the_request() {
    let service = service();
    let body = request(1, "tools/call", WHO);
    for scope in ["read", "write"] {
        let reply = send(&service, with(modern(&body), ada(scope)));
        let text = reply.whole();
        assert!(text.contains(&format!("ada may {scope} ")), "{text}");
    }
    let session = Session::open_as(&service, "2025-11-25", Some(ada("open")));
    for scope in ["read", "write"] {
        let session = Session {
            principal: Some(ada(scope)),
            id: session.id.clone(),
            service: service.clone(),
            ..session
        };
        let text = session.post(&call(1, "whose")).whole();
        assert!(text.contains(&format!("ada may {scope} ")), "{text}");
    }
}

/// The store keeps the name; the claims come with each request, which another process may forward.
#[test]
fn a_session_that_is_shared_has_the_claims_of_each_request() {
    let [first, second] = processes_of(tool, |http| http.share_claims::<Scope>("scope"));
    let here = Session::open_as(&first.service, "2025-11-25", Some(ada("open")));
    let who = |scope| {
        let there = Session {
            principal: Some(ada(scope)),
            ..at(&second, &here)
        };
        let text = there.post(&call(1, "whose")).whole();
        assert!(text.contains(&format!("ada may {scope} ")), "{text}");
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
    let here = Session::open_as(&first.service, "2025-11-25", Some(ada("open")));
    let text = at(&second, &here).post(&call(1, "whose")).whole();
    assert!(text.contains("ada may nothing "), "{text}");
}

#[test]
fn what_middleware_adds_reaches_handlers() {
    let service = service();
    let body = request(1, "tools/call", WHO);
    let text = send(&service, with(modern(&body), User(7))).whole();
    assert!(text.contains("as 7"), "{text}");
    let layered = server().layer(around(|mut call, service| {
        if call.method == Method::ToolsCall {
            call.set_extension(User(1));
            call.set_extension(User(2));
        }
        service.call(call)
    }));
    let layered = layered.http().into_service(Sim).unwrap();
    let text = send(&layered, with(modern(&body), User(7))).whole();
    assert!(text.contains("as 2"), "{text}");
    let session = Session::open(&service, "2025-06-18");
    let body = call(1, "whose");
    let text = session.send(with(post(&body), User(9))).whole();
    assert!(text.contains("nobody may nothing as 9"), "{text}");
}
