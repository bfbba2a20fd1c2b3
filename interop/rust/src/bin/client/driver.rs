//! One client and the person before it, and how every feature uses them.

use std::time::{Duration, Instant};

use interop_rust::{of, value};
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceError};
use serde_json::{Value, json};

use crate::Outcome;
use crate::person::{Person, Seen};

pub(crate) struct Driver {
    pub(crate) client: RunningService<RoleClient, Person>,
    pub(crate) person: Person,
    pub(crate) modern: bool,
}

impl Driver {
    pub(crate) async fn text(&self, name: &str, arguments: Value) -> Outcome<String> {
        let answer = self.tool(name, arguments).await?;
        let blocks = answer["content"].as_array().ok_or("no content")?;
        Ok(blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect())
    }

    pub(crate) async fn tool(&self, name: &str, arguments: Value) -> Outcome<Value> {
        let answer = self
            .call_tool(json!({"name": name, "arguments": arguments}))
            .await?;
        check!(answer["isError"] != true, "{answer}");
        Ok(answer)
    }

    pub(crate) async fn call_tool(&self, params: Value) -> Outcome<Value> {
        Ok(value(&self.client.call_tool(of(params)).await?))
    }

    pub(crate) async fn read(&self, uri: &str) -> Outcome<Value> {
        Ok(value(
            &self.client.read_resource(of(json!({"uri": uri}))).await?,
        ))
    }

    pub(crate) async fn prompt(&self, name: &str, arguments: Value) -> Outcome<Value> {
        Ok(value(
            &self
                .client
                .get_prompt(of(json!({"name": name, "arguments": arguments})))
                .await?,
        ))
    }

    pub(crate) async fn raw(&self, method: &str, params: Value) -> Outcome<Value> {
        Ok(value(
            &self
                .client
                .send_request(of(json!({"method": method, "params": params})))
                .await?,
        ))
    }

    pub(crate) fn seen<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.person.seen.lock().unwrap())
    }

    pub(crate) async fn until(&self, condition: impl Fn(&Seen) -> bool) -> Outcome {
        let began = Instant::now();
        while !self.seen(|seen| condition(seen)) {
            check!(began.elapsed() < Duration::from_secs(20), "waited in vain");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }
}

pub(crate) fn refused<T>(outcome: Outcome<T>, code: i32) -> Outcome {
    let error = outcome.err().ok_or("was not refused")?;
    let Some(ServiceError::McpError(refusal)) = error.downcast_ref() else {
        return Err(error);
    };
    check!(
        refusal.code.0 == code,
        "{} instead of {code}",
        refusal.code.0
    );
    Ok(())
}
