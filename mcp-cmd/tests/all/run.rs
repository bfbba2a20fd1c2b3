//! One run of the client.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use mcp_tokio::json::RawBuf;

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

/// Runs the client with these words and nothing to read.
pub(crate) fn client(words: &[&str]) -> Ran {
    finish(command(words).stdin(Stdio::null()).output().unwrap())
}

/// Runs it with these words on the server that has everything.
pub(crate) fn everything(words: &[&str]) -> Ran {
    client(&on_everything(words))
}

/// Runs it on that server with this text to read.
pub(crate) fn everything_reading(words: &[&str], input: &str) -> Ran {
    let mut command = command(&on_everything(words));
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    finish(child.wait_with_output().unwrap())
}

/// The client, ready to be started.
pub(crate) fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-cmd"));
    command.args(words);
    command
}

/// The words with the server behind them.
pub(crate) fn on_everything<'w>(words: &[&'w str]) -> Vec<&'w str> {
    [words, &["--", server()]].concat()
}

/// The path of the server with everything, which is built unless it is there.
pub(crate) fn server() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let path = Path::new(env!("CARGO_BIN_EXE_mcp-cmd"))
            .with_file_name("everything")
            .with_extension(std::env::consts::EXE_EXTENSION);
        if !path.exists() {
            let mut build = Command::new(env!("CARGO"));
            let built = build.args(["build", "--package", "everything"]).status();
            assert!(built.unwrap().success(), "cargo build --package everything");
        }
        path.to_str().unwrap().to_owned()
    })
}

/// The script of a server of 2025-11-25 that answers the first request after the handshake with this
/// result.
#[cfg(unix)]
pub(crate) fn shell(result: &str) -> String {
    format!(
        "{INITIALIZE}\nread request\ncat <<'END'\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{result}}}\nEND\ncat"
    )
}

#[cfg(unix)]
const INITIALIZE: &str = r#"read initialize
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"shell","version":"1"}}}'
read initialized"#;

impl Ran {
    /// Standard output as text, if the run went as it should.
    pub(crate) fn good(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self.text()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.out.clone()).unwrap()
    }

    /// A member of the JSON document on standard output, by its path.
    pub(crate) fn member(&self, path: &str) -> String {
        let text = self.text();
        assert_eq!(text.matches('\n').count(), 1, "one line: {text}");
        member(&text, path)
    }

    /// Asserts that it ended with this code and said this on standard error.
    pub(crate) fn ended(&self, code: i32, said: &str) {
        assert_eq!(self.code, Some(code), "{}", self.err);
        assert!(self.err.contains(said), "{said} is not in: {}", self.err);
    }
}

/// A member of a JSON document; numbers in the path are places in lists.
pub(crate) fn member(json: &str, path: &str) -> String {
    let document = RawBuf::parse(json).unwrap();
    let steps = path.split('.').filter(|step| !step.is_empty());
    let found = steps.fold(document.as_raw(), |value, step| {
        let inner = match step.parse() {
            Ok(index) => value.array().and_then(|list| list.elements().nth(index)),
            Err(_) => value.object().and_then(|object| object.get(step)),
        };
        inner.unwrap_or_else(|| panic!("there is no {path} in {json}"))
    });
    found.as_str().to_owned()
}

pub(crate) fn finish(output: Output) -> Ran {
    Ran {
        code: output.status.code(),
        out: output.stdout,
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Puts the programs that open pages into a folder, which is searched first.
#[cfg(unix)]
pub(crate) fn put_browsers(folder: &std::path::Path, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;

    for name in ["xdg-open", "open"] {
        let path = folder.join(name);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}
