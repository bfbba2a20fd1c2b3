//! Entries of skills in lists.

use mcp_proto::json::Raw;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::frontmatter::Frontmatter;

/// A skill as `skills/list` and `skills/get` describe it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillEntry {
    /// The URI of its `SKILL.md`. It is unique for its server only: a host identifies a skill by
    /// its own name of the server and this URI.
    pub uri: String,
    /// The frontmatter of its `SKILL.md`, with every field.
    pub frontmatter: Frontmatter,
    /// Its files.
    #[serde(default)]
    pub resources: SkillResources,
}

/// The files of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SkillResources {
    /// All of its files.
    Files(Vec<SkillResource>),
    /// The files change, so that they have no digests.
    Dynamic,
    /// The member is absent or of another form. Such a skill is not loaded.
    #[default]
    Unknown,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillResource {
    /// Its URI, for `resources/read`.
    pub uri: String,
    /// The SHA-256 of its bytes: `sha256:` and 64 lower-case hexadecimal digits.
    pub digest: String,
    /// The number of its bytes.
    pub size: u64,
}

impl SkillEntry {
    /// Returns the listed file with this URI.
    pub fn resource(&self, uri: &str) -> Option<&SkillResource> {
        match &self.resources {
            SkillResources::Files(files) => files.iter().find(|file| file.uri == uri),
            SkillResources::Dynamic | SkillResources::Unknown => None,
        }
    }
}

impl Serialize for SkillResources {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Files(files) => files.serialize(serializer),
            Self::Dynamic => serializer.serialize_str(DYNAMIC),
            Self::Unknown => serializer.serialize_unit(),
        }
    }
}

impl<'de> Deserialize<'de> for SkillResources {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        if raw.string().is_some_and(|text| text == DYNAMIC) {
            return Ok(Self::Dynamic);
        }
        Ok(raw.decode(&mut []).map_or(Self::Unknown, Self::Files))
    }
}

const DYNAMIC: &str = "dynamic";

#[cfg(test)]
mod tests {
    use mcp_proto::json::RawBuf;

    use super::*;

    fn entry(resources: &str) -> SkillEntry {
        let json = format!(
            r#"{{"uri":"skill://a/SKILL.md","frontmatter":{{"name":"a","x":[1,2.5,null,"\u00e9"]}}{resources}}}"#
        );
        RawBuf::parse(json).unwrap().decode().unwrap()
    }

    /// SK-09, SK-36
    #[test]
    fn sk_09_resources_have_two_forms() {
        let check = |json: &str, expected: SkillResources| {
            assert_eq!(entry(json).resources, expected, "{json}");
        };
        check("", SkillResources::Unknown);
        check(r#","resources":null"#, SkillResources::Unknown);
        check(r#","resources":"static""#, SkillResources::Unknown);
        check(r#","resources":{}"#, SkillResources::Unknown);
        check(r#","resources":[{"uri":"u"}]"#, SkillResources::Unknown);
        check(r#","resources":"dynamic""#, SkillResources::Dynamic);
        check(r#","resources":[]"#, SkillResources::Files(Vec::new()));
        for size in ["-1", "1.5", "\"1\"", "null"] {
            let json = format!(r#","resources":[{{"uri":"u","digest":"d","size":{size}}}]"#);
            check(&json, SkillResources::Unknown);
        }
        let file = SkillResource {
            uri: "u".into(),
            digest: "d".into(),
            size: 1,
        };
        check(
            r#","resources":[{"uri":"u","digest":"d","size":1,"later":true}]"#,
            SkillResources::Files(vec![file]),
        );
    }

    #[test]
    fn an_entry_comes_back_as_it_was_written() {
        for resources in [
            r#","resources":"dynamic""#,
            r#","resources":[{"uri":"u","digest":"d","size":1}]"#,
        ] {
            let entry = entry(resources);
            let again: SkillEntry = RawBuf::encode(&entry).unwrap().decode().unwrap();
            assert_eq!(again, entry);
        }
    }
}
