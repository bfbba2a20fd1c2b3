//! Handlers that blow up in every place: the call has one answer, nothing of the panic leaves,
//! and the server lives on.

use core::future::{Future, pending};
use core::pin::Pin;
use core::task::{Context, Poll};

use mcp_async::Server;
use mcp_async::model::PromptArgument;
use mcp_async::server::{self, CompletionRequest, Json, Prompt, ServerBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::attack::client_of;
use crate::server_typed::support::says;
use crate::texts::has;

const SECRET: &str = "the secret of the panic";

/// Panics when it goes, as long as nothing else is.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "{SECRET}");
    }
}

/// Panics when it is polled, and when it is dropped.
struct Never(Bomb);

impl Future for Never {
    type Output = Result<String, server::HandlerError>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        std::panic::panic_any(Bomb)
    }
}

/// Panics when it is written.
#[derive(JsonSchema)]
struct Written {
    _text: String,
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("{SECRET}")
    }
}

/// Panics when it is read.
#[derive(JsonSchema)]
struct Read {
    _text: String,
}

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("{SECRET}")
    }
}

fn server() -> ServerBuilder {
    Server::builder("bombs", "1")
        .tool("well", "", says("well"))
        .tool("begins", "", |(): (), _| {
            if true {
                panic!("{SECRET}");
            }
            async { Ok("") }
        })
        .tool("polled", "", |(): (), _| Never(Bomb))
        .tool("ends", "", |(): (), _| async {
            let _bomb = Bomb;
            Ok("")
        })
        .tool("waits", "", |(): (), _| async {
            let _bomb = Bomb;
            pending::<()>().await;
            Ok("")
        })
        .tool("written", "", |(): (), _| async {
            let _text = String::new();
            Ok(Json(Written { _text }))
        })
        .tool("read", "", |_: Read, _| async { Ok("") })
        .resource("bomb:r", "r", |_| async {
            let _bomb = Bomb;
            Ok("")
        })
        .template("bomb:t/{text}", "t", |_: Read, _| async { Ok("") })
        .with(
            Prompt::new("p")
                .argument(PromptArgument::optional("a"))
                .complete("a", |_: CompletionRequest, _| async {
                    let _bomb = Bomb;
                    Ok(vec!["x"])
                })
                .handler(|(): (), _| async {
                    let _bomb = Bomb;
                    Ok("")
                }),
        )
}

#[test]
fn a_panic_anywhere_is_one_answer_without_a_word_of_it() {
    let mut wire = client_of(&server());
    let mut check = |method: &str, params: &str| {
        for _ in 0..2 {
            let answer = wire.ask(method, params);
            assert!(answer.contains("-32603"), "{method} {params}: {answer}");
            assert!(!answer.contains("secret"), "{answer}");
        }
        has(
            &wire.ask("tools/call", r#"{"name":"well"}"#),
            [r#""text":"well""#],
        );
    };
    for tool in ["begins", "polled", "ends", "written"] {
        check("tools/call", &format!(r#"{{"name":"{tool}"}}"#));
    }
    check("tools/call", r#"{"name":"read","arguments":{"_text":""}}"#);
    check("resources/read", r#"{"uri":"bomb:r"}"#);
    check("resources/read", r#"{"uri":"bomb:t/x"}"#);
    check("prompts/get", r#"{"name":"p"}"#);
    check(
        "completion/complete",
        r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}"#,
    );
}

#[test]
fn a_cancelled_bomb_goes_off_alone() {
    let mut wire = client_of(&server());
    for id in 1..=50 {
        assert_eq!(wire.send("tools/call", r#"{"name":"waits"}"#), id);
        wire.cancel(id);
        assert_eq!(wire.hear(), [""; 0]);
    }
    has(
        &wire.ask("tools/call", r#"{"name":"well"}"#),
        [r#""text":"well""#],
    );
}
