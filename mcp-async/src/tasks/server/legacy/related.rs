//! Messages that name the task that they belong to.

use mcp_proto::json::{Object, RawBuf, Str};
use mcp_proto::model::keys::RELATED_TASK;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::error::ErrorReply;

/// An object of a message, with the id of the task in its `_meta` (TK-13).
pub(super) fn related(object: &RawBuf, id: &str) -> Result<RawBuf, ErrorReply> {
    let members = object.as_raw().object().unwrap_or_default();
    let related = Related { members, id };
    RawBuf::encode(&related).map_err(|_| ErrorReply::internal())
}

struct Related<'a> {
    members: Object<'a>,
    id: &'a str,
}

impl Serialize for Related<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.members.members() {
            if name != "_meta" {
                map.serialize_entry(&name, &value)?;
            }
        }
        let meta = self.members.get("_meta").and_then(|meta| meta.object());
        let meta = RelatedMeta {
            members: meta.unwrap_or_default(),
            id: self.id,
        };
        map.serialize_entry("_meta", &meta)?;
        map.end()
    }
}

struct RelatedMeta<'a> {
    members: Object<'a>,
    id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskId<'a> {
    task_id: Str<'a>,
}

impl Serialize for RelatedMeta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.members.members() {
            if name != RELATED_TASK {
                map.serialize_entry(&name, &value)?;
            }
        }
        let task_id = Str::from(self.id);
        map.serialize_entry(RELATED_TASK, &TaskId { task_id })?;
        map.end()
    }
}
