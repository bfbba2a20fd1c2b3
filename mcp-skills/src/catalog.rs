//! The entries, files and folders from which a server answers about its skills.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mcp_proto::json::{EncodeError, RawBuf};

use crate::SKILL_MD;
use crate::check::digest;
use crate::entry::{SkillEntry, SkillResource, SkillResources};
use crate::error::SkillError;
use crate::frontmatter::Frontmatter;
use crate::path::{file_name, folders_of, mime_type};
use crate::skill::Skill;
use crate::uri::encode_path;
use crate::visibility::Visibility;
use mcp_async::model::{Cursor, Resource, ResourceContents};
use mcp_async::server::Principal;

/// Entries, files and folders by their URIs, with everything encoded as it is sent.
pub(crate) struct Catalog {
    /// The entries, in the order of their URIs.
    pub(crate) entries: Vec<Entry>,
    /// Each `SKILL.md`: it is listed as a resource.
    pub(crate) skill_mds: Vec<SkillMd>,
    /// The contents of the other files.
    files: HashMap<String, Shown<RawBuf>>,
    /// The files and folders in each folder, in the order of their URIs.
    folders: BTreeMap<String, Shown<Vec<Resource>>>,
}

/// An entry as it is sent.
pub(crate) struct Entry {
    pub(crate) uri: String,
    pub(crate) json: RawBuf,
    pub(crate) visibility: Visibility,
}

/// A `SKILL.md` as a resource.
pub(crate) struct SkillMd {
    pub(crate) listed: Resource,
    pub(crate) contents: ResourceContents,
    pub(crate) visibility: Visibility,
}

/// A part of a skill, with the callers that see it.
#[derive(Default)]
pub(crate) struct Shown<T> {
    pub(crate) part: T,
    pub(crate) visibility: Visibility,
}

impl Catalog {
    pub(crate) fn new(skills: &[Skill]) -> Result<Self, SkillError> {
        check_places(skills)?;
        let mut catalog = Self {
            entries: Vec::new(),
            skill_mds: Vec::new(),
            files: HashMap::new(),
            folders: BTreeMap::new(),
        };
        for skill in skills {
            let added = catalog.add(skill);
            added.map_err(|error| SkillError::new(skill.name(), error.to_string()))?;
        }
        catalog
            .entries
            .sort_by(|one, other| one.uri.cmp(&other.uri));
        for children in catalog.folders.values_mut() {
            (children.part).sort_by(|one, other| one.uri.cmp(&other.uri));
        }
        Ok(catalog)
    }

    fn add(&mut self, skill: &Skill) -> Result<(), EncodeError> {
        let base = skill.base();
        let mut listed = Vec::with_capacity(skill.files.len());
        let mut folders = BTreeSet::from([String::new()]);
        for (path, bytes) in &skill.files {
            let uri = skill.uri_of(path);
            listed.push(SkillResource {
                uri: uri.clone(),
                digest: digest(bytes),
                size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            });
            folders.extend(folders_of(path).map(String::from));
            let (resource, contents) = file(uri, path, bytes, skill.frontmatters.get(path));
            self.child(&base, path, resource.clone());
            let visibility = skill.visibility.clone();
            if skill.frontmatters.contains_key(path) {
                self.skill_mds.push(SkillMd {
                    listed: resource,
                    contents,
                    visibility,
                });
            } else {
                let part = RawBuf::encode(&contents)?;
                self.files.insert(resource.uri, Shown { part, visibility });
            }
        }
        for folder in &folders {
            let uri = folder_uri(&base, folder);
            if !folder.is_empty() {
                let resource = Resource {
                    mime_type: Some(FOLDER.into()),
                    ..Resource::new(uri.clone(), file_name(folder))
                };
                self.child(&base, folder, resource);
            }
            self.folders.entry(uri).or_default().visibility = skill.visibility.clone();
        }
        for (path, frontmatter) in &skill.frontmatters {
            let uri = skill.uri_of(path);
            let folder = uri.strip_suffix(SKILL_MD).unwrap_or(&uri);
            let inside = listed.iter().filter(|file| file.uri.starts_with(folder));
            let entry = SkillEntry {
                frontmatter: frontmatter.clone(),
                resources: SkillResources::Files(inside.cloned().collect()),
                uri: uri.clone(),
            };
            let json = RawBuf::encode(&entry)?;
            self.entries.push(Entry {
                uri,
                json,
                visibility: skill.visibility.clone(),
            });
        }
        Ok(())
    }

    /// Adds a file or folder to the folder that holds it.
    fn child(&mut self, base: &str, path: &str, resource: Resource) {
        let folder = folder_uri(base, folders_of(path).next().unwrap_or_default());
        (self.folders.entry(folder).or_default().part).push(resource);
    }

    /// The entries that a caller sees.
    pub(crate) fn entries_of(&self, caller: Option<&Principal>) -> Vec<&Entry> {
        let entries = self.entries.iter();
        entries
            .filter(|entry| entry.visibility.shows(caller))
            .collect()
    }

    /// Returns true if callers see different skills.
    pub(crate) fn is_restricted(&self) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| entry.visibility.is_restricted())
    }

    /// The entry of the skill whose `SKILL.md` has this URI.
    pub(crate) fn entry(&self, uri: &str, caller: Option<&Principal>) -> Option<&Entry> {
        let at = self
            .entries
            .binary_search_by(|entry| entry.uri.as_str().cmp(uri));
        let entry = self.entries.get(at.ok()?);
        entry.filter(|entry| entry.visibility.shows(caller))
    }

    /// The contents of a file that is no `SKILL.md`.
    pub(crate) fn file(&self, uri: &str, caller: Option<&Principal>) -> Option<&Shown<RawBuf>> {
        let file = self.files.get(uri);
        file.filter(|file| file.visibility.shows(caller))
    }

    /// The files and folders in a folder; `None` if the caller sees no such folder.
    pub(crate) fn folder(&self, uri: &str, caller: Option<&Principal>) -> Option<&[Resource]> {
        let folder = self.folders.get(uri);
        let folder = folder.filter(|folder| folder.visibility.shows(caller));
        folder.map(|folder| &*folder.part)
    }
}

/// A part of a list, and the cursor after it.
pub(crate) struct Page<'a, T> {
    pub(crate) items: &'a [T],
    pub(crate) next: Option<Cursor>,
}

/// The page after a cursor, of items in the order of their URIs: at most so many, and after the first
/// at most so many bytes. `None` for what is no cursor of the list.
pub(crate) fn page<'a, T>(
    items: &'a [T],
    list: &str,
    cursor: Option<&Cursor>,
    limit: usize,
    uri: impl Fn(&T) -> &str,
    bytes: impl Fn(&T) -> usize,
) -> Option<Page<'a, T>> {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let after = cursor.key(list)?;
            items.partition_point(|item| uri(item) <= after.as_str())
        }
    };
    let items = &items[start..];
    let mut room = PAGE_BYTES;
    let fits = |item: &&T| {
        let first = room == PAGE_BYTES;
        let bytes = bytes(item);
        let fits = first || bytes <= room;
        room = room.saturating_sub(bytes.max(1));
        fits
    };
    let len = items.iter().take(limit).take_while(fits).count();
    let last = items[..len].last().filter(|_| len < items.len());
    Some(Page {
        next: last.map(|last| Cursor::after(list, uri(last))),
        items: &items[..len],
    })
}

/// Each skill has a folder of its own: one inside of another would be missing among its files (SK-10).
fn check_places(skills: &[Skill]) -> Result<(), SkillError> {
    let mut bases = BTreeSet::new();
    for skill in skills {
        if !bases.insert(skill.base()) {
            return Err(SkillError::new(
                skill.name(),
                "there are two skills with this URI",
            ));
        }
    }
    for skill in skills {
        let base = skill.base();
        if let Some(outer) = folders_of(&base).find(|outer| bases.contains(*outer)) {
            let reason = format!("it is inside of the skill `{outer}`, which does not list it");
            return Err(SkillError::new(skill.name(), reason));
        }
    }
    Ok(())
}

fn folder_uri(base: &str, folder: &str) -> String {
    match folder.is_empty() {
        true => base.to_owned(),
        false => format!("{base}/{}", encode_path(folder)),
    }
}

/// A file as a resource (SK-07), and its contents: text where the bytes are UTF-8.
fn file(
    uri: String,
    path: &str,
    bytes: &[u8],
    frontmatter: Option<&Frontmatter>,
) -> (Resource, ResourceContents) {
    let text = core::str::from_utf8(bytes).ok();
    let mime_type = mime_type(path, text.is_some());
    let contents = match text {
        Some(text) => ResourceContents::text(&uri, text),
        None => ResourceContents::blob(&uri, bytes),
    };
    let name = frontmatter.and_then(Frontmatter::name);
    let description = frontmatter.and_then(Frontmatter::description);
    let resource = Resource {
        description: description.map(String::from),
        mime_type: Some(mime_type.into()),
        size: u64::try_from(bytes.len()).ok(),
        ..Resource::new(uri, name.unwrap_or_else(|| file_name(path)))
    };
    (resource, contents.with_mime_type(mime_type))
}

/// The bytes of a page after its first item at most, so that the page fits into the output of any
/// connection.
const PAGE_BYTES: usize = 256 << 10;

/// The type of folders (SK-25).
const FOLDER: &str = "inode/directory";

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(name: &str) -> Skill {
        let text = format!("---\nname: {name}\ndescription: d\n---\n");
        Skill::in_memory(name).file(SKILL_MD, text).build().unwrap()
    }

    fn refused(skills: &[Skill], reason: &str) {
        let error = Catalog::new(skills).err().unwrap().to_string();
        assert!(error.contains(reason), "{error}");
    }

    /// SK-10
    #[test]
    fn sk_10_skills_do_not_lie_in_each_other() {
        let below = |name, prefix: &str| skill(name).under(prefix).unwrap();
        let apart = [
            skill("a"),
            skill("a-b"),
            below("a", "b"),
            below("c", "a-b/x"),
        ];
        refused(&apart, "inside of the skill `skill://a-b`");
        assert!(Catalog::new(&apart[..3]).is_ok());
        refused(&[skill("a"), skill("a")], "two skills");
        refused(
            &[below("b", "x/a"), below("a", "x")],
            "inside of the skill `skill://x/a`",
        );
    }

    #[test]
    fn pages_are_bounded_by_items_and_bytes() {
        let items: Vec<(String, usize)> = [
            ("a", 1),
            ("b", 0),
            ("c", PAGE_BYTES * 2),
            ("d", 5),
            ("e", PAGE_BYTES),
        ]
        .map(|(uri, bytes)| (uri.to_owned(), bytes))
        .to_vec();
        let mut pages = Vec::new();
        let mut cursor: Option<Cursor> = None;
        loop {
            let page = page(
                &items,
                "l",
                cursor.as_ref(),
                3,
                |item| &item.0,
                |item| item.1,
            );
            let page = page.unwrap();
            pages.push(page.items.iter().map(|item| &*item.0).collect::<String>());
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(pages, ["ab", "c", "d", "e"]);
        assert!(
            page(
                &items,
                "l",
                Some(&"x".into()),
                3,
                |item| &item.0,
                |item| item.1
            )
            .is_none()
        );
        let none: &[(String, usize)] = &[];
        let empty = page(none, "l", None, 3, |item| &item.0, |item| item.1).unwrap();
        assert!(empty.items.is_empty() && empty.next.is_none());
    }
}
