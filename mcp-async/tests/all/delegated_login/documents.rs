//! The metadata documents of clients (AU-72), and where they may come from (AU-29).

use super::support::{authorize_url, get, json, service};
use crate::authorization::guard::{dialled, names, page, pages};

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

/// AU-29: a client cannot make the server send requests into its network.
#[test]
fn documents_come_from_public_addresses() {
    let service = service();
    names(&[
        ("inside.example", &["10.0.0.1"]),
        ("cloud.example", &["169.254.169.254"]),
    ]);
    pages([(
        "/client.json",
        json(&document("https://inside.example/client.json")),
    )]);
    for id in [
        "https://inside.example/client.json",
        "https://cloud.example/client.json",
        "https://10.0.0.1/client.json",
        "https://[::ffff:10.0.0.1]/client.json",
        "https://169.254.169.254/client.json",
        "http://public.example/client.json",
    ] {
        let reply = get(&service, &authorize_url(id));
        assert_eq!(reply.status, 400, "{id}");
        assert_eq!(reply.header("location"), "");
    }
    assert!(dialled().is_empty());
}
