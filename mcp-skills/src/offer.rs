//! The skills that a server offers.

use core::fmt;
use core::time::Duration;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use mcp_proto::model::CacheScope;
use mcp_proto::{Revision, RevisionSet};

use crate::SKILL_MD;
use crate::error::SkillError;
use crate::skill::Skill;

/// The skills that a server offers. They convert into an extension, which
/// [`ServerBuilder::extension`](mcp_async::server::ServerBuilder::extension) takes.
///
/// The extension is declared, each `SKILL.md` is listed as a resource, and the files of the skills and their entries
/// are served. Every client can read them, whatever it declares.
///
/// ```
/// use mcp_async::Server;
/// use mcp_skills::{Skill, Skills};
///
/// let refunds = Skill::in_memory("refunds")
///     .file("SKILL.md", "---\nname: refunds\ndescription: Handles refunds\n---\nRead limits.md.\n")
///     .file("limits.md", "At most 100.\n");
/// let server = Server::builder("shop", "1.0")
///     .extension(Skills::new().skill(refunds).directory_read())
///     .build()?;
/// # let _ = server;
/// # Ok::<(), mcp_async::server::BuildError>(())
/// ```
///
/// They do not change afterwards: digests and sizes are computed once, of the bytes that are served.
#[derive(Clone)]
#[must_use = "they must be given to a server"]
pub struct Skills {
    pub(crate) skills: Vec<Skill>,
    pub(crate) mistakes: Vec<Arc<SkillError>>,
    pub(crate) directory_read: bool,
    pub(crate) page_size: usize,
    pub(crate) hint: Option<(Duration, CacheScope)>,
    pub(crate) revisions: RevisionSet,
}

impl Skills {
    /// No skills yet.
    pub const fn new() -> Self {
        Self {
            skills: Vec::new(),
            mistakes: Vec::new(),
            directory_read: false,
            page_size: PAGE,
            hint: None,
            revisions: RevisionSet::of(&[Revision::V2025_11_25, Revision::V2026_07_28]),
        }
    }

    /// Reads every skill in a folder: each folder in it that has a `SKILL.md`, except those whose names
    /// begin with a dot.
    ///
    /// # Errors
    /// Those of [`Skill::from_folder`], a folder that cannot be read, and a skill that is a link.
    pub fn from_folder(path: impl AsRef<Path>) -> Result<Self, SkillError> {
        let path = path.as_ref();
        let at = |error| SkillError::io(path.display().to_string(), error);
        let mut folders = Vec::new();
        for entry in fs::read_dir(path).map_err(at)? {
            let entry = entry.map_err(at)?;
            let folder = entry.path();
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if is_hidden || !folder.join(SKILL_MD).is_file() {
                continue;
            }
            if entry.file_type().map_err(at)?.is_symlink() {
                let place = folder.display().to_string();
                return Err(SkillError::new(place, "it is a link"));
            }
            folders.push(folder);
        }
        folders.sort();
        let skills = folders.iter().map(Skill::from_folder);
        Ok(Self {
            skills: skills.collect::<Result<_, _>>()?,
            ..Self::new()
        })
    }

    /// Adds a skill, built or not. The URI of each is its own, and none is inside of another. Mistakes are
    /// reported when the server is built.
    pub fn skill<T: TryInto<Skill>>(mut self, skill: T) -> Self
    where
        T::Error: Into<SkillError>,
    {
        match skill.try_into() {
            Ok(skill) => self.skills.push(skill),
            Err(error) => self.mistakes.push(Arc::new(error.into())),
        }
        self
    }

    /// Lets clients read the folders of skills by `resources/directory/read`.
    pub const fn directory_read(mut self) -> Self {
        self.directory_read = true;
        self
    }

    /// Sets how many skills, or files of a folder, are on a page at most; 100 otherwise. Zero is a
    /// mistake.
    pub const fn page_size(mut self, items: usize) -> Self {
        self.page_size = items;
        self
    }

    /// Sets how long clients of 2026-07-28 may keep entries and files, and whether others may share
    /// them. Otherwise they may not.
    pub const fn cache(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.hint = Some((ttl, scope));
        self
    }

    /// Sets the revisions in which the extension is declared; 2025-11-25 and 2026-07-28 otherwise.
    pub const fn revisions(mut self, revisions: RevisionSet) -> Self {
        self.revisions = revisions;
        self
    }
}

impl Default for Skills {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Skills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skills")
            .field("skills", &self.skills)
            .finish_non_exhaustive()
    }
}

const PAGE: usize = 100;
