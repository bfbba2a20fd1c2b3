//! Configuration files of desktop hosts.

use std::fs;

use mcp_compose::{Config, InputKind, ServerProgram, ServerTarget, ServerUrl, Variables};

fn variables() -> Variables {
    Variables::new(|name| (name == "KEY").then(|| "s3cret".to_owned()))
}

fn resolve(text: &str) -> Result<ServerTarget, String> {
    let config = Config::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    let entry = config.entry("it").map_err(|error| error.to_string())?;
    entry
        .resolve(&variables())
        .map_err(|error| error.to_string())
}

fn program(program: &str, arguments: &[&str]) -> ServerProgram {
    ServerProgram {
        program: program.into(),
        arguments: arguments.iter().map(|&argument| argument.into()).collect(),
        ..ServerProgram::default()
    }
}

fn url(url: &str, headers: &[(&str, &str)]) -> ServerTarget {
    let headers = headers.iter();
    let headers = headers.map(|&(name, value)| (name.to_owned(), value.to_owned()));
    ServerTarget::Url(ServerUrl {
        url: url.to_owned(),
        headers: headers.collect(),
    })
}

#[test]
fn entries() {
    let check =
        |text: &str, expected: ServerTarget| assert_eq!(resolve(text), Ok(expected), "{text}");
    let run = |it: ServerProgram| ServerTarget::Program(it);
    check(
        r#"{"mcpServers":{"it":{"command":"x"}}}"#,
        run(program("x", &[])),
    );
    check(
        "\u{feff}{\"servers\":{\"it\":{\"type\":\"stdio\",\"command\":\"x\",\"args\":[\"-k\",\"${KEY}\"]}},\"inputs\":[]}",
        run(program("x", &["-k", "s3cret"])),
    );
    check(
        r#"{"mcpServers":{"it":{"command":"x","env":{"K":"${KEY}","L":""},"cwd":"/srv","disabled":false}}}"#,
        run(ServerProgram {
            environment: [
                ("K".to_owned(), "s3cret".to_owned()),
                ("L".to_owned(), String::new()),
            ]
            .into(),
            directory: Some("/srv".into()),
            ..program("x", &[])
        }),
    );
    check(
        r#"{"mcpServers":{"it":{"url":"https://x/mcp"}}}"#,
        url("https://x/mcp", &[]),
    );
    check(
        r#"{"servers":{"it":{"type":"http","url":"https://x","headers":{"Authorization":"Bearer ${KEY}"}}}}"#,
        url("https://x", &[("Authorization", "Bearer s3cret")]),
    );
    for transport in ["http", "streamable-http", "streamableHttp", "sse"] {
        check(
            &format!(
                r#"{{"mcpServers":{{"it":{{"type":"{transport}","serverUrl":"https://x"}}}}}}"#
            ),
            url("https://x", &[]),
        );
    }
    check(
        r#"{"mcpServers":{"it":{"command":"x","url":"https://x"}}}"#,
        run(program("x", &[])),
    );
}

#[test]
fn errors_name_the_member() {
    let check = |text: &str, expected: &str| {
        let error = resolve(text).unwrap_err();
        assert!(error.starts_with(expected), "{text}: {error}");
    };
    check("", "no JSON");
    check("{\"mcpServers\":", "no JSON");
    check("[]", "it is no JSON object");
    check("{}", "it has no member `mcpServers`, nor `servers`");
    check(r#"{"mcpServers":[]}"#, "mcpServers: it is no JSON object");
    check(r#"{"mcpServers":{}}"#, "it has no server it, nor any other");
    check(
        r#"{"mcpServers":{"b":{"url":"b"},"a":{"url":"a"},"c":7}}"#,
        "it has no server it, but b, a",
    );
    check(
        r#"{"mcpServers":{"it":7}}"#,
        "mcpServers.it: it is no JSON object",
    );
    check(
        r#"{"mcpServers":{"it":{}}}"#,
        "mcpServers.it: it has no member `command`, nor `url`",
    );
    check(
        r#"{"mcpServers":{"it":{"serverUrl":"https://${NO}"}}}"#,
        "mcpServers.it.serverUrl: ",
    );
    check(
        r#"{"mcpServers":{"it":{"command":["x"]}}}"#,
        "mcpServers.it: command",
    );
    check(
        r#"{"mcpServers":{"it":{"command":"x","args":["a",1]}}}"#,
        "mcpServers.it: args[1]",
    );
    check(
        r#"{"mcpServers":{"it":{"command":"x","args":["${NO}"]}}}"#,
        "mcpServers.it.args[0]: the environment variable NO is not set",
    );
    check(
        r#"{"servers":{"it":{"command":"x","env":{"A":"${NO}"}}}}"#,
        "servers.it.env.A: the environment variable NO is not set",
    );
    for entry in [
        r#"{"type":"stdio","url":"https://x"}"#,
        r#"{"type":"http","command":"x"}"#,
        r#"{"type":"websocket","url":"wss://x"}"#,
    ] {
        check(
            &format!(r#"{{"mcpServers":{{"it":{entry}}}}}"#),
            "mcpServers.it: the type ",
        );
    }
}

#[test]
fn one_wrong_entry_does_not_spoil_the_others() {
    let config = Config::parse(
        br#"{"mcpServers":{
            "a.b":{"command":"x","disabled":true,"alwaysAllow":["y"],"timeout":60},
            "bad":{"command":1},
            "a.b":{"command":"other"},
            "worse":null,
            "c":{"url":"https://x"}
        },"globalShortcut":"Ctrl+Space"}"#,
    )
    .unwrap();
    let names: Vec<_> = config.entries().iter().map(|entry| entry.name()).collect();
    assert_eq!(names, ["a.b", "c"]);
    let first = config.entry("a.b").unwrap();
    assert_eq!((first.program(), first.is_disabled()), (Some("x"), true));
    assert_eq!(first.unknown_members(), ["alwaysAllow", "timeout"]);
    let object = first.as_raw().object().unwrap();
    assert_eq!(object.get("timeout").map(|it| it.as_str()), Some("60"));
    assert_eq!(config.unknown_members(), ["globalShortcut"]);
    let places: Vec<_> = config.errors().iter().map(|error| error.place()).collect();
    assert_eq!(
        places,
        ["mcpServers.bad", "mcpServers.a.b", "mcpServers.worse"]
    );
    assert_eq!(config.errors()[1].reason(), "it is there twice");
}

#[test]
fn large_and_deep_files_are_refused() {
    let check = |text: String, expected: &str| {
        let error = Config::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    };
    let servers = |count| {
        let servers: Vec<_> = (0..count)
            .map(|n| format!(r#""{n}":{{"command":"x"}}"#))
            .collect();
        format!(r#"{{"mcpServers":{{{}}}}}"#, servers.join(","))
    };
    check(servers(500_000), "it has more than 1048576 bytes");
    check(
        format!(r#"{{"mcpServers":{}{}}}"#, "[".repeat(500), "]".repeat(500)),
        "no JSON: nested too deeply",
    );
    let many = Config::parse(servers(30_000).as_bytes()).unwrap();
    assert_eq!(many.entries().len(), 30_000);
}

#[test]
fn inputs_of_visual_studio_code() {
    let text = br#"{"inputs":[
        {"type":"promptString","id":"token","description":"API token","password":true},
        {"type":"pickString","id":"region","options":["eu","us"],"default":"eu"},
        {"type":"command","id":"branch","command":"git.branch"},
        {"type":"promptString","id":"token"},
        {"type":"later","id":"x"},
        {"type":"promptString"}
    ],"servers":{
        "it":{"url":"https://${input:region}.x/${env:NAME:-a}","headers":{"X-Key":"${input:token}","X-N":"${NAME:-}"}},
        "git":{"command":"${userHome}/git","args":["${input:branch}","${input:undeclared}"]}
    }}"#;
    let config = Config::parse(text).unwrap();
    let places: Vec<_> = config.errors().iter().map(|error| error.place()).collect();
    assert_eq!(places, ["inputs[3]", "inputs[4]", "inputs[5]"]);
    let entry = config.entry("it").unwrap();
    let inputs: Vec<_> = entry.inputs().collect();
    assert_eq!(
        (inputs[0].kind, inputs[0].is_secret),
        (InputKind::Text, true)
    );
    assert_eq!(
        (inputs[1].kind, &*inputs[1].options),
        (InputKind::Choice, ["eu", "us"].map(String::from).as_slice())
    );
    assert_eq!(inputs.len(), 2);
    assert_eq!(Vec::from_iter(entry.variables()), ["NAME"]);
    assert_eq!(Vec::from_iter(entry.set_names()), ["X-Key", "X-N"]);

    let error = entry.resolve(&variables()).unwrap_err().to_string();
    assert_eq!(
        error,
        "servers.it.headers.X-Key: the input token has no value, or is a command of another host"
    );
    let answered = variables().input("token", "s3cret");
    let target = entry.resolve(&answered).unwrap();
    assert_eq!(
        target,
        url("https://eu.x/a", &[("X-Key", "s3cret"), ("X-N", "")])
    );
    for shown in [
        format!("{answered:?}"),
        format!("{target:?}"),
        format!("{config:?}"),
    ] {
        assert!(!shown.contains("s3cret"), "{shown}");
    }

    let git = config.entry("git").unwrap();
    assert_eq!(Vec::from_iter(git.variables()), ["HOME"]);
    let answered = Variables::new(|_| Some("/home/ada".into())).input("branch", "main");
    let error = git.resolve(&answered).unwrap_err();
    assert!(
        error.reason().starts_with("the input branch has no value"),
        "{error}"
    );
}

#[test]
fn what_decides_what_runs_is_in_the_digest() {
    let digest = |entry: &str| {
        let text = format!(r#"{{"mcpServers":{{"it":{entry}}}}}"#);
        Config::parse(text.as_bytes())
            .unwrap()
            .entry("it")
            .unwrap()
            .digest()
    };
    let same = digest(r#"{"command":"x","args":["a","b"],"env":{"A":"1"}}"#);
    assert_eq!(
        same,
        digest(r#"{ "env":{"A":"1"}, "args":["a","b"],"command":"x","disabled":true,"other":1}"#)
    );
    for other in [
        r#"{"command":"y","args":["a","b"],"env":{"A":"1"}}"#,
        r#"{"command":"x","args":["ab"],"env":{"A":"1"}}"#,
        r#"{"command":"x","args":["a","b"],"env":{"A":"2"}}"#,
        r#"{"command":"x","args":["a","b"],"env":{"B":"1"}}"#,
        r#"{"command":"x","args":["a","b"],"env":{"A":"1"},"cwd":"/"}"#,
        r#"{"command":"x","args":["a","b"],"env":{"A":"1"},"envFile":".env"}"#,
    ] {
        assert_ne!(same, digest(other), "{other}");
    }
    assert_ne!(digest(r#"{"url":"x"}"#), digest(r#"{"command":"x"}"#));
    assert_ne!(
        digest(r#"{"url":"x","headers":{"A":"1"}}"#),
        digest(r#"{"url":"x","headers":{"A":"2"}}"#)
    );
}

#[test]
fn names_that_a_terminal_would_obey_are_errors() {
    let text = r#"{"servers":{"a\u001b[2J":{"command":"x"},"b\nc":{"command":"x"},"d e":{"command":"x"}}}"#;
    let config = Config::parse(text.as_bytes()).unwrap();
    let names: Vec<_> = config.entries().iter().map(|entry| entry.name()).collect();
    assert_eq!(names, ["d e"]);
    let errors: Vec<_> = config.errors().iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        [
            r"servers.a\u{1b}[2J: its name has control characters",
            r"servers.b\nc: its name has control characters",
        ]
    );
}

#[test]
fn files_and_the_environment_files_that_they_name() {
    let folder = std::env::temp_dir().join(format!("mcp-compose-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("mcp.json");
    let text = r#"{"servers":{"it":{"command":"x","envFile":"${workspaceFolder}/.env","env":{"B":"3"}},"bad":1}}"#;
    fs::write(&path, text).unwrap();
    let config = Config::read(&path).unwrap();
    let entry = config.entry("it").unwrap();
    let variables = variables().workspace_folder(&folder);
    let check = |expected: &str| {
        let error = entry.resolve(&variables).unwrap_err().to_string();
        let expected = format!("{}: servers.it.envFile: {expected}", path.display());
        assert!(error.starts_with(&expected), "{error}");
    };
    check("No such file");
    fs::create_dir(folder.join(".env")).unwrap();
    check("it is no regular file");
    fs::remove_dir(folder.join(".env")).unwrap();
    fs::write(folder.join(".env"), "A=1\nB").unwrap();
    check("line 2 is no `NAME=value`");
    fs::write(folder.join(".env"), "A".repeat((1 << 20) + 1)).unwrap();
    check("it has more than 1048576 bytes");
    fs::write(folder.join(".env"), "A=1\nB=2\n").unwrap();
    let ServerTarget::Program(program) = entry.resolve(&variables).unwrap() else {
        panic!("it is a program");
    };
    let environment: Vec<_> = program.environment.into_iter().collect();
    assert_eq!(
        environment,
        [("A".into(), "1".into()), ("B".into(), "3".into())]
    );

    for error in [
        config.entry("bad").unwrap_err(),
        config.entry("none").unwrap_err(),
    ] {
        let shown = error.to_string();
        assert!(shown.starts_with(&path.display().to_string()), "{shown}");
    }
    fs::remove_dir_all(&folder).unwrap();
    let error = Config::read(&path).unwrap_err();
    assert!(
        error.to_string().starts_with(&path.display().to_string()),
        "{error}"
    );
}
