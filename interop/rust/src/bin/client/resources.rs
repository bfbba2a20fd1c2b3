//! Resources, and the news of them and of lists.

use interop_rust::{decoded, of, value};
use serde_json::{Value, json};

use crate::Outcome;
use crate::driver::Driver;

impl Driver {
    pub(crate) async fn resources(&self) -> Outcome {
        let answer = self.read("test://static-text").await?;
        check!(
            answer["contents"][0]["text"] == "This is the content of the static text resource.",
            "{answer}"
        );
        let answer = self.read("test://static-binary").await?;
        check!(
            decoded(&answer["contents"][0]["blob"]).starts_with(b"\x89PNG"),
            "{answer}"
        );
        Ok(())
    }

    pub(crate) async fn templates(&self) -> Outcome {
        let answer = self.read("test://template/123/data").await?;
        let data: Value =
            serde_json::from_str(answer["contents"][0]["text"].as_str().unwrap_or_default())?;
        check!(
            data == json!({"id": "123", "templateTest": true, "data": "Data for ID: 123"}),
            "{data}"
        );
        Ok(())
    }

    pub(crate) async fn subscribe(&self) -> Outcome {
        let uri = "test://watched-resource";
        if self.modern {
            let mut subscription = self
                .client
                .listen(of(json!({"resourceSubscriptions": [uri]})))
                .await?;
            self.tool("touch_resource", json!({"uri": uri})).await?;
            let event = value(&subscription.next().await?);
            check!(event["params"]["uri"] == uri, "{event}");
            subscription.cancel().await?;
            return Ok(());
        }
        self.client.subscribe(of(json!({"uri": uri}))).await?;
        self.tool("touch_resource", json!({"uri": uri})).await?;
        self.until(|seen| !seen.updated.is_empty()).await?;
        self.client.unsubscribe(of(json!({"uri": uri}))).await?;
        self.tool("touch_resource", json!({"uri": uri})).await?;
        self.text("echo", json!({"text": "after"})).await?;
        let updated = self.seen(|seen| std::mem::take(&mut seen.updated));
        check!(updated == [uri], "{updated:?}");
        Ok(())
    }

    pub(crate) async fn changes(&self) -> Outcome {
        let kinds = ["tool", "prompt"];
        if self.modern {
            let filter = of(json!({"toolsListChanged": true, "promptsListChanged": true}));
            let mut subscription = self.client.listen(filter).await?;
            for kind in kinds {
                self.tool(&format!("test_trigger_{kind}_change"), json!({}))
                    .await?;
                let event = value(&subscription.next().await?);
                check!(
                    event["method"] == format!("notifications/{kind}s/list_changed"),
                    "{event}"
                );
            }
            subscription.cancel().await?;
            return Ok(());
        }
        for kind in kinds {
            self.tool(&format!("test_trigger_{kind}_change"), json!({}))
                .await?;
            self.until(|seen| seen.changed.contains(&kind)).await?;
        }
        Ok(())
    }
}
