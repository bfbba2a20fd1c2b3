//! A skill that a server offers.

use core::fmt;
use std::collections::BTreeMap;
use std::path::Path;

use crate::error::SkillError;
use crate::folder::{self, Files, TOO_MANY_BYTES, TOO_MANY_FILES};
use crate::frontmatter::{Frontmatter, parse_frontmatter};
use crate::name::is_skill_name;
use crate::path::{check_path, file_name, folders_of};
use crate::uri::encode_path;
use crate::visibility::Visibility;
use crate::{MAX_BYTES, MAX_FILES, SKILL_MD};
use mcp_async::server::Principal;

/// A skill that a server offers: its files, as they were when it was made.
///
/// Its URI is `skill://NAME/SKILL.md`, where the name is that of the frontmatter; see
/// [`under`](Self::under) for others. A folder in it with a `SKILL.md` of its own is another skill,
/// whose name is that of the folder. It is listed too, and its files are also files of the outer one.
///
/// A skill has at most 512 files with 16 MiB together.
///
/// ```
/// use mcp_skills::Skill;
///
/// let skill = Skill::in_memory("refunds")
///     .file("SKILL.md", "---\nname: refunds\ndescription: Handles refunds\n---\nRead limits.md.\n")
///     .file("limits.md", "At most 100.\n")
///     .build()?;
/// # let _ = skill;
/// # Ok::<(), mcp_skills::SkillError>(())
/// ```
#[derive(Clone)]
#[must_use = "it must be added to be served"]
pub struct Skill {
    prefix: String,
    name: String,
    pub(crate) visibility: Visibility,
    frontmatter: Frontmatter,
    pub(crate) files: Files,
    /// The frontmatter of each `SKILL.md`, by its path.
    pub(crate) frontmatters: BTreeMap<String, Frontmatter>,
}

impl Skill {
    /// Reads a skill from a folder, with the folders in it. Files and folders whose names begin with a
    /// dot are left out. A link to a file inside of the folder is followed.
    ///
    /// # Errors
    /// A file that cannot be read, a link that leads out of the folder or to a folder, a name that is
    /// not UTF-8 or contains a control character or a backslash, something that is neither file nor
    /// folder; and the errors of [`SkillBuilder::build`].
    pub fn from_folder(path: impl AsRef<Path>) -> Result<Self, SkillError> {
        let path = path.as_ref();
        Self::of(&path.display().to_string(), folder::read(path)?)
    }

    /// Begins a skill of this name, whose files are given one by one.
    pub fn in_memory(name: impl Into<String>) -> SkillBuilder {
        SkillBuilder {
            name: name.into(),
            files: Vec::new(),
        }
    }

    /// Puts the skill below other segments: `acme/billing` makes the URI
    /// `skill://acme/billing/NAME/SKILL.md`.
    ///
    /// # Errors
    /// A segment that is empty, or contains something else than letters, digits, `-`, `.`, `_` and `~`
    /// of ASCII, or nothing but dots.
    pub fn under(mut self, prefix: impl Into<String>) -> Result<Self, SkillError> {
        let prefix = prefix.into();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let valid = |segment: &str| {
            !segment.is_empty()
                && segment.bytes().all(allowed)
                && !segment.bytes().all(|byte| byte == b'.')
        };
        if !prefix.split('/').all(valid) {
            let reason = format!("`{prefix}` cannot stand before its name in a URI");
            return Err(SkillError::new(self.name, reason));
        }
        self.prefix = prefix;
        Ok(self)
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the frontmatter of its `SKILL.md`.
    pub const fn frontmatter(&self) -> &Frontmatter {
        &self.frontmatter
    }

    /// Returns the URI of its `SKILL.md`.
    pub fn uri(&self) -> String {
        self.uri_of(SKILL_MD)
    }

    /// Shows the skill to those callers only for which `rule` returns `true`; the argument is the
    /// verified sender, if there is one. To other callers the skill does not exist: it is not
    /// listed, and none of its files and folders is found. Answers about the skill are then private
    /// in caches.
    ///
    /// The rule must be quick; it is asked for each list and each read.
    ///
    /// ```
    /// use mcp_skills::{Skill, SkillError};
    ///
    /// fn internal() -> Result<Skill, SkillError> {
    ///     let audit = Skill::in_memory("audit")
    ///         .file("SKILL.md", "---\nname: audit\ndescription: Audits accounts\n---\n")
    ///         .build()?;
    ///     Ok(audit.visible_to(|caller| caller.is_some_and(|caller| caller.name() == "ada")))
    /// }
    /// # assert!(internal().is_ok());
    /// ```
    pub fn visible_to(
        mut self,
        rule: impl Fn(Option<&Principal>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.visibility = Visibility::new(rule);
        self
    }

    /// The URI of its folder.
    pub(crate) fn base(&self) -> String {
        let Self { prefix, name, .. } = self;
        match prefix.is_empty() {
            true => format!("skill://{name}"),
            false => format!("skill://{prefix}/{name}"),
        }
    }

    pub(crate) fn uri_of(&self, path: &str) -> String {
        format!("{}/{}", self.base(), encode_path(path))
    }

    fn of(place: &str, files: Files) -> Result<Self, SkillError> {
        let mut frontmatters = BTreeMap::new();
        for (path, bytes) in &files {
            if file_name(path) != SKILL_MD {
                continue;
            }
            let place = || format!("{place}/{path}");
            let frontmatter = parse_frontmatter(bytes)
                .map_err(|error| SkillError::frontmatter(place(), error))?;
            let name = frontmatter.name().unwrap_or_default();
            if !is_skill_name(name) {
                let reason = format!("`{name}` is no name of a skill: {NAME_RULE}");
                return Err(SkillError::new(place(), reason));
            }
            let folder = path.strip_suffix(SKILL_MD).unwrap_or_default();
            let folder = file_name(folder.trim_end_matches('/'));
            // That of the skill itself has the name which the skill says.
            if !folder.is_empty() && folder != name {
                let reason = format!("its name is `{name}`, but its folder is `{folder}`");
                return Err(SkillError::new(place(), reason));
            }
            frontmatters.insert(path.clone(), frontmatter);
        }
        let Some(frontmatter) = frontmatters.get(SKILL_MD).cloned() else {
            return Err(SkillError::new(place, "it has no SKILL.md"));
        };
        Ok(Self {
            prefix: String::new(),
            visibility: Visibility::default(),
            name: frontmatter.name().unwrap_or_default().to_owned(),
            frontmatter,
            files,
            frontmatters,
        })
    }
}

impl fmt::Debug for Skill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skill")
            .field("uri", &self.uri())
            .field("files", &self.files.len())
            .finish_non_exhaustive()
    }
}

/// A skill whose files are given one by one. See [`Skill::in_memory`].
#[derive(Clone)]
#[must_use = "it must be built or added to be served"]
pub struct SkillBuilder {
    name: String,
    files: Vec<(String, Vec<u8>)>,
}

impl SkillBuilder {
    /// Adds a file by its path in the skill, with `/` between folders. One of them is `SKILL.md`.
    pub fn file(mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.push((path.into(), bytes.into()));
        self
    }

    /// Makes the skill.
    ///
    /// # Errors
    /// A path that is absolute, contains `..`, a backslash, a NUL or another control character, or is
    /// given twice; no `SKILL.md`; frontmatter that is not valid; a name that does not follow
    /// the rules or differs from that of the builder; more than 512 files or 16 MiB.
    pub fn build(self) -> Result<Skill, SkillError> {
        let Self { name, files: given } = self;
        if given.len() > MAX_FILES {
            return Err(SkillError::new(name, TOO_MANY_FILES));
        }
        let bytes: usize = given.iter().map(|(_, bytes)| bytes.len()).sum();
        if u64::try_from(bytes).is_ok_and(|bytes| bytes > MAX_BYTES) {
            return Err(SkillError::new(name, TOO_MANY_BYTES));
        }
        let mut files = Files::new();
        for (path, bytes) in given {
            let place = || format!("{name}/{path}");
            check_path(&path).map_err(|reason| SkillError::new(place(), reason))?;
            if files.contains_key(&path) {
                return Err(SkillError::new(place(), "it is given twice"));
            }
            files.insert(path, bytes);
        }
        let is_file = |folder: &str| files.contains_key(folder);
        if let Some(path) = files.keys().find(|path| folders_of(path).any(is_file)) {
            let place = format!("{name}/{path}");
            return Err(SkillError::new(place, "a part of its path is a file"));
        }
        let skill = Skill::of(&name, files)?;
        if skill.name == name {
            return Ok(skill);
        }
        let reason = format!("the name in its SKILL.md is `{}`", skill.name);
        Err(SkillError::new(name, reason))
    }
}

impl TryFrom<SkillBuilder> for Skill {
    type Error = SkillError;

    fn try_from(builder: SkillBuilder) -> Result<Self, SkillError> {
        builder.build()
    }
}

impl fmt::Debug for SkillBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillBuilder")
            .field("name", &self.name)
            .field("files", &self.files.len())
            .finish()
    }
}

const NAME_RULE: &str =
    "it has 1 to 64 characters of a-z, 0-9 and -, no hyphen at an end, and no two in a row";
