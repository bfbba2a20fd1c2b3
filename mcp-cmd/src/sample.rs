//! The server's questions to a model.

use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use dialoguer::Input;
use tokio::sync::Semaphore;

use super::ask::ask;
use super::background::background;
use super::content;
use super::elicit::Console;
use super::menu::{menu, theme};
use super::plain::plain;
use mcp_tokio::ErrorReply;
use mcp_tokio::client::{CallbackContext, CallbackError};
use mcp_tokio::json::RawBuf;
use mcp_tokio::mcp_async::model::{
    CreateMessageParams, CreateMessageResult, SamplingBlock, StopReason,
};

/// Asks the shell command: it reads the request as JSON, and writes the model's text or a whole
/// result as JSON.
pub(crate) async fn by_command(
    asked: CreateMessageParams,
    command: String,
    cx: CallbackContext<Console>,
) -> Result<CreateMessageResult, CallbackError> {
    // A command continues after its question was taken back.
    static COMMANDS: Semaphore = Semaphore::const_new(MOST_COMMANDS);
    let permit = COMMANDS.acquire().await;
    let request = RawBuf::encode(&asked)?;
    let answer = background(move || {
        let _permit = permit;
        run(&command, request.as_raw().as_str())
    });
    match answer.await {
        Some(Ok(text)) => Ok(result(&text)),
        Some(Err(error)) => {
            let screen = &cx.state().screen;
            screen.say(format!("sampling: the command failed: {error}"));
            Err(ErrorReply::internal().into())
        }
        None => Err(ErrorReply::internal().into()),
    }
}

/// Lets the person at the terminal be the model, or refuse (SP-07).
pub(crate) async fn by_hand(
    asked: CreateMessageParams,
    cx: CallbackContext<Console>,
) -> Result<CreateMessageResult, CallbackError> {
    let screen = cx.state().screen.clone();
    let answer = ask(screen, move || converse(&asked, &cx.state().server));
    match answer.await {
        Some(Some(text)) => Ok(CreateMessageResult {
            stop_reason: Some(StopReason::EndTurn),
            ..CreateMessageResult::new("human", text)
        }),
        _ => Err(ErrorReply::new(-1, "User rejected sampling request").into()),
    }
}

fn converse(asked: &CreateMessageParams, server: &str) -> dialoguer::Result<Option<String>> {
    eprintln!("\n{server} wants a model to answer:");
    if let Some(system) = &asked.system_prompt {
        eprintln!("  system: {}", plain(system));
    }
    for message in &asked.messages {
        for block in message.content.blocks() {
            eprintln!("  {}: {}", message.role, shown(block));
        }
    }
    if menu("What now?", &["Refuse", "Answer in its place"], 0)? != Some(1) {
        return Ok(None);
    }
    let theme = theme();
    let input = Input::<String>::with_theme(&theme)
        .with_prompt("Answer")
        .allow_empty(true);
    input.interact_text().map(Some)
}

fn shown(block: &SamplingBlock) -> String {
    match block {
        SamplingBlock::Text(block) => plain(&block.text).into_owned(),
        SamplingBlock::Image(block) => content::described("image", &block.mime_type, &block.data),
        SamplingBlock::Audio(block) => content::described("audio", &block.mime_type, &block.data),
        other => RawBuf::encode(other).map_or_else(
            |_| String::new(),
            |block| plain(block.as_raw().as_str()).into_owned(),
        ),
    }
}

/// Reads the output of the command: a result, or the text of one.
fn result(text: &str) -> CreateMessageResult {
    let whole = RawBuf::parse(text).ok().and_then(|json| json.decode().ok());
    whole.unwrap_or_else(|| CreateMessageResult {
        stop_reason: Some(StopReason::EndTurn),
        ..CreateMessageResult::new("command", text.trim_end_matches(['\n', '\r']))
    })
}

fn run(command: &str, request: &str) -> io::Result<String> {
    let (shell, flag) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("sh", "-c")
    };
    let mut child = Command::new(shell)
        .args([flag, command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let stdin = child.stdin.take();
    // It may write before it has read everything, or never read.
    let request = request.to_owned();
    let writer = thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(request.as_bytes())));
    let mut text = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_string(&mut text)?;
    }
    let status = child.wait()?;
    let _ = writer.join();
    if status.success() {
        Ok(text)
    } else {
        Err(io::Error::other(status.to_string()))
    }
}

/// The commands that run at once.
const MOST_COMMANDS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_writes() {
        let written = result("Paris.\n");
        assert_eq!(
            (written.model.as_str(), written.content.text()),
            ("command", "Paris.".to_owned())
        );
        let whole =
            result(r#"{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}"#);
        assert_eq!(
            (whole.model.as_str(), whole.content.text()),
            ("m", "x".to_owned())
        );
        assert_eq!(result("{\"answer\":1}").content.text(), "{\"answer\":1}");
    }

    #[cfg(unix)]
    #[test]
    fn commands() {
        assert_eq!(run("cat", "{}").unwrap(), "{}");
        assert_eq!(run("echo hello", &"x".repeat(1 << 20)).unwrap(), "hello\n");
        assert!(run("exit 3", "{}").is_err());
    }
}
