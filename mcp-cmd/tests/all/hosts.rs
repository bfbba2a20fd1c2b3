//! Configuration files of desktop hosts.

use std::process::Stdio;

use super::run::{client, command, server};

#[test]
fn a_server_by_its_name() {
    let file = write(&format!(
        r#"{{"mcpServers": {{
            "all": {{"command": "{}", "args": ["--revisions", "${{MCP_TEST_REVISION:-2025-06-18}}"]}},
            "remote": {{"url": "http://127.0.0.1:1/mcp"}},
            "secret": {{"command": "x", "env": {{"KEY": "${{MCP_TEST_UNSET}}"}}}}
        }}}}"#,
        server().replace('\\', "\\\\"),
    ));
    let path = file.to_str().unwrap();
    let told = client(&["info", "--json", "--config", path, "all"]);
    assert_eq!(told.member("revision"), "\"2025-06-18\"");
    let mut other = command(&["info", "--json", "--config", path, "all"]);
    let output = other
        .env("MCP_TEST_REVISION", "2025-03-26")
        .stdin(Stdio::null())
        .output();
    assert!(
        String::from_utf8(output.unwrap().stdout)
            .unwrap()
            .contains("2025-03-26")
    );

    let check = |name: &str, said: &str| {
        client(&["list", "--config", path, name]).ended(2, said);
    };
    check("other", "it has no server other, but all, remote, secret");
    check(
        "secret",
        "mcpServers.secret.env.KEY: the environment variable MCP_TEST_UNSET is not set",
    );
    client(&["list", "--config", path, "remote"]).ended(3, "cannot connect to 127.0.0.1:1");
    std::fs::remove_file(&file).unwrap();
    check("all", path);
}

#[cfg(unix)]
#[test]
fn variables_of_the_command_line() {
    let script = "echo \"got $MCP_TEST_VARIABLE\" >&2; exit 1";
    let words = [
        "ping",
        "--env",
        "MCP_TEST_VARIABLE=a=b",
        "--",
        "sh",
        "-c",
        script,
    ];
    client(&words).ended(3, "sh: got a=b");
}

fn write(text: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("mcp-hosts-{}.json", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}
