//! Checks of skills that a server offers.

use core::fmt;
use core::fmt::Write as _;
use std::collections::HashSet;

use hmac_sha256::Hash as Sha256;

use crate::entry::{SkillEntry, SkillResource, SkillResources};
use crate::frontmatter::FrontmatterError;
use crate::uri::{folder_of, is_inside};
use crate::{MAX_BYTES, MAX_FILES};

/// Checks that these bytes are those of the listed file: their number first, then their SHA-256. A digest states which bytes the server meant. It is no reason to trust them.
///
/// ```
/// use mcp_skills::{SkillCheckError, SkillResource, verify};
///
/// let listed = SkillResource {
///     uri: "skill://refunds/notes.md".into(),
///     digest: "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824".into(),
///     size: 5,
/// };
/// assert!(verify(&listed, b"hello").is_ok());
/// assert!(matches!(verify(&listed, b"hallo"), Err(SkillCheckError::Digest { .. })));
/// assert!(matches!(verify(&listed, b"hello!"), Err(SkillCheckError::Size { .. })));
/// ```
///
/// # Errors
/// [`SkillCheckError::Size`], [`SkillCheckError::Digest`].
pub fn verify(resource: &SkillResource, bytes: &[u8]) -> Result<(), SkillCheckError> {
    if u64::try_from(bytes.len()) != Ok(resource.size) {
        return Err(SkillCheckError::Size {
            uri: resource.uri.clone(),
            listed: resource.size,
            actual: bytes.len(),
        });
    }
    if resource.digest != digest(bytes) {
        return Err(SkillCheckError::Digest {
            uri: resource.uri.clone(),
        });
    }
    Ok(())
}

impl SkillEntry {
    /// Checks that the entry can be loaded: it lists its files or says that they are dynamic,
    /// every listed file is inside of the folder of its `SKILL.md` and listed once, its
    /// `SKILL.md` is listed, and the limits that every client accepts are not exceeded.
    ///
    /// # Errors
    /// The first check that fails.
    pub fn check(&self) -> Result<(), SkillCheckError> {
        let folder =
            folder_of(&self.uri).ok_or_else(|| SkillCheckError::NotSkillMd(self.uri.clone()))?;
        let files = match &self.resources {
            SkillResources::Files(files) => files,
            SkillResources::Dynamic => return Ok(()),
            SkillResources::Unknown => return Err(SkillCheckError::NoResources),
        };
        if files.len() > MAX_FILES {
            return Err(SkillCheckError::TooManyFiles(files.len()));
        }
        let bytes = files
            .iter()
            .fold(0, |sum: u64, file| sum.saturating_add(file.size));
        if bytes > MAX_BYTES {
            return Err(SkillCheckError::TooManyBytes(bytes));
        }
        let mut seen = HashSet::new();
        for file in files {
            if !is_inside(&file.uri, folder) {
                return Err(SkillCheckError::Outside(file.uri.clone()));
            }
            if !seen.insert(&*file.uri) {
                return Err(SkillCheckError::ListedTwice(file.uri.clone()));
            }
        }
        if seen.contains(&*self.uri) {
            Ok(())
        } else {
            Err(SkillCheckError::NotListed(self.uri.clone()))
        }
    }
}

/// The digest of bytes as entries state it (SK-11).
pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(Sha256::hash(bytes)))
}

/// Returns a hash in hexadecimal digits.
pub(crate) fn hex(hash: [u8; 32]) -> String {
    let mut text = String::with_capacity(64);
    for byte in hash {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The check of a skill that has failed. The skill must not be used then; a new entry may be asked
/// for by `skills/get`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillCheckError {
    /// This URI of an entry does not name a `SKILL.md`.
    NotSkillMd(String),
    /// The server returned the entry of the skill with this URI, which is not the one that was asked for.
    OtherSkill(String),
    /// The entry has no list of files, and does not say that they are dynamic.
    NoResources,
    /// The entry lists so many files.
    TooManyFiles(usize),
    /// The listed files have so many bytes together.
    TooManyBytes(u64),
    /// This listed file is not inside of the folder of the skill.
    Outside(String),
    /// This file is listed twice.
    ListedTwice(String),
    /// This file is not listed in the entry.
    NotListed(String),
    /// The result of `resources/read` has no contents of this URI that can be read.
    NoContents(String),
    /// A file has another number of bytes than listed.
    Size {
        /// The file.
        uri: String,
        /// Its bytes in the entry.
        listed: u64,
        /// The bytes that were read.
        actual: usize,
    },
    /// A file has another digest than listed.
    Digest {
        /// The file.
        uri: String,
    },
    /// `SKILL.md` has no valid frontmatter.
    Frontmatter(FrontmatterError),
    /// This field of the frontmatter differs between `SKILL.md` and the entry, or one of the two
    /// lacks it.
    FrontmatterDiffers(String),
}

impl fmt::Display for SkillCheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSkillMd(uri) => write!(f, "`{uri}` is no URI of a SKILL.md"),
            Self::OtherSkill(uri) => {
                write!(f, "the server returned the skill `{uri}` for another one")
            }
            Self::NoResources => f.write_str("the entry of the skill does not list its files"),
            Self::TooManyFiles(files) => {
                write!(f, "the skill has {files} files, more than {MAX_FILES}")
            }
            Self::TooManyBytes(bytes) => {
                write!(f, "the skill has {bytes} bytes, more than {MAX_BYTES}")
            }
            Self::Outside(uri) => write!(f, "`{uri}` is outside of the folder of the skill"),
            Self::ListedTwice(uri) => write!(f, "`{uri}` is listed twice"),
            Self::NotListed(uri) => write!(f, "`{uri}` is not listed in the entry of the skill"),
            Self::NoContents(uri) => write!(f, "the server returned no contents of `{uri}`"),
            Self::Size {
                uri,
                listed,
                actual,
            } => {
                write!(
                    f,
                    "size: `{uri}` has {actual} bytes, but {listed} are listed"
                )
            }
            Self::Digest { uri } => write!(f, "digest: `{uri}` has another SHA-256 than listed"),
            Self::Frontmatter(_) => f.write_str("frontmatter: SKILL.md has none that is valid"),
            Self::FrontmatterDiffers(field) => write!(
                f,
                "frontmatter: the field `{field}` differs between SKILL.md and the entry"
            ),
        }
    }
}

impl core::error::Error for SkillCheckError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Frontmatter(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(files: &[(&str, u64)]) -> SkillEntry {
        let files = files.iter().map(|&(uri, size)| SkillResource {
            uri: uri.into(),
            digest: digest(b""),
            size,
        });
        SkillEntry {
            uri: "skill://a/b/SKILL.md".into(),
            frontmatter: Default::default(),
            resources: SkillResources::Files(files.collect()),
        }
    }

    const OWN: (&str, u64) = ("skill://a/b/SKILL.md", 3);

    /// SK-10, SK-34, SK-36, SK-37
    #[test]
    fn sk_36_entries_that_cannot_be_loaded_are_refused() {
        let check = |files: &[(&str, u64)], expected: Result<(), SkillCheckError>| {
            assert_eq!(entry(files).check(), expected, "{files:?}");
        };
        check(&[OWN], Ok(()));
        check(&[OWN, ("skill://a/b/c/SKILL.md", 0)], Ok(()));
        check(&[OWN, OWN], Err(SkillCheckError::ListedTwice(OWN.0.into())));
        check(&[], Err(SkillCheckError::NotListed(OWN.0.into())));
        for outside in ["skill://a/c", "skill://a/b/../c", "file:///etc/passwd"] {
            let expected = Err(SkillCheckError::Outside(outside.into()));
            check(&[OWN, (outside, 0)], expected);
        }
        check(&[OWN, ("skill://a/b/c", MAX_BYTES - 3)], Ok(()));
        let expected = Err(SkillCheckError::TooManyBytes(MAX_BYTES + 1));
        check(&[OWN, ("skill://a/b/c", MAX_BYTES - 2)], expected);
        let expected = Err(SkillCheckError::TooManyBytes(u64::MAX));
        check(&[OWN, ("skill://a/b/c", u64::MAX)], expected);

        let mut dynamic = entry(&[]);
        dynamic.resources = SkillResources::Dynamic;
        assert_eq!(dynamic.check(), Ok(()));
        dynamic.resources = SkillResources::Unknown;
        assert_eq!(dynamic.check(), Err(SkillCheckError::NoResources));
        dynamic.uri = "skill://a/b/README.md".into();
        let expected = SkillCheckError::NotSkillMd(dynamic.uri.clone());
        assert_eq!(dynamic.check(), Err(expected));
    }

    /// SK-37: 512 files are accepted, 513 are not.
    #[test]
    fn sk_37_the_limits_are_those_of_the_extension() {
        let uris: Vec<_> = (0..512).map(|at| format!("skill://a/b/{at}")).collect();
        let mut files = vec![(OWN.0, 0)];
        files.extend(uris.iter().take(511).map(|uri| (&**uri, 0)));
        assert_eq!(entry(&files).check(), Ok(()));
        files.push((&uris[511], 0));
        assert_eq!(
            entry(&files).check(),
            Err(SkillCheckError::TooManyFiles(513))
        );
    }
}
