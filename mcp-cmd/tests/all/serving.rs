//! The program as a server in front of others.

use core::time::Duration;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Instant;

use super::run::{client, command, server};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-cmd");

#[test]
fn a_server_on_standard_streams_behind_a_proxy() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let back = [server(), "--revisions", "2025-11-25"];
        let through = |words: &[&str]| {
            let proxy = ["--revisions", revision, "--", PROGRAM, "proxy", "--"];
            client(&[words, &proxy, &back].concat())
        };
        let told = through(&["info", "--json"]);
        assert_eq!(told.member("revision"), format!("\"{revision}\""));
        let said = through(&["call", "echo", "text=milk"]).good();
        assert!(said.contains("milk"), "{said}");
    }
}

#[test]
fn a_gateway_reads_its_file_again() {
    let file = config("again", &["one"]);
    let gateway = Gateway::start(&file, &[]);
    let listed = client(&["list", "tools", "--", &gateway.url]).good();
    assert!(
        listed.contains("one__echo") && !listed.contains("two__"),
        "{listed}"
    );
    assert!(
        gateway.check().starts_with("HTTP/1.1 200"),
        "{}",
        gateway.check()
    );
    assert!(
        gateway.check().contains("Ready: 1 of 1 servers connected"),
        "{}",
        gateway.check()
    );
    fs::write(&file, text(&["two"])).unwrap();
    let began = Instant::now();
    while !client(&["list", "tools", "--", &gateway.url])
        .good()
        .contains("two__echo")
    {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "the file was not read again"
        );
        sleep(Duration::from_millis(200));
    }
    let listed = client(&["list", "tools", "--", &gateway.url]).good();
    assert!(!listed.contains("one__"), "{listed}");
}

#[test]
fn a_gateway_with_a_token() {
    let file = config("token", &["one"]);
    let gateway = Gateway::start(&file, &["--token-env", "MCP_TEST_TOKEN"]);
    client(&["list", "tools", "--", &gateway.url]).ended(3, "the server wants a login");
    let held = ["--header", "Authorization: Bearer milk"];
    let listed = client(&[&["list", "tools"], &held[..], &["--", &gateway.url]].concat()).good();
    assert!(listed.contains("one__echo"), "{listed}");
}

#[test]
fn a_gateway_that_cannot_be_served() {
    let file = config("wrong", &["one"]);
    let path = file.to_str().unwrap();
    let served = |words: &[&str]| client(&[&["gateway"], words].concat());
    served(&[]).ended(2, "which servers?");
    served(&["--config", "/no/such/file.json"]).ended(2, "/no/such/file.json");
    served(&["--config", path, "--http", "0.0.0.0:0"]).ended(2, "set a token by --token-env");
    served(&[
        "--config",
        path,
        "--http",
        "0.0.0.0:0",
        "--token-env",
        "MCP_TEST_UNSET",
    ])
    .ended(2, "the variable MCP_TEST_UNSET is not set");
    client(&["proxy", "--", "/no/such/program"]).ended(3, "/no/such/program");
}

/// A gateway over HTTP, which is killed with the value.
struct Gateway {
    child: Child,
    url: String,
}

impl Gateway {
    fn start(file: &Path, words: &[&str]) -> Self {
        let path = file.to_str().unwrap();
        let all = [
            &["gateway", "--config", path, "--http", "127.0.0.1:0"],
            words,
        ]
        .concat();
        let mut child = command(&all)
            .env("MCP_TEST_TOKEN", "milk")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        Self { child, url }
    }

    /// The answer to the check of a balancer.
    fn check(&self) -> String {
        let address = self
            .url
            .trim_start_matches("http://")
            .trim_end_matches("/mcp");
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .write_all(b"GET /ready HTTP/1.1\r\nhost: balancer\r\nconnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A file with these servers.
fn config(name: &str, servers: &[&str]) -> PathBuf {
    let name = format!("mcp-cmd-{name}-{}.json", std::process::id());
    let file = std::env::temp_dir().join(name);
    fs::write(&file, text(servers)).unwrap();
    file
}

fn text(servers: &[&str]) -> String {
    let path = server().replace('\\', "\\\\");
    let entries = servers
        .iter()
        .map(|name| format!(r#""{name}": {{"command": "{path}"}}"#));
    let entries: Vec<String> = entries.collect();
    format!(r#"{{"mcpServers": {{{}}}}}"#, entries.join(","))
}
