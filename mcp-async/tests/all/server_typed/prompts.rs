//! Prompts and completions.

use std::collections::BTreeMap;

use mcp_async::Server;
use mcp_async::model::{Completion, Content, GetPromptResult, PromptArgument, PromptMessage};
use mcp_async::server::{
    CompletionRequest, Context, HandlerError, Prompt, ServerBuilder, Template,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::scripted::{LineClient, member, text};
use crate::server_typed::support::{revisions, says};
use crate::texts::{INTERNAL_ERROR, has, rows};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Dry,
    Warm,
}

#[derive(Deserialize, JsonSchema)]
struct Greeting {
    /// Whom to greet
    name: String,
    /// How often
    #[schemars(title = "Times")]
    count: Option<u8>,
    tone: Option<Tone>,
}

fn server() -> ServerBuilder {
    Server::builder("demo", "1")
        .prompt("greet", "Greets", |args: Greeting, _: Context| async move {
            let tone = match args.tone {
                Some(Tone::Dry) => "dryly",
                Some(Tone::Warm) | None => "warmly",
            };
            let count = args.count.unwrap_or(1);
            Ok(format!("Greet {} {count} times, {tone}.", args.name))
        })
        .with(
            Prompt::new("talk")
                .description("A conversation")
                .argument(PromptArgument::optional("topic"))
                .handler(|args: BTreeMap<String, String>, _| async move {
                    let topic = args.get("topic").cloned().unwrap_or_default();
                    Ok(GetPromptResult {
                        description: Some(format!("On {topic}")),
                        ..vec![
                            PromptMessage::user("Hello"),
                            PromptMessage::assistant(Content::image(b"x", "image/png")),
                        ]
                        .into()
                    })
                }),
        )
        .with(
            Prompt::new("translate")
                .argument(PromptArgument::required("text"))
                .handler(|args: BTreeMap<String, String>, _| async move {
                    Ok(args.get("text").cloned().unwrap_or_default())
                }),
        )
        .prompt("fail", "Fails", |(): (), _: Context| async {
            Err::<String, _>(HandlerError::visible("not today"))
        })
}

/// PR-08.
#[test]
fn arguments_come_from_the_type() {
    for revision in revisions() {
        let mut wire = LineClient::new(&server(), revision);
        let list = wire.result("prompts/list", "{}");
        let title = match revision.structured_content() {
            mcp_proto::revision::StructuredContent::Absent => "",
            _ => r#""title":"Times","#,
        };
        assert_eq!(
            member(&list, &["prompts", "1", "arguments"]),
            format!(
                r#"[{{"name":"name","description":"Whom to greet","required":true}},{{"name":"count",{title}"description":"How often"}},{{"name":"tone"}}]"#
            )
        );
        assert_eq!(member(&list, &["prompts", "0", "arguments"]), "");
        assert_eq!(
            member(&list, &["prompts", "2", "arguments"]),
            r#"[{"name":"topic"}]"#
        );
    }
}

/// PR-05, PR-08.
#[test]
fn texts_become_what_the_type_says() {
    for revision in revisions() {
        let mut wire = LineClient::new(&server(), revision);
        let mut get = |name: &str, arguments: &str| {
            wire.result(
                "prompts/get",
                &format!(r#"{{"name":"{name}","arguments":{arguments}}}"#),
            )
        };
        assert_eq!(
            get("greet", r#"{"name":"Ada","count":"3","tone":"dry"}"#),
            r#"{"description":"Greets","messages":[{"role":"user","content":{"type":"text","text":"Greet Ada 3 times, dryly."}}]}"#
        );
        has(
            &get("greet", r#"{"name":"A\u0064a","count":null}"#),
            ["Greet Ada 1 times, warmly."],
        );
        assert_eq!(
            get("talk", r#"{"topic":"art"}"#),
            r#"{"description":"On art","messages":[{"role":"user","content":{"type":"text","text":"Hello"}},{"role":"assistant","content":{"type":"image","data":"eA==","mimeType":"image/png"}}]}"#
        );
    }
}

/// PR-03, PR-04, PR-08.
#[test]
fn what_does_not_fit_is_refused_by_its_name() {
    let cases = r#"
        {"name":"none"}                                     | -32602 | Unknown prompt: none
        {"name":"greet"}                                    | -32602 | Invalid arguments: missing member `name`
        {"name":"translate","arguments":{"text":null}}      | -32602 | Invalid arguments: missing member `text`
        {"name":"greet","arguments":{"name":"x","count":"many"}} | -32602 | Invalid arguments: count: expected u8, found string
        {"name":"greet","arguments":{"name":7}}             | -32602 | Invalid arguments: name: expected a string, found number
        {"name":"greet","arguments":["x"]}                  | -32602 | Invalid arguments: expected an object, found array
        {"name":"fail"}                                     | -32603 | not today
    "#;
    for revision in revisions() {
        let mut wire = LineClient::new(&server(), revision);
        for [params, code, message] in rows(cases) {
            let found = wire.error("prompts/get", params);
            assert_eq!(found, (code.parse().unwrap(), message.into()), "{revision}");
        }
    }
}

/// CP-02, CP-04, CP-05.
#[test]
fn completions_know_what_is_typed_and_stop_at_100() {
    let prompt = Prompt::new("p")
        .argument(PromptArgument::optional("plain"))
        .argument(PromptArgument::optional("city"))
        .argument(PromptArgument::optional("fails"))
        .complete("city", |typed: CompletionRequest, _| async move {
            let country = typed.arguments.get("country").cloned().unwrap_or_default();
            Ok(vec![format!("{}-{country}", typed.value)])
        })
        .complete("fails", |_, _| async {
            Err::<Completion, _>("x".parse::<u8>().unwrap_err().into())
        })
        .handler(says(""));
    let template = Template::new("x://{id}/{plain}", "x")
        .complete("id", |typed: CompletionRequest, _| async move {
            let all = (1..=150).map(|id: u8| id.to_string());
            Ok(Vec::from_iter(
                all.filter(|id| id.starts_with(&typed.value)),
            ))
        })
        .raw(|_, _| async { Ok("") });
    let server = Server::builder("demo", "1").with(prompt).with(template);
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let mut complete = |reference: &str, name: &str, value: &str, more: &str| {
            let argument = format!(r#"{{"name":"{name}","value":"{value}"}}"#);
            let params = format!(r#"{{"ref":{reference},"argument":{argument}{more}}}"#);
            let answer = wire.ask("completion/complete", &params);
            let code = member(&answer, &["error", "code"]);
            if code.is_empty() {
                member(&answer, &["result", "completion"])
            } else {
                format!("{code} {}", text(&answer, &["error", "message"]))
            }
        };
        let p = r#"{"type":"ref/prompt","name":"p"}"#;
        let x = r#"{"type":"ref/resource","uri":"x://{id}/{plain}"}"#;
        assert_eq!(
            complete(
                p,
                "city",
                "K",
                r#","context":{"arguments":{"country":"Japan"}}"#
            ),
            r#"{"values":["K-Japan"],"total":1}"#
        );
        // Some clients send what is not filled in as an empty string.
        assert_eq!(
            complete(
                p,
                "city",
                "K",
                r#","context":{"arguments":{"country":"","other":""}}"#
            ),
            complete(p, "city", "K", "")
        );
        assert_eq!(complete(p, "city", "", ""), r#"{"values":["-"],"total":1}"#);
        assert_eq!(complete(p, "plain", "", ""), r#"{"values":[]}"#);
        assert_eq!(complete(x, "plain", "", ""), r#"{"values":[]}"#);
        assert_eq!(complete(p, "none", "", ""), "-32602 Unknown argument: none");
        assert_eq!(
            complete(p, "fails", "", ""),
            format!("-32603 {INTERNAL_ERROR}")
        );
        let all = complete(x, "id", "", "");
        assert_eq!(member(&all, &["total"]), "150");
        assert_eq!(member(&all, &["hasMore"]), "true");
        assert_eq!(member(&all, &["values", "99"]), r#""100""#);
        assert_eq!(member(&all, &["values", "100"]), "");
        assert_eq!(
            complete(r#"{"type":"ref/resource","uri":"x://1/2"}"#, "id", "15", ""),
            r#"{"values":["15","150"],"total":2}"#
        );
        for [reference, expected] in rows(
            r#"
            {"type":"ref/prompt","name":"q"}     | -32602 Unknown prompt: q
            {"type":"ref/resource","uri":"y:"}   | -32602 Unknown resource template: y:
            {"type":"ref/new"}                   | -32602 ref: unknown type of reference
            {}                                   | -32602
            "#,
        ) {
            let found = complete(reference, "a", "", "");
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
