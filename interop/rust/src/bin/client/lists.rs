//! What a server says of itself, and its lists in pages.

use interop_rust::{of, value};
use serde_json::{Value, json};

use crate::Outcome;
use crate::driver::{Driver, refused};

impl Driver {
    pub(crate) fn negotiate(&self) -> Outcome {
        let server = value(&*self.client.peer_info().ok_or("no server")?);
        check!(
            server["protocolVersion"] == json!(self.person.revision),
            "{server}"
        );
        check!(
            server["serverInfo"]["name"].is_string() && server["serverInfo"]["version"].is_string(),
            "{server}"
        );
        for capability in ["tools", "resources", "prompts"] {
            check!(server["capabilities"][capability].is_object(), "{server}");
        }
        check!(server["instructions"].is_string(), "{server}");
        Ok(())
    }

    pub(crate) async fn list(&self) -> Outcome {
        for (list, least, member, name) in [
            ("tools", 2, "name", "echo"),
            ("resources", 1, "uri", "test://static-text"),
            (
                "resourceTemplates",
                1,
                "uriTemplate",
                "test://template/{id}/data",
            ),
            ("prompts", 1, "name", "test_prompt_with_arguments"),
        ] {
            let (mut cursor, mut pages, mut found) = (None, 0, false);
            loop {
                let page = self.page(list, cursor).await?;
                found |= page[list]
                    .as_array()
                    .is_some_and(|items| items.iter().any(|item| item[member] == name));
                pages += 1;
                let Some(next) = page["nextCursor"].as_str() else {
                    break;
                };
                cursor = Some(next.to_owned());
            }
            check!(pages >= least && found, "{list}: {pages} pages");
        }
        refused(
            self.page("tools", Some("no such cursor".into())).await,
            -32602,
        )
    }

    pub(crate) async fn page(&self, list: &str, cursor: Option<String>) -> Outcome<Value> {
        let params = cursor.map(|cursor| of(json!({"cursor": cursor})));
        Ok(match list {
            "tools" => value(&self.client.list_tools(params).await?),
            "resources" => value(&self.client.list_resources(params).await?),
            "prompts" => value(&self.client.list_prompts(params).await?),
            _ => value(&self.client.list_resource_templates(params).await?),
        })
    }
}
