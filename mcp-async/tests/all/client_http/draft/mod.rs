//! The transports draft of spring 2026, as a client keeps it: sessions and mirrored headers at
//! once. One test for each thing that it says otherwise than its neighbours (DF-01 to DF-05).

mod headers;
mod streams;

use core::future::Future;

use mcp_async::Client;
use mcp_async::model::{ElicitParams, ElicitResult, Root};
use mcp_proto::Revision;
use mcp_proto::json::RawBuf;

use crate::scripted::http_server::{Asked, HttpServer, Wire, check};

const NAMED: Revision = Revision::DraftV1;
const LATEST: Revision = Revision::V2025_11_25;

/// The draft in its own name, and switched on for a published revision.
const WAYS: [(Revision, bool); 2] = [(NAMED, false), (LATEST, true)];

async fn client(site: &HttpServer, revision: Revision, switched: bool) -> Client {
    let mut builder = site
        .client(&[revision])
        .roots([Root::new("file:///home/ada")])
        .on_elicitation(|_: ElicitParams, _| async { Ok(ElicitResult::decline()) });
    if switched {
        builder = builder.draft_profile();
    }
    site.join(builder).await.unwrap()
}

/// Runs both scripts in each way to speak the draft; the server's begins in an open session.
fn each<C, S>(script: impl Fn(Client) -> C, server: impl Fn(HttpServer) -> S)
where
    C: Future<Output = ()>,
    S: Future<Output = ()>,
{
    let server = &server;
    each_opened(script, |site, asked| async move {
        asked.refuse(405, "");
        server(site).await;
    });
}

/// The same with a stream of the server's own.
fn each_listening<C, S>(script: impl Fn(Client) -> C, server: impl Fn(HttpServer, Wire) -> S)
where
    C: Future<Output = ()>,
    S: Future<Output = ()>,
{
    let server = &server;
    each_opened(script, |site, asked| async move {
        let own = asked.stream();
        server(site, own).await;
    });
}

/// Runs both scripts in each way to speak the draft; the server's begins when the client asks for its stream.
fn each_opened<C, S>(script: impl Fn(Client) -> C, server: impl Fn(HttpServer, Asked) -> S)
where
    C: Future<Output = ()>,
    S: Future<Output = ()>,
{
    for (revision, switched) in WAYS {
        let (script, server) = (&script, &server);
        check(
            |site| async move { script(client(&site, revision, switched).await).await },
            |site| async move {
                site.expect("\"initialize\"").await.all(revision);
                site.expect("notifications/initialized").await.accept();
                let asked = site.expect("GET").await;
                server(site, asked).await;
            },
        );
    }
}

impl Asked {
    /// Opens a session of this revision, in which the server has everything.
    fn all(self, revision: Revision) {
        let id = self.id().to_owned();
        let answer = format!(
            r#"{id} = {{"protocolVersion":"{revision}","capabilities":{{"tools":{{}},"resources":{{}},"prompts":{{}},"logging":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}"#
        );
        self.json(200, "s-1", &answer);
    }

    fn tools(self, properties: &str) {
        let schema = format!(r#"{{"type":"object","properties":{{{properties}}}}}"#);
        self.result(&format!(
            r#"{{"tools":[{{"name":"route","inputSchema":{schema}}}]}}"#
        ));
    }

    fn done(self) {
        self.result(r#"{"content":[]}"#);
    }

    #[track_caller]
    fn says(&self, fields: &[(&str, &str)]) {
        for (name, value) in fields {
            assert_eq!(self.field(name), *value, "{name} with {}", self.body);
        }
    }
}

/// Arguments as they are written.
fn arguments(text: &str) -> RawBuf {
    RawBuf::parse(text).unwrap()
}

/// Lists the tools, of which one has these properties, and calls it: it is there, and the head of
/// the call has these fields.
fn check_call(properties: &str, said: &str, fields: &[(&str, &str)]) {
    each(
        |client| async move {
            assert_eq!(client.tools().all().await.unwrap().len(), 1);
            client.call_tool("route", &arguments(said)).await.unwrap();
        },
        |site| async move {
            site.expect("tools/list").await.tools(properties);
            let asked = site.expect("tools/call").await;
            asked.says(fields);
            asked.done();
        },
    );
}

/// A tool with these properties is not there.
fn check_dropped(properties: &str) {
    each(
        |client| async move { assert!(client.tools().all().await.unwrap().is_empty()) },
        |site| async move { site.expect("tools/list").await.tools(properties) },
    );
}

const FORM: &str =
    r#""q" elicitation/create {"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;

#[test]
fn off_by_default() {
    check(
        |site| async move {
            let client = site.join(Client::builder("t", "1")).await.unwrap();
            client.call_tool("a", &()).await.unwrap();
        },
        |site| async move {
            let asked = site.expect("server/discover").await;
            assert!(!asked.body.contains("DRAFT"));
            asked.refuse(400, "");
            let asked = site.expect("initialize").await;
            assert!(asked.body.contains(r#""protocolVersion":"2025-11-25""#));
            asked.says(&[("mcp-method", "")]);
            asked.session(LATEST);
            site.expect("notifications/initialized").await.accept();
            site.expect("GET").await.refuse(405, "");
            let asked = site.expect("tools/call").await;
            asked.says(&[("mcp-method", ""), ("mcp-name", "")]);
            asked.done();
        },
    );
}

/// It is accepted where it is switched on, and offered where there is nothing else.
#[test]
fn offers() {
    for (revision, switched) in WAYS {
        check(
            |site| async move {
                let client = client(&site, revision, switched).await;
                assert_eq!(client.info().revision, NAMED);
            },
            |site| async move {
                let asked = site.expect("\"initialize\"").await;
                let offer = format!(r#""protocolVersion":"{revision}""#);
                assert!(asked.body.contains(&offer), "{}", asked.body);
                asked.all(NAMED);
            },
        );
    }
}
