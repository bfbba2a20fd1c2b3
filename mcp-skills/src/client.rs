//! The skills of a server.

use core::fmt;

use mcp_proto::json::{Raw, Str};
use mcp_proto::rpc::Method;
use serde::{Deserialize, Serialize};

use crate::EXTENSION;
use crate::check::SkillCheckError;
use crate::entry::SkillEntry;
use crate::loaded::{LoadError, LoadedSkill};
use mcp_async::client::{CallError, Client, Listed, Page};
use mcp_async::model::{Cursor, ListResourcesResult, Resource};

/// The skills of the server of a client.
///
/// Nothing is sent to a server that does not declare the extension: every call fails with
/// [`CallError::MissingExtension`] then. No file is read before it is asked for.
///
/// A list may be empty or partial although the server has skills; [`get`](Self::get) finds a skill by
/// its URI as well. Names of skills may occur twice, also within one server.
///
/// ```
/// use mcp_async::Client;
/// use mcp_skills::{LoadError, SkillsClient};
///
/// async fn instructions(client: &Client, name: &str) -> Result<String, LoadError> {
///     let skills = SkillsClient::new(client);
///     for entry in skills.all().await? {
///         if entry.frontmatter.name() == Some(name) {
///             // The user consents to the skill here.
///             let skill = skills.load(entry).await?;
///             return Ok(skill.body().to_owned());
///         }
///     }
///     Ok(String::new())
/// }
/// ```
pub struct SkillsClient<'a> {
    pub(crate) client: &'a Client,
}

impl<'a> SkillsClient<'a> {
    /// The skills of the server of this client. Nothing is sent yet.
    pub const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Requests one page of skills, from a cursor on or the first.
    ///
    /// # Errors
    /// Those of a call.
    pub async fn list(&self, cursor: Option<Cursor>) -> Result<Page<SkillEntry>, CallError> {
        self.settings()?;
        self.client.pages(&()).page(cursor).await
    }

    /// Requests all pages of skills. As for other lists, at most 1,000 pages are read.
    ///
    /// # Errors
    /// Those of a call; [`CallError::PaginationLimit`] if the pages do not end.
    pub async fn all(&self) -> Result<Vec<SkillEntry>, CallError> {
        self.settings()?;
        self.client.pages(&()).all().await
    }

    /// Requests the entry of the skill whose `SKILL.md` has this URI, whether it is listed or not.
    ///
    /// # Errors
    /// Those of a call; [`CallError::Server`] with code -32602 if the server has no such skill.
    /// [`SkillCheckError::OtherSkill`] if it answers with another one.
    pub async fn get(&self, uri: &str) -> Result<SkillEntry, LoadError> {
        self.settings()?;
        let params = UriParams { uri };
        let result: GetResult = self.client.request("skills/get", &params).await?;
        if result.skill.uri == uri {
            Ok(result.skill)
        } else {
            Err(SkillCheckError::OtherSkill(result.skill.uri).into())
        }
    }

    /// Requests all files and folders of a folder, not those of the folders in it. The result tells what
    /// there is; only files of an entry belong to a skill.
    ///
    /// # Errors
    /// Those of a call; [`CallError::MissingCapability`] if the server does not declare `directoryRead`; [`CallError::PaginationLimit`] if the pages do not end.
    pub async fn read_directory(&self, uri: &str) -> Result<Vec<Resource>, CallError> {
        if !self.settings()?.directory_read {
            return Err(CallError::MissingCapability(DIRECTORY_READ));
        }
        let params = UriParams { uri };
        let children: Vec<Child> = self.client.pages(&params).all().await?;
        Ok(children.into_iter().map(|child| child.0).collect())
    }

    /// Loads a skill: reads its `SKILL.md`, checks its size and digest, and compares its frontmatter
    /// with the entry. It is used only if all of that is right. The other files are not
    /// read, see [`LoadedSkill::read`].
    ///
    /// The user consents before, for instance with an [`Approval`](crate::Approval). The contents
    /// of a skill are untrusted.
    ///
    /// # Errors
    /// [`LoadError::Check`] with the check that failed: the entry is to be asked for anew then.
    /// [`LoadError::Call`] if the file cannot be read.
    pub async fn load(&self, entry: SkillEntry) -> Result<LoadedSkill<'a>, LoadError> {
        self.settings()?;
        LoadedSkill::load(self.client, entry).await
    }

    /// Returns the settings that the server declares for the extension, if it has the extension.
    fn settings(&self) -> Result<Settings, CallError> {
        let info = self.client.info();
        let settings = info.extension(EXTENSION).and_then(Raw::object);
        let settings = settings.ok_or_else(|| CallError::MissingExtension(EXTENSION.into()))?;
        let flag = settings.get("directoryRead");
        Ok(Settings {
            directory_read: flag.is_some_and(|flag| flag.as_str() == "true"),
        })
    }
}

impl Clone for SkillsClient<'_> {
    fn clone(&self) -> Self {
        *self
    }
}

impl Copy for SkillsClient<'_> {}

impl fmt::Debug for SkillsClient<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SkillsClient").field(self.client).finish()
    }
}

impl Listed for SkillEntry {
    const METHOD: Method<'static> = Method::Other(Str::new("skills/list"));

    fn page(result: Raw<'_>) -> Result<Page<Self>, CallError> {
        let result: ListResult = result.decode(&mut []).map_err(CallError::Decode)?;
        Ok(Page {
            items: result.skills,
            next: result.next_cursor,
        })
    }
}

/// A file or a folder in a folder.
struct Child(Resource);

impl Listed for Child {
    const METHOD: Method<'static> = Method::Other(Str::new("resources/directory/read"));

    fn page(result: Raw<'_>) -> Result<Page<Self>, CallError> {
        let result: ListResourcesResult = result.decode(&mut []).map_err(CallError::Decode)?;
        Ok(Page {
            items: result.resources.into_iter().map(Self).collect(),
            next: result.next_cursor,
        })
    }
}

/// The settings of the extension that the client reads.
struct Settings {
    directory_read: bool,
}

#[derive(Serialize)]
struct UriParams<'a> {
    uri: &'a str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListResult {
    skills: Vec<SkillEntry>,
    next_cursor: Option<Cursor>,
}

#[derive(Deserialize)]
struct GetResult {
    skill: SkillEntry,
}

const DIRECTORY_READ: &str = "extensions.io.modelcontextprotocol/skills.directoryRead";
