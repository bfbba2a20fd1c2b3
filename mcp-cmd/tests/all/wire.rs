//! What happens beside the answer: the wire, logs, and questions that nobody is there for.

#[cfg(unix)]
use super::run::client;
use super::run::everything;

#[test]
fn the_wire_is_shown() {
    let ran = everything(&["--trace", "call", "echo", "{\"text\":\"\u{9b}31m\"}"]);
    let sent = |part: &str| {
        ran.err
            .lines()
            .any(|line| line.starts_with("-> ") && line.contains(part))
    };
    let received = |part: &str| {
        ran.err
            .lines()
            .any(|line| line.starts_with("<- ") && line.contains(part))
    };
    assert!(
        sent("\"server/discover\"") && received("\"supportedVersions\""),
        "{}",
        ran.err
    );
    assert!(
        sent("\"tools/call\"") && received("\\u009b31m"),
        "{}",
        ran.err
    );
    assert_eq!(ran.good(), "");
    let old = everything(&["--trace", "--revisions", "2025-11-25", "ping"]);
    assert!(
        old.err
            .contains("-> {\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"")
    );
}

#[test]
fn log_messages() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let on = |words: &[&str]| {
            let words = [
                &["--revisions", revision, "call", "test_tool_with_logging"],
                words,
            ]
            .concat();
            let ran = everything(&words);
            assert_eq!(ran.code, Some(0), "{}", ran.err);
            ran.err
        };
        let told = on(&["--log-level", "debug"]);
        assert!(
            told.contains("[info] ") && told.contains("Tool execution started"),
            "{told}"
        );
        assert_eq!(on(&["--log-level", "error"]), "");
        assert_eq!(on(&["--log-level", "debug", "--quiet"]), "");
    }
}

#[test]
fn without_a_terminal_questions_are_declined() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let words = [
            "--revisions",
            revision,
            "call",
            "test_elicitation",
            "message=Who?",
        ];
        let ran = everything(&words);
        assert!(ran.text().contains("action=decline"), "{revision}: {ran:?}");
        assert!(
            ran.err
                .contains("everything asks: Who? (declined: there is no terminal"),
            "{}",
            ran.err
        );
    }
}

#[cfg(unix)]
#[test]
fn a_command_is_the_model() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let on = |command: &str| {
            let options = ["--revisions", revision, "--sample-with", command];
            everything(&[&options[..], &["call", "test_sampling", "prompt=Say hello"]].concat())
        };
        assert_eq!(
            on("grep -o 'Say hello' | tr a-z A-Z").good(),
            "LLM response: SAY HELLO\n"
        );
        assert_ne!(on("exit 1").code, Some(0));
        let words = ["--revisions", revision, "call", "test_sampling", "prompt=x"];
        assert_ne!(
            everything(&words).code,
            Some(0),
            "nobody is there to be a model"
        );
    }
}

/// A call does not overtake the roots that a server asks for after the handshake.
#[cfg(unix)]
#[test]
fn roots_arrive_before_the_call() {
    let here = std::env::temp_dir();
    let words = [
        "--revisions",
        "2025-11-25",
        "--root",
        here.to_str().unwrap(),
    ];
    let call = ["call", "it", "{}", "--", "sh", "-c", ASKING];
    assert_eq!(client(&[&words[..], &call].concat()).good(), "known\n");
}

/// Says whether it knew the roots when it was called.
#[cfg(unix)]
const ASKING: &str = r#"
read initialize
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}}'
read initialized
roots=unknown
while read line; do
    id=${line##*'"id":'}
    id=${id%%[!0-9]*}
    case $line in
    *'"roots"'*) roots=known ;;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"'"$roots"'"}]}}' ;;
    *'"ping"'*)
        echo '{"jsonrpc":"2.0","method":"roots/list","id":"r"}'
        echo '{"jsonrpc":"2.0","id":'"$id"',"result":{}}' ;;
    esac
done
"#;

#[test]
fn roots() {
    let here = std::env::temp_dir().canonicalize().unwrap();
    let here = here.to_str().unwrap();
    for revision in ["2025-11-25", "2026-07-28"] {
        let text = everything(&[
            "--revisions",
            revision,
            "call",
            "list_roots",
            "--root",
            here,
        ])
        .good();
        assert!(text.starts_with("file:///"), "{text}");
        assert_ne!(
            everything(&["--revisions", revision, "call", "list_roots"]).code,
            Some(0)
        );
    }
}
