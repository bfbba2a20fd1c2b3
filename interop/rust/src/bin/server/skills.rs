//! Skills, whose digests the SDK computes.

use std::collections::BTreeSet;

use interop_rust::decoded;
use rmcp::model::{
    DIRECTORY_MIME_TYPE, Resource, Skill, SkillFrontmatter, SkillResource, SkillResources,
};
use serde_json::json;

use crate::content::PNG;

/// The skills with all their files.
pub(crate) fn skills() -> [Skill; 2] {
    let letters = SkillFrontmatter::new("letters", "Writes letters.")
        .with_field("license", "MIT")
        .with_field("metadata", json!({"version": "1.0"}));
    let poems = SkillFrontmatter::new("poems", "Writes short poems.");
    [letters, poems].map(|frontmatter| {
        let folder = format!("skill://{}/", frontmatter.name);
        let files = FILES.iter().filter(|(uri, _)| uri.starts_with(&folder));
        let resources = files.map(|(uri, file)| SkillResource::from_bytes(*uri, &file.bytes()));
        let resources = SkillResources::Files(resources.collect());
        Skill::new(format!("{folder}SKILL.md"), frontmatter, resources)
    })
}

/// The file at this URI.
pub(crate) fn file(uri: &str) -> Option<&'static File> {
    FILES
        .iter()
        .find(|(other, _)| *other == uri)
        .map(|(_, file)| file)
}

/// The files and folders of the folder at this URI; none for what is no folder.
pub(crate) fn children(folder: &str) -> Vec<Resource> {
    let inside = |uri: &'static str| uri.strip_prefix(folder)?.strip_prefix('/');
    let names: BTreeSet<_> = FILES
        .iter()
        .filter_map(|(uri, _)| inside(uri)?.split_inclusive('/').next())
        .collect();
    let child = |name: &str| {
        let plain = name.trim_end_matches('/');
        let resource = Resource::new(format!("{folder}/{plain}"), plain);
        match plain == name {
            true => resource,
            false => resource.with_mime_type(DIRECTORY_MIME_TYPE),
        }
    };
    names.into_iter().map(child).collect()
}

/// The content of a file.
pub(crate) enum File {
    Text(&'static str),
    /// Bytes in base64.
    Blob(&'static str),
}

impl File {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.as_bytes().to_vec(),
            Self::Blob(blob) => decoded(&json!(blob)),
        }
    }
}

const FILES: [(&str, File); 5] = [
    ("skill://letters/SKILL.md", File::Text(LETTERS)),
    (
        "skill://letters/references/forms.md",
        File::Text("# Forms\n"),
    ),
    (
        "skill://letters/references/old/forms.md",
        File::Text("# Forms before 1990\n"),
    ),
    ("skill://letters/assets/stamp.png", File::Blob(PNG)),
    ("skill://poems/SKILL.md", File::Text(POEMS)),
];

const LETTERS: &str = "---
name: letters
description: Writes letters.
license: MIT
metadata:
  version: \"1.0\"
---
Read references/forms.md.
";

const POEMS: &str = "---
name: poems
description: Writes short poems.
---
Write four lines that rhyme.
";
