//! Logging in at servers that ask for it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Stdio;

use mcp_tokio::auth::{CredentialStore, FileCredentialStore};

use super::http::{Answer, Asked, Site, serve};
use super::run::{Ran, command, finish, put_browsers};
use super::terminal::Person;

#[test]
fn without_a_terminal_the_user_is_told_to_log_in() {
    let home = Home::new("untold");
    let site = protected("");
    let wanted = format!(
        "the server wants a login at {} (scopes: files)",
        site.origin
    );
    let ran = home.client(&["info", "--", &site.url()]);
    ran.ended(3, &wanted);
    let hint = format!("log in first, in a terminal: mcp-cmd {}\n", site.url());
    ran.ended(3, &hint);
    let ran = home.client(&["--login", "none", "info", "--", &site.url()]);
    ran.ended(3, &wanted);
    ran.ended(3, "--login none forbids to log in");
    let header = ["--header", "Authorization: Bearer mine"];
    let ran = home.client(&[&header[..], &["--json", &site.url()]].concat());
    ran.ended(
        3,
        "the server refuses the header Authorization (status 401, invalid_token: no such key); it wants a login at",
    );
    assert!(ran.member("error.message").contains(&site.origin));
}

#[test]
fn a_server_without_metadata_names_what_it_lacks() {
    let home = Home::new("bare");
    let challenge = "401 Unauthorized\nwww-authenticate: Bearer error=\"invalid_token\", error_description=\"mine is none\", scope=\"files\"";
    let site = Site::new(move |asked| match asked.line.as_str() {
        "POST /mcp" => (challenge, String::new()),
        _ => ("404 Not Found", String::new()),
    });
    let header = ["--header", "Authorization: Bearer mine"];
    let ran = home.client(&[&header[..], &[&site.url()]].concat());
    ran.ended(
        3,
        "answered with status 401, invalid_token: ... is none (scopes: files)",
    );
}

#[test]
fn issuers_that_differ_by_a_slash() {
    let home = Home::new("slash");
    let site = protected("/tenant/");
    let ran = home.client(&["info", "--", &site.url()]);
    ran.ended(3, "`issuer` must be");
    let ran = home.client(&["info", "--ignore-issuer-slash", "--", &site.url()]);
    ran.ended(3, "log in first");
}

#[test]
fn another_process_logs_in() {
    let home = Home::new("locked");
    let site = protected("");
    let store = FileCredentialStore::new(home.0.join("mcp-cmd").join("credentials"));
    let url = site.url();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let lock = runtime.build().unwrap().block_on(store.lock(&url)).unwrap();
    let ran = home.client(&["info", "--", &url]);
    ran.ended(3, "another process is logging in at this server; try again");
    let mut person = home.person(&["info", "--", &url]);
    person.sees("another process is logging in at this server; waiting for it");
    drop(lock);
    person.sees("Log in at ");
}

#[test]
fn a_server_that_refuses_a_new_token_asks_once() {
    let home = Home::new("refused");
    let site = protected("");
    let mut person = home.person(&[&site.url(), "call", "hello"]);
    person.sees("Log in at ");
    browse(&person.sees("\r\n"));
    person.sees("the new token was refused with status 401 and error invalid_token (no such key)");
    assert_eq!(person.leaves(), Some(3));
    assert_eq!(site.count("POST /token"), 1);
    // The token is stored, and is refused again.
    home.client(&["info", "--", &site.url()]).ended(
        3,
        "the server refuses the stored token (status 401, invalid_token: no such key)",
    );
    let mut person = home.person(&[&site.url(), "call", "hello"]);
    person.sees("the server refused the token: status 401, invalid_token: no such key");
    person.sees("Log in at ");
}

/// A server that accepts one token, and its authorization server, which issues another one. The
/// metadata name an issuer with this path, without its last slash in one of two places.
fn protected(path: &'static str) -> Site {
    Site::new(move |asked| authorize(asked, path))
}

fn authorize(asked: &Asked, path: &str) -> Answer {
    let json = "200 OK\ncontent-type: application/json";
    let target = asked.line.split(' ').nth(1).unwrap_or_default();
    match target {
        "/mcp" if asked.fields.contains("authorization: bearer good\n") => serve(asked),
        "/mcp" if asked.fields.contains("authorization: ") => (
            "401 Unauthorized\nwww-authenticate: Bearer error=\"invalid_token\", error_description=\"no such key\", \
             resource_metadata=\"ORIGIN/.well-known/oauth-protected-resource\"",
            String::new(),
        ),
        "/mcp" => (
            "401 Unauthorized\nwww-authenticate: Bearer scope=\"files\", \
             resource_metadata=\"ORIGIN/.well-known/oauth-protected-resource\"",
            String::new(),
        ),
        "/.well-known/oauth-protected-resource" => (
            json,
            format!(r#"{{"resource":"ORIGIN/mcp","authorization_servers":["ORIGIN{path}"]}}"#),
        ),
        "/register" => (
            "201 Created\ncontent-type: application/json",
            r#"{"client_id":"c"}"#.to_owned(),
        ),
        "/token" => (
            json,
            r#"{"access_token":"another","token_type":"Bearer","expires_in":3600}"#.to_owned(),
        ),
        target if target.contains("/oauth-authorization-server") => {
            let issuer = path.trim_end_matches('/');
            let metadata = format!(
                r#"{{"issuer":"ORIGIN{issuer}","authorization_endpoint":"ORIGIN/authorize","token_endpoint":"ORIGIN/token",
                "registration_endpoint":"ORIGIN/register","response_types_supported":["code"],
                "code_challenge_methods_supported":["S256"]}}"#
            );
            (json, metadata)
        }
        _ => ("404 Not Found", String::new()),
    }
}

/// Consents at once: goes to the page and where that would send the browser.
fn browse(start: &str) {
    let start = start.split_once("http://").unwrap().1.trim();
    let (host, path) = start.split_once('/').unwrap();
    let answer = get(host, path, "");
    let field = |name: &str| {
        let mut lines = answer.split("\r\n");
        lines.find_map(|line| line.strip_prefix(name)).unwrap()
    };
    let page = field("Location: ");
    let cookie = field("Set-Cookie: ").split(';').next().unwrap();
    let value = |name: &str| {
        let mut parameters = page.split(['?', '&']);
        let found = parameters.find_map(|it| it.strip_prefix(name)?.strip_prefix('='));
        found.unwrap().replace("%3A", ":").replace("%2F", "/")
    };
    let redirect = value("redirect_uri");
    let (host, path) = redirect
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let state = value("state");
    get(host, &format!("{path}?code=x&state={state}"), cookie);
}

/// The response to a request with this cookie.
fn get(host: &str, path: &str, cookie: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!(
        "GET /{path} HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

/// A folder for the state of one test, with a browser that does nothing.
struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        let home = std::env::temp_dir().join(format!("mcp-login-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        put_browsers(&home, "#!/bin/sh\n");
        Self(home)
    }

    fn client(&self, words: &[&str]) -> Ran {
        let mut command = command(words);
        command.env("XDG_STATE_HOME", &self.0).stdin(Stdio::null());
        finish(command.output().unwrap())
    }

    fn person(&self, words: &[&str]) -> Person {
        let home = self.0.to_str().unwrap();
        let path = format!("{home}:{}", std::env::var("PATH").unwrap());
        Person::watching(words, &[("PATH", &path), ("XDG_STATE_HOME", home)])
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
