//! `tasks/list` of 2025-11-25.

use std::sync::Arc;

use mcp_proto::json::Str;
use mcp_proto::rpc::code;

use super::super::engine::{Engine, owner};
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::model::ListTasksResult;
use crate::server::Call;
use crate::tasks::legacy::shown;

impl Engine {
    /// The tasks of the caller, in the order of their ids (TK-17).
    pub(in super::super) fn list(self: &Arc<Self>, call: Call<'_>) -> Job {
        // TK-19
        let Some(owner) = owner(call.context()) else {
            return call.refuse(ErrorReply::method_not_found());
        };
        let after = call.request.subject.map(Str::to_cow);
        // A cursor is the id of the last task of a page.
        if after.as_deref().is_some_and(|cursor| !is_id(cursor)) {
            return call.refuse(ErrorReply::invalid_params("Invalid cursor"));
        }
        let after = after.map(|cursor| cursor.into_owned());
        let engine = Arc::clone(self);
        call.answer(async move {
            let list = engine.ask(|store| store.list(&owner, after.as_deref(), PAGE + 1));
            let mut listed = list.await?;
            let has_more = listed.len() > PAGE;
            listed.truncate(PAGE);
            let last = listed.last().filter(|_| has_more);
            let next_cursor = last.map(|record| record.id().to_owned().into());
            let mut tasks = Vec::new();
            for record in listed {
                if !record.is_core || record.owner() != Some(&owner) {
                    continue;
                }
                match engine.current(record).await {
                    Ok(record) => tasks.push(shown(&record)),
                    // Its time is over.
                    Err(error) if error.code == code::INVALID_PARAMS => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(ListTasksResult {
                tasks,
                next_cursor,
                ..ListTasksResult::default()
            })
        })
    }
}

/// Returns true if the text has the form of the ids that the engine makes.
fn is_id(cursor: &str) -> bool {
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    cursor.len() == 32 && cursor.bytes().all(is_digit)
}

/// The tasks on a page.
const PAGE: usize = 100;
