//! `subscribe`: what changes.

use crate::exit::{Exit, Failure};
use crate::json::{Members, quoted};
use crate::out;
use crate::plain::line;
use crate::session::Session;
use mcp_tokio::client::{Subscription, Update};
use mcp_tokio::json::RawBuf;
use mcp_tokio::mcp_async::model::SubscriptionFilter;

/// Tells of updates as they come: of these resources, and of the lists if that is asked for or
/// nothing else is.
pub(crate) async fn run(
    session: &Session<'_>,
    uris: &[String],
    lists: bool,
    count: Option<u64>,
) -> Result<(), Failure> {
    let lists = lists || uris.is_empty();
    let filter = SubscriptionFilter {
        tools_list_changed: lists,
        prompts_list_changed: lists,
        resources_list_changed: lists,
        resource_subscriptions: uris.to_vec(),
    };
    let mut updates = session.wait(session.client.listen(filter)).await?;
    begin(session, &updates, uris)?;
    let mut left = count;
    while left != Some(0) {
        let Some(update) = session.interrupt.or(updates.next()).await? else {
            return Err(Failure::new(
                Exit::Other,
                "the server has ended the subscription",
            ));
        };
        tell(session, &update)?;
        left = left.map(|left| left - 1);
    }
    Ok(())
}

fn begin(session: &Session<'_>, updates: &Subscription, uris: &[String]) -> Result<(), Failure> {
    let honoured = updates.honoured();
    let refused = uris
        .iter()
        .filter(|uri| !honoured.resource_subscriptions.contains(uri));
    for uri in refused {
        session
            .screen
            .say(format!("the server does not tell of {}", line(uri)));
    }
    if *honoured == SubscriptionFilter::default() {
        return Err(Failure::new(
            Exit::Other,
            "the server tells of none of these changes",
        ));
    }
    if !session.common.json {
        session.screen.say("listening; Ctrl-C ends it");
        return Ok(());
    }
    let honoured = RawBuf::encode(honoured).unwrap_or_default();
    record("listening", "to", honoured)
}

fn tell(session: &Session<'_>, update: &Update) -> Result<(), Failure> {
    let (event, member, what) = match update {
        Update::Resource(uri) => ("updated", "uri", uri.as_str()),
        Update::Tools => ("list_changed", "list", "tools"),
        Update::Prompts => ("list_changed", "list", "prompts"),
        Update::Resources => ("list_changed", "list", "resources"),
        // One that a later version brings.
        _ => return Ok(()),
    };
    if session.common.json {
        return record(event, member, quoted(what));
    }
    match update {
        Update::Resource(_) => out::text(&format!("updated {}", line(what))),
        _ => out::text(&format!("changed: the list of {what}")),
    }
}

fn record(event: &str, member: &str, value: RawBuf) -> Result<(), Failure> {
    let mut record = Members::default();
    record.put("event", quoted(event));
    record.put(member, value);
    out::record(&record.object().unwrap_or_default())
}
