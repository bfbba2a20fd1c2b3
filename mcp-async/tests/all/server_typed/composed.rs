//! One server made of several builders.

use mcp_async::server::layers::around;
use mcp_async::server::{Context, Prompt, ServerBuilder, Tool};
use mcp_async::{Client, Server};

use crate::client_typed::support::{join, run};
use crate::server_typed::support::{revisions, says};
use crate::sim::{end, settle};

struct Shelf(&'static str);

/// A server whose tool, prompt, resource and template tell from which shelf they are.
fn shelf(name: &'static str) -> ServerBuilder<Shelf> {
    async fn tell(
        (): (),
        cx: Context<Shelf>,
    ) -> Result<&'static str, mcp_async::server::HandlerError> {
        Ok(cx.state().0)
    }
    Server::builder(name, "1")
        .with_state(Shelf(name))
        .tool("look", "Looks", tell)
        .prompt("ask", "Asks", tell)
        .resource(
            format!("shelf://{name}"),
            name,
            |cx: Context<Shelf>| async move { Ok(cx.state().0) },
        )
        .template(
            format!("{name}://{{book}}"),
            name,
            |(): (), cx: Context<Shelf>| async move { Ok(cx.state().0) },
        )
        .method(format!("example.com/{name}"), |params, _| async move {
            Ok(params)
        })
}

async fn told(client: &Client, tool: &str) -> String {
    client
        .call_tool(tool, &())
        .await
        .expect("it answers")
        .text()
}

#[test]
fn merged_and_nested_servers_keep_their_states() {
    for revision in revisions() {
        run(async {
            let server = Server::builder("library", "1")
                .tool("open", "Opens", says("open"))
                .merge(shelf("a"))
                .nest("b", shelf("b"));
            let client = join(&server, revision).await;
            let names: Vec<String> = client
                .tools()
                .all()
                .await
                .unwrap()
                .into_iter()
                .map(|tool| tool.name)
                .collect();
            assert_eq!(names, ["b_look", "look", "open"]);
            assert_eq!(told(&client, "look").await, "a");
            assert_eq!(told(&client, "b_look").await, "b");
            let asked = client.get_prompt("b_ask", &()).await.unwrap();
            assert_eq!(asked.messages[0].content.as_text(), Some("b"));
            for uri in ["shelf://b", "b://x", "a://x"] {
                let read = client.read_resource(uri).await.unwrap();
                assert_eq!(
                    read.text().as_deref(),
                    Some(if uri.starts_with('a') { "a" } else { "b" }),
                    "{uri}"
                );
            }
            client.close().await.unwrap();
        });
        settle();
        end();
    }
}

#[test]
fn a_clone_of_a_builder_is_not_renamed() {
    let other = shelf("b");
    let nested = Server::builder("library", "1").nest("b", other.clone());
    run(async {
        let client = join(&other, mcp_async::Revision::V2025_11_25).await;
        assert_eq!(told(&client, "look").await, "b");
        let client = join(&nested, mcp_async::Revision::V2025_11_25).await;
        assert_eq!(told(&client, "b_look").await, "b");
    });
    settle();
    end();
}

#[test]
fn what_cannot_be_merged_is_a_mistake() {
    let check = |server: ServerBuilder, expected: &[&str]| {
        let error = server.build().expect_err("it has mistakes");
        let mistakes: Vec<String> = error.mistakes().iter().map(ToString::to_string).collect();
        assert_eq!(mistakes, expected);
    };
    let library = || Server::builder("library", "1");
    check(
        library().merge(shelf("a")).nest("x", shelf("a")),
        &[
            "resource `shelf://a`: it is registered twice",
            "template `a://{book}`: it is registered twice",
            "method `example.com/a`: it is registered twice",
        ],
    );
    check(
        library()
            .merge(shelf("a"))
            .merge(library().with(Prompt::new("ask").handler(|(): (), _| async { Ok("") }))),
        &["prompt `ask`: it is registered twice"],
    );
    check(
        library().nest(
            "a shelf",
            library().with(Tool::new("look").handler(says("x"))),
        ),
        &["tool `a shelf_look`: its name is not 1 to 128 of A-Z a-z 0-9 _ . -"],
    );
    check(
        library().merge(library().layer(around(|call, service| service.call(call)))),
        &[
            "setting `layer`: a server with layers, or with an extension that has one, cannot be merged",
        ],
    );
    // Mistakes of the other builder are not lost.
    check(
        library().merge(library().tool("a tool", "", says("x"))),
        &["tool `a tool`: its name is not 1 to 128 of A-Z a-z 0-9 _ . -"],
    );
}
