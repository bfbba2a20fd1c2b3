//! What a server asks while it works on a call.

use serde_json::json;

use crate::Outcome;
use crate::driver::Driver;
use crate::person::ROOT;

impl Driver {
    pub(crate) async fn elicit(&self) -> Outcome {
        let answer = self
            .text("test_elicitation", json!({"message": "Who?"}))
            .await?;
        check!(answer.contains("ada@example.com"), "{answer}");
        let asked = self.seen(|seen| seen.asked.pop()).unwrap_or_default();
        check!(asked["message"] == "Who?", "{asked}");
        self.seen(|seen| seen.decline = true);
        let declined = self
            .tool("test_elicitation", json!({"message": "Who?"}))
            .await;
        self.seen(|seen| seen.decline = false);
        declined?;
        if *self.person.revision >= *"2025-11-25" {
            let answer = self
                .text("test_elicitation_sep1034_defaults", json!({}))
                .await?;
            check!(answer.contains("John Doe"), "{answer}");
            self.tool("test_elicitation_sep1330_enums", json!({}))
                .await?;
        }
        Ok(())
    }

    pub(crate) async fn elicit_url(&self) -> Outcome {
        self.tool("elicit_url", json!({})).await?;
        let asked = self.seen(|seen| seen.asked.pop()).unwrap_or_default();
        check!(
            asked["mode"] == "url" && asked["url"] == "https://example.com/authorize",
            "{asked}"
        );
        Ok(())
    }

    pub(crate) async fn sampling(&self) -> Outcome {
        let answer = self
            .text("test_sampling", json!({"prompt": "a poem"}))
            .await?;
        check!(answer == "LLM response: heard a poem", "{answer}");
        Ok(())
    }

    pub(crate) async fn roots(&self) -> Outcome {
        let answer = self.text("list_roots", json!({})).await?;
        check!(answer.contains(ROOT), "{answer}");
        if !self.modern {
            self.client.notify_roots_list_changed().await?;
        }
        Ok(())
    }

    pub(crate) async fn rounds(&self) -> Outcome {
        self.seen(|seen| seen.asked.clear());
        self.tool("test_input_required_result_multi_round", json!({}))
            .await?;
        let asked = self.seen(|seen| seen.asked.len());
        check!(asked == 2, "{asked} questions");
        self.tool("test_input_required_result_multiple_inputs", json!({}))
            .await?;
        let answer = self
            .prompt("test_input_required_result_prompt", json!({}))
            .await?;
        check!(answer["messages"][0].is_object(), "{answer}");
        Ok(())
    }
}
