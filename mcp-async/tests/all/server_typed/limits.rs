//! How often things may be done.

use core::time::Duration;

use mcp_async::Server;
use mcp_async::model::{LoggingLevel, PromptArgument};
use mcp_async::server::{Context, Prompt, RateLimit, RateLimits, Tool};

use crate::scripted::{LineClient, member};
use crate::server_typed::support::{revisions, says};

fn tool(name: &str) -> Tool {
    Tool::new(name).handler(|(): (), _| async { Ok(()) })
}

/// TL-13, CP-03, CP-07.
#[test]
fn each_connection_has_limits_of_its_own() {
    let prompt = Prompt::new("p")
        .argument(PromptArgument::optional("a"))
        .complete("a", |_, _| async { Ok(vec!["x"]) })
        .handler(says(""));
    let server = Server::builder("demo", "1")
        .with(tool("a"))
        .with(tool("b"))
        .with(tool("own").rate_limit(RateLimit::new(1, Duration::from_secs(60))))
        .with(prompt)
        .rate_limits(RateLimits {
            calls: Some(RateLimit::new(2, Duration::from_secs(2))),
            completions: Some(RateLimit::new(1, Duration::from_secs(1))),
            ..RateLimits::default()
        });
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let mut other = LineClient::new(&server, revision);
        let call = |wire: &mut LineClient, name: &str| {
            let answer = wire.ask("tools/call", &format!(r#"{{"name":"{name}"}}"#));
            let refused = answer.contains("limit reached: calls of this tool");
            assert_eq!(refused, answer.contains("-32603"), "{answer}");
            !refused
        };
        let complete = |wire: &mut LineClient| {
            let params =
                r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}"#;
            let answer = wire.ask("completion/complete", params);
            assert!(answer.contains(r#""values":["x"]"#) || answer.contains("-32603"));
            !answer.contains("limit reached: completions")
        };
        assert_eq!([(); 3].map(|()| call(&mut wire, "a")), [true, true, false]);
        assert_eq!([(); 3].map(|()| call(&mut wire, "b")), [true, true, false]);
        assert_eq!([(); 2].map(|()| call(&mut wire, "own")), [true, false]);
        assert_eq!([(); 2].map(|()| complete(&mut wire)), [true, false]);
        assert!(call(&mut other, "a") && call(&mut other, "own") && complete(&mut other));
        wire.advance(Duration::from_secs(1));
        assert_eq!([(); 2].map(|()| call(&mut wire, "a")), [true, false]);
        assert_eq!([(); 2].map(|()| complete(&mut wire)), [true, false]);
        assert!(!call(&mut wire, "own"));
        wire.advance(Duration::from_secs(59));
        assert!(call(&mut wire, "own"));
    }
}

#[test]
fn a_tool_that_takes_the_place_of_another_has_its_own_limit() {
    let limited = |count| tool("a").rate_limit(RateLimit::new(count, Duration::from_secs(60)));
    for revision in revisions() {
        let server = Server::builder("demo", "1").with(limited(1));
        let server = server.build().unwrap();
        let mut wire = LineClient::new(&server, revision);
        let mut calls = |count| {
            let mut call = || wire.ask("tools/call", r#"{"name":"a"}"#);
            let answers = (0..count).map(|_| call());
            let taken = answers.take_while(|answer| !answer.contains("limit reached"));
            taken.count()
        };
        assert_eq!(calls(2), 1);
        server.registry().add(limited(3)).unwrap();
        assert_eq!(calls(4), 3, "{revision}");
        server.registry().add(limited(3)).unwrap();
        assert_eq!(calls(4), 0, "{revision}");
    }
}

/// LG-09.
#[test]
fn log_messages_beyond_the_limit_are_dropped() {
    let server = Server::builder("demo", "1")
        .logging()
        .tool(
            "talk",
            "Logs three times",
            |(): (), cx: Context| async move {
                cx.log(LoggingLevel::Debug, "not wanted").await;
                for count in 1..=3 {
                    cx.log(LoggingLevel::Error, count).await;
                }
                Ok(())
            },
        )
        .rate_limits(RateLimits {
            logs: Some(RateLimit::new(2, Duration::from_secs(2))),
            ..RateLimits::default()
        });
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let talk = |wire: &mut LineClient| {
            let level = r#"{"name":"talk","_meta":{"io.modelcontextprotocol/logLevel":"info"}}"#;
            let plain = r#"{"name":"talk"}"#;
            wire.result(
                "tools/call",
                if revision.is_modern() { level } else { plain },
            );
            let logged = wire.hear();
            let data = logged.iter().map(|line| member(line, &["params", "data"]));
            data.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(talk(&mut wire), "1 2", "{revision}");
        assert_eq!(talk(&mut wire), "");
        wire.advance(Duration::from_secs(1));
        assert_eq!(talk(&mut wire), "1");
    }
}
