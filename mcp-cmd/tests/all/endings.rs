//! Exit codes, and what is said with them.

use super::run::{Ran, client, everything};

#[test]
fn the_tool_failed() {
    let ran = everything(&["call", "test_error_handling"]);
    ran.ended(
        1,
        "the tool failed: This tool intentionally returns an error",
    );
    assert!(ran.out.is_empty(), "an answer is what `$(..)` catches");
}

#[test]
fn the_command_line_is_wrong() {
    let check = |words: &[&str], said: &str| everything(words).ended(2, said);
    check(&["frob"], "unrecognized subcommand");
    check(
        &["call", "add", "a=1", "b=two"],
        "add: b: `two` is no number",
    );
    check(
        &["call", "add", "a=1"],
        "add: missing: b; it takes a=NUMBER b=NUMBER",
    );
    check(&["call", "echo", "word"], "`word` is neither");
    check(&["call", "echo", "@/no/such/file"], "/no/such/file");
    check(&["complete", "x", "y"], "`y` is not name=value");
    check(&["ping", "--timeout", "soon"], "`soon` is no duration");
    check(
        &["ping", "--revisions", "1999-01-01"],
        "no revision is called",
    );
    check(
        &["ping", "--root", "/no/such/directory"],
        "--root /no/such/directory",
    );
    client(&["list"]).ended(2, "which server?");
    let meant = "did you mean http://127.0.0.1:9999/mcp?";
    client(&["list", "--", "127.0.0.1:9999/mcp"]).ended(2, meant);
    client(&["list", "--", "ftp://x/"]).ended(2, "ftp:// is not supported");
    let no_url = "error: a server is at an http:// or https:// URL";
    for url in ["http://", "http://127.0.0.1:99999/mcp"] {
        client(&["list", "--", url]).ended(2, no_url);
    }
    for name in ["bad name", "Host"] {
        let header = format!("{name}:x");
        let words = ["list", "--header", &header, "--", "http://127.0.0.1:1/mcp"];
        client(&words).ended(2, &format!("error: the header {name:?} cannot be set"));
    }
}

#[test]
fn help_needs_no_server() {
    let help = |words: &[&str]| client(words).good();
    let url = "http://127.0.0.1:1/mcp";
    assert_eq!(help(&[url, "help", "list"]), help(&["help", "list"]));
    assert_eq!(help(&["-q", url, "help"]), help(&["help"]));
}

#[test]
fn names_that_begin_with_a_hyphen() {
    let check = |words: &[&str], said: &str| everything(words).ended(2, said);
    check(&["call", "-x"], "the server has no tool `-x`\n");
    check(
        &["call", "--x-y", "--json"],
        "the server has no tool `--x-y`",
    );
    check(&["get", "-x"], "the server has no prompt `-x`\n");
    everything(&["call", "-x", "{}"]).ended(4, "error: the server answered");
    everything(&["complete", "-x", "a=b"]).ended(4, "error: the server answered");
    // What follows `--` is a server.
    let wrong = everything(&["list", "-x"]);
    wrong.ended(2, "unexpected argument '-x'");
    assert!(!wrong.err.contains("-- -x"), "{}", wrong.err);
}

/// Names of a server are no lines of this program.
#[cfg(unix)]
#[test]
fn names_keep_no_line_breaks() {
    use super::run::shell;
    let tools = r#"{"tools":[{"name":"t\nerror: fake","inputSchema":{"type":"object","properties":{
        "a\nerror: fake":{"type":"string","enum":["x\nerror: fake"]}},"required":["a\nerror: fake"],"additionalProperties":false}}]}"#;
    let tools = tools.replace(char::is_control, "");
    let prompts =
        r#"{"prompts":[{"name":"q","arguments":[{"name":"b\nerror: fake","required":true}]}]}"#;
    for (list, words) in [
        (&*tools, &["call", "t:error: fake"][..]),
        (&tools, &["call", "t\nerror: fake"]),
        (&tools, &["call", "t\nerror: fake", "a:error: fake=x"]),
        (&tools, &["call", "t\nerror: fake", "a\nerror: fake=y"]),
        (prompts, &["get", "q"]),
        (prompts, &["get", "q", "b:error: fake=1"]),
    ] {
        let script = shell(list);
        let options = ["--revisions", "2025-11-25", "--", "sh", "-c", &script];
        let ran = client(&[words, &options[..]].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(" error: fake"), "{}", ran.err);
        assert!(!ran.err.contains("\nerror: fake"), "{}", ran.err);
    }
}

/// The arguments of a server are bytes.
#[cfg(unix)]
#[test]
fn arguments_that_are_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Stdio;

    use super::run::{command, finish};

    let script = "printf %s \"$1\" | od -An -tx1 >&2; exit 1";
    let mut command = command(&["ping", "--", "sh", "-c", script, "sh"]);
    let command = command.arg(OsStr::from_bytes(b"a\xffb"));
    let ran = finish(command.stdin(Stdio::null()).output().unwrap());
    ran.ended(3, "61 ff 62");
}

#[test]
fn the_command_line_is_wrong_for_programs() {
    let check = |ran: Ran, said: &str| {
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert_eq!(ran.member("error.kind"), "\"usage\"");
        let message = ran.member("error.message");
        assert!(message.contains(said), "{said} is not in {message}");
        assert!(ran.err.contains(said), "{said} is not in {}", ran.err);
    };
    check(
        everything(&["--json", "call", "add", "a=1"]),
        "add: missing: b",
    );
    check(
        everything(&["frob", "--json"]),
        "unrecognized subcommand 'frob'",
    );
    check(everything(&["call", "--json"]), "<TOOL>");
    check(
        everything(&["ping", "--json", "--timeout", "soon"]),
        "`soon` is no duration",
    );
    check(client(&["--json"]), "requires a subcommand");
    // Help is no error, and an argument of the server no option.
    let help = client(&["--json", "call", "--help"]);
    assert!(help.good().starts_with("Calls a tool"));
    assert_eq!(client(&["frob", "--", "server", "--json"]).text(), "");
}

#[test]
fn names_that_the_server_does_not_list() {
    let check = |words: &[&str], said: &str| everything(words).ended(2, said);
    check(
        &["call", "ech", "text=x"],
        "the server has no tool `ech`; did you mean `echo`?",
    );
    check(
        &["call", "frobnicate"],
        "the server has no tool `frobnicate`\n",
    );
    check(
        &["get", "test_simple_promt"],
        "the server has no prompt `test_simple_promt`; did you mean `test_simple_prompt`?",
    );
    check(
        &["get", "test_prompt_with_arguments", "arg1=x", "agr2=y"],
        "there is no argument `agr2`; did you mean `arg2`?; it takes arg1=TEXT arg2=TEXT",
    );
    check(
        &["get", "test_prompt_with_arguments", "arg2=y"],
        "test_prompt_with_arguments: missing: arg1; it takes arg1=TEXT arg2=TEXT",
    );
    // A whole object is not checked.
    everything(&["call", "no_such_tool", "{}"]).ended(4, "no_such_tool");
    everything(&["get", "test_prompt_with_arguments", "{}"]).ended(4, "error: ");
}

#[test]
fn there_is_no_connection() {
    client(&["list", "--", "/no/such/server"])
        .ended(3, "the server cannot be started: \"/no/such/server\": ");
    everything(&["ping", "--config", "x", "y"]).ended(2, "either a server");
    let ran = client(&["ping", "--json", "--", "/no/such/server"]);
    assert_eq!(
        (ran.code, ran.member("error.kind")),
        (Some(3), "\"connect\"".to_owned())
    );
}

#[cfg(unix)]
#[test]
fn the_server_dies() {
    let ran = client(&[
        "list",
        "--",
        "sh",
        "-c",
        "echo 'no \x1b[31mkey' >&2; exit 7",
    ]);
    ran.ended(3, "exit status: 7");
    assert!(ran.err.contains("sh: no key"), "{}", ran.err);
    let traceback = "printf 'Traceback:\\n  \"x\" is \\033[31mnone\\n' >&2; exit 7";
    let several = client(&["-q", "list", "--", "sh", "-c", traceback]);
    several.ended(
        3,
        "its standard error ends with:\n  Traceback:\n    \"x\" is none\n",
    );
    let quiet = client(&["-q", "list", "--", "sh", "-c", "echo noise >&2; exit 7"]);
    assert!(!quiet.err.contains("sh: noise"), "{}", quiet.err);
    let traced = client(&["--trace", "list", "--", "sh", "-c", "read line; exit 7"]);
    traced.ended(3, "exit status: 7");
    assert_eq!(
        traced.err.matches("server/discover").count(),
        1,
        "{}",
        traced.err
    );
    assert_eq!(
        traced.err.matches("\"initialize\"").count(),
        1,
        "{}",
        traced.err
    );
}

#[test]
fn the_server_answers_with_an_error() {
    let ran = everything(&["call", "no_such_tool", "{}"]);
    ran.ended(4, "error: the server answered with an error: ");
    let ran = everything(&["read", "test://no-such-resource", "--json"]);
    assert_eq!(ran.code, Some(4));
    assert_eq!(ran.member("error.kind"), "\"server\"");
    assert_eq!(ran.member("error.code"), "-32602");
    assert!(ran.member("error.data").contains("test://no-such-resource"));
    everything(&["call", "fail"]).ended(4, "(code -32603)");
}

#[test]
fn the_server_is_too_slow() {
    everything(&["call", "sleep", "ms=60000", "--timeout", "300ms"]).ended(5, "error: ");
    let slow = ["--max-time", "300ms", "call", "sleep", "ms=60000"];
    everything(&slow).ended(5, "the time of --max-time is over");
    if cfg!(unix) {
        let on = |option| client(&["ping", option, "200ms", "--", "sleep", "60"]);
        on("--connect-timeout").ended(5, "no connection: ");
        on("--max-time").ended(5, "the time of --max-time is over");
    }
    // Each has its own.
    let quick = ["--connect-timeout", "20", "call", "echo", "text=x"];
    assert_eq!(everything(&quick).good(), "x\n");
    everything(&[
        "--connect-timeout",
        "20",
        "--timeout",
        "300ms",
        "call",
        "sleep",
        "ms=60000",
    ])
    .ended(5, "error: ");
    everything(&["--connect-timeout", "5", "call", "sleep", "ms=10"]).good();
}

#[cfg(unix)]
#[test]
fn options_after_the_server_are_noticed() {
    let words = ["info", "--", "sh", "-c", "exit 7", "--timeout", "2"];
    client(&words).ended(3, "`--timeout` is an argument of the server here");
    let words = [
        "info",
        "--connect-timeout",
        "200ms",
        "--",
        "sh",
        "-c",
        "sleep 60",
        "--json",
    ];
    client(&words).ended(5, "`--json` is an argument of the server here");
    let other = client(&["info", "--", "sh", "-c", "exit 7", "--verbose", "--"]);
    assert!(!other.err.contains("is an argument"), "{}", other.err);
}

#[cfg(unix)]
#[test]
fn whoever_read_has_gone() {
    use super::run::{command, on_everything};
    let mut child = command(&on_everything(&["call", "big", "n=2000000"]));
    let mut child = child.stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(141));
}

#[cfg(unix)]
#[test]
fn interrupted() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    use rustix::process::{Pid, Signal, kill_process};

    use super::run::{command, on_everything};

    let check = |words: &[&str], until: &str, then: &str| {
        let mut child = command(words).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        lines
            .find(|line| line.as_ref().unwrap().contains(until))
            .unwrap()
            .unwrap();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
        assert!(rest.iter().any(|line| line.contains(then)), "{rest:?}");
    };
    let call = on_everything(&["--trace", "call", "sleep", "ms=60000"]);
    check(&call, "tools/call", "notifications/cancelled");
    let task = on_everything(&["--trace", "call", "slow_compute", "seconds=60"]);
    check(&task, "tasks/get", "tasks/cancel");
    let silent = ["--trace", "ping", "--", "sleep", "60"];
    check(&silent, "server/discover", "interrupted");
}
