//! The metadata documents of clients (AU-72), and where they may come from (AU-29).

use core::net::SocketAddr;

use mcp_async::http::HttpService;
use mcp_async::net::{HttpClient, RemoteAddr};

use super::support::{
    TOKEN, USER, authorize_url, get, get_request, login, post, provider_answers, server, service,
    tokens,
};
use crate::authorization::guard::{dialled, json_page, names, page, pages};
use crate::scripted::{Waiting, send};
use crate::sim::{self, Sim};

fn document(id: &str) -> String {
    format!(
        r#"{{"client_id":"{id}","client_name":"App","redirect_uris":["http://127.0.0.1/callback"]}}"#
    )
}

#[test]
fn a_document_is_fetched_and_kept_for_as_long_as_http_says() {
    let service = service();
    names(&[("localhost", &["127.0.0.1"])]);
    let id = "http://localhost:7/client.json";
    let fields = "content-type: application/json\r\ncache-control: max-age=600\r\n";
    pages([("/client.json", page("200 OK", fields, &document(id)))]);
    let first = get(&service, &authorize_url(id));
    assert_eq!(first.status, 200);
    assert!(first.whole().contains("<dd>http://localhost:7"));
    pages([]);
    assert_eq!(get(&service, &authorize_url(id)).status, 200);

    let other = "http://localhost:7/other.json";
    let fields = "content-type: application/json\r\ncache-control: no-store\r\n";
    pages([("/other.json", page("200 OK", fields, &document(other)))]);
    assert_eq!(get(&service, &authorize_url(other)).status, 200);
    pages([]);
    assert_eq!(get(&service, &authorize_url(other)).status, 400);
}

/// Slow hosts of documents take no place from the provider, and documents that are kept leave room for others.
#[test]
fn documents_of_clients_are_apart_from_the_provider() {
    provider_answers(TOKEN, USER);
    let service = service();
    let (client, _, refresh) = tokens(&service);
    names(&[("localhost", &["127.0.0.1"])]);
    let slow = "http://localhost:7/slow.json";
    pages([
        ("/slow.json", "HTTP/1.1 200 OK\r\n".into()),
        ("/user", json_page(USER)),
    ]);
    let mut waiting = Vec::new();
    // Each address gets half of what the ones before have left.
    for address in 0..8 {
        for _ in 0..32 {
            let mut request = get_request(&authorize_url(slow));
            let address = SocketAddr::from(([203, 0, 113, address], 40_000));
            request.extensions_mut().insert(RemoteAddr(address));
            let mut one = Waiting::new(&service, request);
            if one.poll().is_none() {
                waiting.push(one);
            }
        }
    }
    sim::settle();
    let form = format!("grant_type=refresh_token&client_id={client}&refresh_token={refresh}");
    assert_eq!(send(&service, post("/token", &form)).status, 200);
    drop(waiting);
}

#[test]
fn documents_that_are_kept_leave_room_for_others() {
    let service = service();
    names(&[("localhost", &["127.0.0.1"])]);
    let url = |number: usize| format!("http://localhost:7/{number}.json");
    let answer = |life: u32, number: usize| {
        let life = format!("content-type: application/json\r\ncache-control: max-age={life}\r\n");
        let page = page("200 OK", &life, &document(&url(number)));
        (format!("/{number}.json"), page)
    };
    for number in 0..300 {
        let (path, page) = answer(3_600, number);
        pages([(path.as_str(), page)]);
        assert_eq!(get(&service, &authorize_url(&url(number))).status, 200);
    }
    let (path, page) = answer(60, 300);
    pages([(path.as_str(), page)]);
    assert_eq!(get(&service, &authorize_url(&url(300))).status, 200);
    pages([]);
    assert_eq!(get(&service, &authorize_url(&url(300))).status, 200);
}

/// A file that a user has uploaded to a host is no document of the host. One that is wrong is fetched again.
#[test]
fn a_document_is_json_by_its_content_type() {
    let service = service();
    names(&[("localhost", &["127.0.0.1"])]);
    let id = "http://localhost:7/client.json";
    for (content_type, status) in [("text/plain", 400), ("application/json", 200)] {
        let fields = format!("content-type: {content_type}\r\n");
        pages([("/client.json", page("200 OK", &fields, &document(id)))]);
        assert_eq!(get(&service, &authorize_url(id)).status, status);
    }
}

/// A redirect is no document, also for a client of the operator that follows redirects.
#[test]
fn redirects_of_documents_are_not_followed() {
    let login = login().http_client(HttpClient::default());
    let http = server().http().delegate_login(login);
    let service = http.into_service(Sim).unwrap();
    names(&[("localhost", &["127.0.0.1"])]);
    let id = "http://localhost:7/client.json";
    let there = "location: http://localhost:7/there.json\r\n";
    pages([
        ("/client.json", page("307 Temporary Redirect", there, "")),
        ("/there.json", json_page(&document(id))),
    ]);
    assert_eq!(get(&service, &authorize_url(id)).status, 400);
}

/// AU-29: a client cannot make the server send requests into its network.
#[test]
fn documents_come_from_public_addresses() {
    let login = login().http_client(HttpClient::default());
    let with_client = server().http().delegate_login(login);
    for service in [service(), with_client.into_service(Sim).unwrap()] {
        check_public_addresses(&service);
    }
}

fn check_public_addresses(service: &HttpService) {
    names(&[
        ("inside.example", &["10.0.0.1"]),
        ("cloud.example", &["169.254.169.254"]),
    ]);
    pages([(
        "/client.json",
        json_page(&document("https://inside.example/client.json")),
    )]);
    for id in [
        "https://inside.example/client.json",
        "https://cloud.example/client.json",
        "https://10.0.0.1/client.json",
        "https://[::ffff:10.0.0.1]/client.json",
        "https://169.254.169.254/client.json",
        "http://public.example/client.json",
    ] {
        let reply = get(service, &authorize_url(id));
        assert_eq!(reply.status, 400, "{id}");
        assert_eq!(reply.header("location"), "");
    }
    assert!(dialled().is_empty());
}
