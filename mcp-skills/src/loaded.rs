//! Skills that are in use.

use core::fmt;

use crate::check::{SkillCheckError, verify};
use crate::entry::{SkillEntry, SkillResources};
use crate::frontmatter::{Frontmatter, read_text};
use crate::uri::{encode_path, folder_of, is_inside};
use mcp_async::client::{CallError, Client};
use mcp_async::model::{ReadResourceResult, ResourceContents};

/// A skill that a host uses: its `SKILL.md` is read and checked. See
/// [`SkillsClient::load`](crate::SkillsClient::load).
///
/// ```
/// use mcp_skills::{LoadError, LoadedSkill};
///
/// async fn form(skill: &LoadedSkill<'_>) -> Result<String, LoadError> {
///     let file = skill.read("references/FORMS.md").await?;
///     Ok(file.text().unwrap_or_default().to_owned())
/// }
/// ```
pub struct LoadedSkill<'a> {
    client: &'a Client,
    entry: SkillEntry,
    text: String,
    /// The position at which the text after the frontmatter begins.
    body: usize,
}

impl<'a> LoadedSkill<'a> {
    pub(crate) async fn load(client: &'a Client, entry: SkillEntry) -> Result<Self, LoadError> {
        entry.check()?;
        let file = fetch(client, &entry, entry.uri.clone()).await?;
        let text = String::from_utf8(file.bytes).map_err(|error| {
            SkillCheckError::Frontmatter(crate::FrontmatterError::NotText(error.utf8_error()))
        })?;
        let (frontmatter, body) = read_text(&text).map_err(SkillCheckError::Frontmatter)?;
        if let Some(field) = frontmatter.difference(&entry.frontmatter) {
            return Err(SkillCheckError::FrontmatterDiffers(field.to_owned()).into());
        }
        let body = text.len() - body.len();
        Ok(Self {
            client,
            entry,
            text,
            body,
        })
    }

    /// Returns the entry that it was loaded with.
    pub const fn entry(&self) -> &SkillEntry {
        &self.entry
    }

    /// Returns the frontmatter, which is the same in the entry and in `SKILL.md`.
    pub const fn frontmatter(&self) -> &Frontmatter {
        &self.entry.frontmatter
    }

    /// Returns the whole text of `SKILL.md`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text of `SKILL.md` after the frontmatter: instructions for a model.
    pub fn body(&self) -> &str {
        &self.text[self.body..]
    }

    /// Reads a file of the skill, and checks its size and digest. The file is named by its URI, or
    /// by its path in the folder of `SKILL.md`. Only listed files are read; where the
    /// files are dynamic, all in that folder, without a check.
    ///
    /// # Errors
    /// [`SkillCheckError::NotListed`] for a file that is not listed; nothing is sent then. Otherwise the check
    /// that failed, or why the file cannot be read.
    pub async fn read(&self, file: &str) -> Result<SkillFile, LoadError> {
        let uri = self.resolve(file)?;
        fetch(self.client, &self.entry, uri).await
    }

    /// The URI of a file of the skill.
    fn resolve(&self, file: &str) -> Result<String, SkillCheckError> {
        let folder = folder_of(&self.entry.uri).unwrap_or_default();
        let path = file.strip_prefix("./").unwrap_or(file);
        let candidates = [
            file.to_owned(),
            format!("{folder}/{path}"),
            format!("{folder}/{}", encode_path(path)),
        ];
        let is_readable = |uri: &String| match &self.entry.resources {
            SkillResources::Dynamic => is_inside(uri, folder),
            _ => self.entry.resource(uri).is_some(),
        };
        let found = candidates.into_iter().find(is_readable);
        found.ok_or_else(|| SkillCheckError::NotListed(file.to_owned()))
    }
}

impl fmt::Debug for LoadedSkill<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedSkill")
            .field("uri", &self.entry.uri)
            .finish_non_exhaustive()
    }
}

/// Reads a file of a skill and checks it. One that the client has kept may be from before a change:
/// if it is refused, it is read from the server.
async fn fetch(client: &Client, entry: &SkillEntry, uri: String) -> Result<SkillFile, LoadError> {
    if client.has_cached_resource(&uri) {
        let kept = client.read_resource(&uri).await?;
        if let Ok(file) = checked(entry, uri.clone(), &kept) {
            return Ok(file);
        }
    }
    let result = client.read_resource(&uri).refreshed().await?;
    Ok(checked(entry, uri, &result)?)
}

/// The file of this URI, as it was read.
fn checked(
    entry: &SkillEntry,
    uri: String,
    result: &ReadResourceResult,
) -> Result<SkillFile, SkillCheckError> {
    let is_it = |contents: &&ResourceContents| contents.uri() == Some(&*uri);
    let contents = match &*result.contents {
        // The digest says which file it is.
        [only] if entry.resource(&uri).is_some() => Some(only),
        several => several.iter().find(is_it),
    };
    let (bytes, mime_type) = match contents {
        Some(ResourceContents::Text(text)) => (text.text.clone().into_bytes(), &text.mime_type),
        Some(ResourceContents::Blob(blob)) => match blob.blob.decode() {
            Ok(bytes) => (bytes, &blob.mime_type),
            Err(_) => return Err(SkillCheckError::NoContents(uri)),
        },
        _ => return Err(SkillCheckError::NoContents(uri)),
    };
    if let Some(listed) = entry.resource(&uri) {
        verify(listed, &bytes)?;
    }
    Ok(SkillFile {
        mime_type: mime_type.clone(),
        uri,
        bytes,
    })
}

/// A file of a skill, as it was read and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFile {
    /// Its URI.
    pub uri: String,
    /// Its type, as the server states it.
    pub mime_type: Option<String>,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl SkillFile {
    /// Returns the content as text, if it is UTF-8.
    pub fn text(&self) -> Option<&str> {
        core::str::from_utf8(&self.bytes).ok()
    }
}

/// Reasons for which a skill, or a file of it, is not used.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The call failed.
    Call(CallError),
    /// The result is refused.
    Check(SkillCheckError),
}

impl From<CallError> for LoadError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<SkillCheckError> for LoadError {
    fn from(error: SkillCheckError) -> Self {
        Self::Check(error)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(error) => error.fmt(f),
            Self::Check(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Call(error) => error.source(),
            Self::Check(error) => error.source(),
        }
    }
}
