//! Errors and what caused them: the text of the cause is its own, and `source` leads to it.

use core::error::Error;
use std::io;
use std::sync::Arc;

use mcp_async::client::{CallError, ConnectError};
use mcp_async::http::StoreError;
use mcp_async::model::ElicitUrlParams;
use mcp_async::net::{RootCertificates, SendFailed};
use mcp_async::schema::{PublishError, SchemaError};
use mcp_async::server::{AskError, Prompt, ServerBuilder, StateError, Tool};
use mcp_async::{ErrorChain, ErrorReply, Server, schema};
use mcp_proto::SendError;
use mcp_proto::json::{DecodeError, EncodeError, Raw, RawBuf};

fn decode() -> DecodeError {
    let number = Raw::parse(b"1", 8).unwrap();
    number.decode::<String>(&mut []).unwrap_err()
}

fn reply() -> ErrorReply {
    ErrorReply::new(7, "out of paper")
}

#[test]
fn no_error_repeats_its_source() {
    let form = schema::form::<String>().unwrap_err();
    let bad = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let errors: Vec<Box<dyn Error>> = vec![
        Box::new(CallError::Refused(SendError::Encode)),
        Box::new(CallError::Decode(decode())),
        Box::new(AskError::Client(reply())),
        Box::new(AskError::Rejected(reply())),
        Box::new(AskError::Refused(SendError::Encode)),
        Box::new(AskError::Decode(decode())),
        Box::new(AskError::Form(form)),
        Box::new(StateError::Encode(EncodeError::Key)),
        Box::new(StateError::Decode(decode())),
        Box::new(StoreError::new("the disk is full")),
        Box::new(ConnectError::Start(Arc::new(io::Error::other(
            "no such program",
        )))),
        Box::new(SendFailed::Lost("reset".into())),
        Box::new(SendFailed::Unreachable {
            server: "a.example:80".into(),
            cause: io::Error::other("no such name"),
        }),
        Box::new(RootCertificates::from_pem(bad).unwrap_err()),
        Box::new(PublishError::Refused {
            place: "/inputSchema",
            error: SchemaError::Circle,
        }),
    ];
    for error in &errors {
        let (text, source) = (error.to_string(), error.source());
        let source = source.unwrap_or_else(|| panic!("{error:?} has no source"));
        assert!(!text.contains(&source.to_string()), "{text}");
        let chain = ErrorChain(&**error).to_string();
        assert!(chain.starts_with(&format!("{text}: {source}")), "{chain}");
    }
}

#[test]
fn each_mistake_of_a_builder_is_stated_once() {
    let one = Server::builder("demo", "1.0").with(Tool::new("t"));
    let two = one.clone().with(Prompt::new("p"));
    let check = |builder: ServerBuilder, text: &str| {
        let error = builder.build().unwrap_err();
        assert_eq!(error.to_string(), text);
        assert_eq!(ErrorChain(&error).to_string(), text);
        assert_eq!(format!("{error:?}"), format!("BuildError: {text}"));
    };
    check(one, "the server has a mistake: tool `t`: no handler");
    check(
        two,
        "the server has 2 mistakes: tool `t`: no handler; prompt `p`: no handler",
    );
}

/// What says all that there is to say has no source.
#[test]
fn errors_without_a_source() {
    let errors: Vec<Box<dyn Error>> = vec![
        Box::new(reply()),
        Box::new(CallError::Server(reply())),
        Box::new(CallError::Input(reply())),
        Box::new(ConnectError::Refused(reply())),
        Box::new(CallError::Timeout),
        Box::new(CallError::MissingCapability("tools")),
        Box::new(ConnectError::Closed),
        Box::new(AskError::Mismatch("a: a value is required".into())),
        Box::new(AskError::Key),
        Box::new(StateError::Full),
        Box::new(SendFailed::Redirects),
        Box::new(ConnectError::Timeout),
        Box::new(SchemaError::Circle),
    ];
    for error in &errors {
        assert!(error.source().is_none(), "{error:?}");
        assert_eq!(ErrorChain(&**error).to_string(), error.to_string());
    }
}

/// A program that prints an error with `{error}` shows what the server said, and how much of it.
#[test]
fn errors_show_the_reply() {
    let check = |error: &dyn Error, shown: &str| assert_eq!(error.to_string(), shown);
    check(
        &CallError::Server(reply()),
        "the server answered with an error: out of paper (code 7)",
    );
    check(
        &CallError::Input(reply()),
        "the input that the server wants is refused: out of paper (code 7)",
    );
    check(
        &ConnectError::Refused(reply()),
        "the server refused: out of paper (code 7)",
    );
    check(
        &CallError::Server(ErrorReply::new(1, "red\u{1b}[31m\nnext line")),
        "the server answered with an error: red\\u{1b}[31m\\nnext line (code 1)",
    );
    let long = "é".repeat(1001);
    check(
        &ErrorReply::new(-1, long.clone()),
        &format!("{}… (code -1)", &long[..2000]),
    );
}

/// EL-13: what one side demands the other one reads.
#[test]
fn pages_to_visit_are_read_as_they_were_written() {
    let page = |url: &str| ElicitUrlParams {
        url: url.to_owned(),
        elicitation_id: Some("e1".to_owned()),
        ..ElicitUrlParams::default()
    };
    let demand = ErrorReply::url_elicitation_required(
        "sign in",
        [page("https://a.example"), page("https://b.example")],
    );
    let urls = demand.url_elicitations().into_iter().map(|page| page.url);
    assert_eq!(
        Vec::from_iter(urls),
        ["https://a.example", "https://b.example"]
    );
    assert!(
        ErrorReply { code: 7, ..demand }
            .url_elicitations()
            .is_empty()
    );
    for data in ["[]", r#"{"elicitations":[{}]}"#] {
        let data = RawBuf::parse(data).ok();
        let reply = ErrorReply {
            data,
            ..ErrorReply::new(-32042, "sign in")
        };
        assert!(reply.url_elicitations().is_empty());
    }
}

/// JR-24: every revision's way to say it is known.
#[test]
fn resources_that_are_not_found_are_told_from_other_errors() {
    let is_resource_not_found = |code, data: Option<&str>| {
        let data = data.map(|data| RawBuf::parse(data).unwrap());
        CallError::Server(ErrorReply {
            data,
            ..ErrorReply::new(code, "no")
        })
        .is_resource_not_found()
    };
    assert!(is_resource_not_found(-32002, None));
    assert!(is_resource_not_found(-32602, Some(r#"{"uri":"a:b"}"#)));
    assert!(!is_resource_not_found(-32602, None));
    assert!(!is_resource_not_found(-32001, None));
    assert!(!CallError::Timeout.is_resource_not_found());
}
