//! The record of a task.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_proto::json::{DecodeError, MAX_DEPTH, Raw, RawBuf};
use mcp_proto::model::TaskStatus;
use mcp_proto::rpc::code;
use serde::{Deserialize, Serialize};

use crate::error::ErrorReply;

/// The record of a task, which a [`TaskStore`](super::TaskStore) keeps.
///
/// A store reads the members that it sorts and compares by, and keeps the rest as
/// [bytes](Self::to_bytes). Times are milliseconds since 1970. A record contains what the client
/// answered and what the handler returned, so it is as confidential as those.
///
/// ```
/// use mcp_async::tasks::store::TaskRecord;
///
/// let record = TaskRecord::new("f3a8", "boot-1", 1_000).with_ttl(Some(60_000));
/// let bytes = record.to_bytes()?;
/// let read = TaskRecord::from_bytes(&bytes)?;
/// assert_eq!((read.id(), read.version(), read.expires_at()), ("f3a8", 1, Some(61_000)));
/// assert!(TaskRecord::from_bytes(b"{}").is_err());
/// # Ok::<(), mcp_async::tasks::store::RecordError>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRecord {
    #[serde(rename = "format")]
    format: u32,
    pub(crate) id: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<Arc<str>>,
    pub(crate) boot: Arc<str>,
    pub(crate) version: u64,
    pub(crate) created: u64,
    pub(crate) updated: u64,
    #[serde(default)]
    pub(crate) ttl: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) poll: Option<u64>,
    pub(crate) status: TaskStatus,
    /// A task of 2025-11-25, which the extension does not show.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) is_core: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) questions: Vec<TaskQuestion>,
    /// Questions that the handler asks no more, and that the client may have seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) withdrawn: Vec<TaskQuestion>,
    /// Answers that the process of the task has not taken yet.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) answers: BTreeMap<String, RawBuf>,
    /// Errors with which the client has answered questions, as well.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) refusals: BTreeMap<String, TaskFailure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<Arc<RawBuf>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<TaskFailure>,
}

/// A question that a task asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskQuestion {
    pub(crate) key: String,
    pub(crate) method: String,
    pub(crate) params: RawBuf,
}

/// The error with which a task failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskFailure {
    pub(crate) code: i64,
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<RawBuf>,
}

impl From<ErrorReply> for TaskFailure {
    fn from(error: ErrorReply) -> Self {
        Self {
            code: code::written(error.code),
            message: error.message.into_owned(),
            data: error.data,
        }
    }
}

impl From<TaskFailure> for ErrorReply {
    fn from(error: TaskFailure) -> Self {
        Self {
            data: error.data,
            ..Self::new(error.code, error.message)
        }
    }
}

impl TaskRecord {
    /// Creates the record of a task that is being worked on, in version 1.
    ///
    /// `boot` names the run of the process that works on it, and `created` is the time in
    /// milliseconds since 1970.
    pub fn new(id: impl Into<String>, boot: impl Into<String>, created: u64) -> Self {
        Self::from_shared(id.into().into(), boot.into().into(), created)
    }

    /// Creates a record like [`new`](Self::new), of texts that are shared.
    pub(crate) const fn from_shared(id: Arc<str>, boot: Arc<str>, created: u64) -> Self {
        Self {
            format: FORMAT,
            id,
            owner: None,
            boot,
            version: 1,
            created,
            updated: created,
            ttl: None,
            poll: None,
            status: TaskStatus::Working,
            is_core: false,
            message: None,
            questions: Vec::new(),
            withdrawn: Vec::new(),
            answers: BTreeMap::new(),
            refusals: BTreeMap::new(),
            result: None,
            error: None,
        }
    }

    /// Sets the name of the principal that the task belongs to.
    #[must_use]
    pub fn with_owner(mut self, owner: Option<impl Into<String>>) -> Self {
        self.owner = owner.map(|owner| owner.into().into());
        self
    }

    /// Sets how long the task is kept from its creation, in milliseconds; `None` means without
    /// limit.
    #[must_use]
    pub const fn with_ttl(mut self, ttl: Option<u64>) -> Self {
        self.ttl = ttl;
        self
    }

    /// Returns the id, which is unique among all tasks.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name of the principal that the task belongs to.
    pub fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    /// Returns the name of the run of a process that works on the task.
    pub fn boot(&self) -> &str {
        &self.boot
    }

    /// Returns the version: 1 for a new record, and one more after each change.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Returns when the task was created.
    pub const fn created_at(&self) -> u64 {
        self.created
    }

    /// Returns when the task is to be forgotten; `None` for a task that is kept without limit.
    pub const fn expires_at(&self) -> Option<u64> {
        match self.ttl {
            Some(ttl) => Some(self.created.saturating_add(ttl)),
            None => None,
        }
    }

    /// Returns the status.
    pub const fn status(&self) -> TaskStatus {
        self.status
    }

    /// Returns the status message.
    pub fn status_message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Returns the next version of the record, failed with this message, to test a store with.
    #[must_use]
    pub fn failed(&self, message: &str) -> Self {
        let mut next = self.clone();
        next.version = next.version.saturating_add(1);
        next.fail(ErrorReply::new(code::INTERNAL_ERROR, message.to_owned()));
        next
    }

    /// Returns the record as bytes: one JSON object.
    ///
    /// # Errors
    /// The record has a value that is nested too deep. The server does not give such a record to a
    /// store.
    pub fn to_bytes(&self) -> Result<Vec<u8>, RecordError> {
        let raw = RawBuf::encode(self).map_err(|_| RecordError(Fault::Depth))?;
        Ok(raw.as_raw().as_bytes().to_vec())
    }

    /// Reads a record.
    ///
    /// # Errors
    /// Bytes that are not a record, or one of a later format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordError> {
        let raw = Raw::parse(bytes, MAX_DEPTH).map_err(|_| RecordError(Fault::Bytes(None)))?;
        let record: Self = raw
            .decode(&mut [])
            .map_err(|error| RecordError(Fault::Bytes(Some(error))))?;
        match record.format {
            FORMAT => Ok(record),
            _ => Err(RecordError(Fault::Bytes(None))),
        }
    }

    /// Returns whether the record, and each message that shows it, can be written.
    pub(crate) fn is_shallow(&self) -> bool {
        // The levels are those of the message around the value.
        let fits = |raw: &RawBuf, levels: u8| {
            let depth = MAX_DEPTH.saturating_sub(levels);
            Raw::parse(raw.as_raw().as_bytes(), depth).is_ok()
        };
        let errors = self.error.iter().chain(self.refusals.values());
        let mut data = errors.filter_map(|error| error.data.as_ref());
        self.result.iter().all(|result| fits(result, 2))
            && data.all(|data| fits(data, 3))
            && self.answers.values().all(|answer| fits(answer, 2))
            && self.questions.iter().all(|it| fits(&it.params, 4))
    }

    /// Returns about how many bytes the record has.
    pub(crate) fn len(&self) -> usize {
        let len = |raw: &RawBuf| raw.as_raw().as_bytes().len();
        let questions = self.questions.iter().chain(&self.withdrawn);
        let questions = questions.map(|asked| {
            asked
                .key
                .len()
                .saturating_add(asked.method.len())
                .saturating_add(len(&asked.params))
        });
        let answers = self.answers.iter();
        let answers = answers.map(|(key, answer)| key.len().saturating_add(len(answer)));
        let errors = self.error.iter().chain(self.refusals.values());
        let error = errors.map(|error| {
            let data = error.data.as_ref().map_or(0, len);
            error.message.len().saturating_add(data)
        });
        let texts = [self.owner(), self.status_message()];
        questions
            .chain(answers)
            .chain(error)
            .chain(self.result.as_deref().map(len))
            .chain(texts.into_iter().flatten().map(str::len))
            .fold(FIXED, usize::saturating_add)
    }

    /// Returns the record after this end of the task; `None` if it has ended before.
    pub(crate) fn ended_by(&self, end: impl FnOnce(&mut Self)) -> Option<Self> {
        (!self.status.is_terminal()).then(|| {
            let mut next = self.clone();
            end(&mut next);
            next
        })
    }

    /// The task has failed.
    pub(crate) fn fail(&mut self, error: ErrorReply) {
        self.end(TaskStatus::Failed);
        self.message = Some(error.message.clone().into_owned());
        self.error = Some(error.into());
    }

    /// The task has ended: it asks nothing any more.
    pub(crate) fn end(&mut self, status: TaskStatus) {
        self.status = status;
        self.questions.clear();
        self.withdrawn.clear();
        self.answers.clear();
        self.refusals.clear();
    }
}

impl fmt::Debug for TaskRecord {
    /// Without ids, owners, answers and results, which are not for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskRecord")
            .field("version", &self.version)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// Bytes that are not a [`TaskRecord`] of this format, or a record that cannot be written.
#[derive(Debug)]
pub struct RecordError(Fault);

#[derive(Debug)]
enum Fault {
    Bytes(Option<DecodeError>),
    Depth,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Fault::Bytes(_) => "the bytes are not the record of a task",
            Fault::Depth => "the record of a task is nested too deep",
        })
    }
}

impl core::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.0 {
            Fault::Bytes(Some(error)) => Some(error),
            _ => None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// The members of fixed size.
const FIXED: usize = 256;
/// Changes when an older program could not read a record.
const FORMAT: u32 = 1;
