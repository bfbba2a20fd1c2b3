//! Prompts, and what completes an argument.

use interop_rust::{of, value};
use serde_json::json;

use crate::Outcome;
use crate::driver::Driver;

impl Driver {
    pub(crate) async fn prompts(&self) -> Outcome {
        let answer = self.prompt("test_simple_prompt", json!({})).await?;
        let message = &answer["messages"][0];
        check!(
            message["role"] == "user" && message["content"]["text"].is_string(),
            "{answer}"
        );
        let answer = self
            .prompt(
                "test_prompt_with_arguments",
                json!({"arg1": "hello", "arg2": "world"}),
            )
            .await?;
        let text = &answer["messages"][0]["content"]["text"];
        check!(
            text == "Prompt with arguments: arg1='hello', arg2='world'",
            "{answer}"
        );
        let answer = self
            .prompt(
                "test_prompt_with_embedded_resource",
                json!({"resourceUri": "test://a"}),
            )
            .await?;
        check!(
            answer["messages"][0]["content"]["resource"]["uri"] == "test://a",
            "{answer}"
        );
        let answer = self.prompt("test_prompt_with_image", json!({})).await?;
        check!(
            answer["messages"][0]["content"]["type"] == "image",
            "{answer}"
        );
        Ok(())
    }

    pub(crate) async fn complete(&self) -> Outcome {
        let prompt = json!({"type": "ref/prompt", "name": "test_prompt_with_arguments"});
        let params = json!({"ref": prompt, "argument": {"name": "arg1", "value": "par"}});
        let answer = value(&self.client.complete(of(params)).await?);
        check!(
            answer["completion"]["values"] == json!(["paris", "park", "party"]),
            "{answer}"
        );
        if *self.person.revision >= *"2025-06-18" {
            let argument = json!({"name": "arg1", "value": "pari"});
            let params = json!({"ref": prompt, "argument": argument, "context": {"arguments": {"arg2": "x"}}});
            let answer = value(&self.client.complete(of(params)).await?);
            check!(
                answer["completion"]["values"] == json!(["paris-x"]),
                "{answer}"
            );
        }
        let template = json!({"type": "ref/resource", "uri": "test://template/{id}/data"});
        let params = json!({"ref": template, "argument": {"name": "id", "value": ""}});
        let completion = value(&self.client.complete(of(params)).await?)["completion"].take();
        let values = completion["values"].as_array().map_or(0, Vec::len);
        check!(
            values == 100 && completion["hasMore"] == true,
            "{completion}"
        );
        Ok(())
    }
}
