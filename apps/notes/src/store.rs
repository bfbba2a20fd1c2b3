//! Notes in SQLite.

use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Result, Row, ToSql, named_params, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How urgent a note is.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// It can wait.
    Low,
    /// As most notes.
    #[default]
    Normal,
    /// It comes first.
    High,
}

/// A note that is to be kept.
#[derive(Deserialize, JsonSchema)]
pub struct Draft {
    /// A short title
    pub title: String,
    /// The text itself
    pub body: String,
    /// How urgent it is
    #[serde(default)]
    pub priority: Priority,
    /// A word to group it by
    pub tag: Option<String>,
}

/// A note of the store.
#[derive(Serialize, JsonSchema)]
pub struct Note {
    /// Its number, unique in the store.
    pub id: i64,
    /// A short title.
    pub title: String,
    /// The text itself.
    pub body: String,
    /// How urgent it is.
    pub priority: Priority,
    /// A word to group it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// What notes to look for.
#[derive(Deserialize, JsonSchema)]
#[serde(default)]
pub struct Query {
    /// A part of the title or the text
    pub text: Option<String>,
    /// Only notes of this priority
    pub priority: Option<Priority>,
    /// Only notes with this tag
    pub tag: Option<String>,
    /// The largest number of notes to return
    #[schemars(range(min = 1, max = 100))]
    pub limit: u32,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            text: None,
            priority: None,
            tag: None,
            limit: 10,
        }
    }
}

/// The notes of all owners. Its methods block.
pub struct Store(Mutex<Connection>);

impl Store {
    /// Opens a database file, or one in memory (`:memory:`).
    ///
    /// # Errors
    /// The file cannot be opened or is not a database.
    pub fn open(path: &str) -> anyhow::Result<Self> {
        let db = Connection::open(path).with_context(|| format!("cannot open {path}"))?;
        db.execute_batch(
            "create table if not exists note(
                id integer primary key,
                owner text not null,
                title text not null,
                body text not null,
                priority text not null,
                tag text
            )",
        )
        .with_context(|| format!("cannot use {path}"))?;
        Ok(Self(Mutex::new(db)))
    }

    /// Keeps a note, and returns it with its number.
    ///
    /// # Errors
    /// Those of the database, as for all methods.
    pub fn add(&self, owner: &str, draft: Draft) -> Result<Note> {
        let Draft {
            title,
            body,
            priority,
            tag,
        } = draft;
        let db = self.lock();
        db.execute(
            "insert into note(owner, title, body, priority, tag) values(?, ?, ?, ?, ?)",
            params![owner, title, body, priority, tag],
        )?;
        let id = db.last_insert_rowid();
        Ok(Note {
            id,
            title,
            body,
            priority,
            tag,
        })
    }

    /// Returns the oldest notes that the query describes.
    pub fn search(&self, owner: &str, query: &Query) -> Result<Vec<Note>> {
        let db = self.lock();
        let mut rows = db.prepare(
            "select id, title, body, priority, tag from note
            where owner = :owner
            and (:text is null or instr(lower(title || char(10) || body), lower(:text)))
            and (:priority is null or priority = :priority)
            and (:tag is null or tag = :tag)
            order by id limit :limit",
        )?;
        let parameters = named_params! {
            ":owner": owner,
            ":text": query.text,
            ":priority": query.priority,
            ":tag": query.tag,
            ":limit": query.limit,
        };
        rows.query_map(parameters, note)?.collect()
    }

    /// Returns one note, if the owner has it.
    pub fn get(&self, owner: &str, id: i64) -> Result<Option<Note>> {
        let db = self.lock();
        let one = "select id, title, body, priority, tag from note where owner = ? and id = ?";
        db.query_row(one, params![owner, id], note).optional()
    }

    /// Deletes a note. Returns whether the owner had it.
    pub fn delete(&self, owner: &str, id: i64) -> Result<bool> {
        let db = self.lock();
        let deleted = db.execute(
            "delete from note where owner = ? and id = ?",
            params![owner, id],
        )?;
        Ok(deleted > 0)
    }

    /// Returns the numbers of all notes of an owner.
    pub fn ids(&self, owner: &str) -> Result<Vec<i64>> {
        let db = self.lock();
        let mut rows = db.prepare("select id from note where owner = ? order by id")?;
        rows.query_map([owner], |row| row.get(0))?.collect()
    }

    /// A panic leaves no statement half done, so the connection can be used after it.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn note(row: &Row<'_>) -> Result<Note> {
    Ok(Note {
        id: row.get(0)?,
        title: row.get(1)?,
        body: row.get(2)?,
        priority: row.get(3)?,
        tag: row.get(4)?,
    })
}

impl ToSql for Priority {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }))
    }
}

impl FromSql for Priority {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "low" => Ok(Self::Low),
            "normal" => Ok(Self::Normal),
            "high" => Ok(Self::High),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}
