//! Approvals of skills.

use hmac_sha256::Hash as Sha256;
use serde::{Deserialize, Serialize};

use crate::check::hex;
use crate::entry::{SkillEntry, SkillResources};

/// The approval of a skill by a user, which holds for one server, one URI and one set of files with
/// their digests. When the server changes any of them, the approval does not hold any more.
///
/// It can be stored with serde.
///
/// ```
/// use mcp_skills::{Approval, SkillEntry};
///
/// fn needs_consent(stored: &[Approval], server: &str, entry: &SkillEntry) -> bool {
///     !stored.iter().any(|approval| approval.holds_for(server, entry))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Approval {
    server: String,
    uri: String,
    files: String,
}

impl Approval {
    /// Binds an approval to a skill. `server` is the name that the host has given to the server, never
    /// the one by which the server calls itself. `None` for a skill whose files have no digests:
    /// its approval cannot be bound, so it must be asked for each time.
    pub fn new(server: impl Into<String>, entry: &SkillEntry) -> Option<Self> {
        Some(Self {
            server: server.into(),
            uri: entry.uri.clone(),
            files: fingerprint(entry)?,
        })
    }

    /// Returns whether the skill is the approved one, with the same files.
    pub fn holds_for(&self, server: &str, entry: &SkillEntry) -> bool {
        self.server == server
            && self.uri == entry.uri
            && fingerprint(entry).is_some_and(|files| files == self.files)
    }

    /// Returns the host's name of the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the URI of the skill.
    pub fn uri(&self) -> &str {
        &self.uri
    }
}

/// The SHA-256 of the set of URIs and digests, in any order.
fn fingerprint(entry: &SkillEntry) -> Option<String> {
    let SkillResources::Files(files) = &entry.resources else {
        return None;
    };
    let mut files: Vec<_> = files.iter().map(|file| (&file.uri, &file.digest)).collect();
    files.sort();
    files.dedup();
    let mut hash = Sha256::new();
    for text in files.into_iter().flat_map(|(uri, digest)| [uri, digest]) {
        // With its length, so that no two sets are hashed alike.
        hash.update(text.len().to_string());
        hash.update(":");
        hash.update(text);
    }
    Some(hex(hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::SkillResource;

    fn entry(files: &[(&str, &str)]) -> SkillEntry {
        let files = files.iter().map(|(uri, digest)| SkillResource {
            uri: (*uri).into(),
            digest: (*digest).into(),
            size: 1,
        });
        SkillEntry {
            uri: "skill://a/SKILL.md".into(),
            frontmatter: Default::default(),
            resources: SkillResources::Files(files.collect()),
        }
    }

    /// SK-38, SK-43
    #[test]
    fn sk_43_an_approval_holds_for_one_set_of_files() {
        let approved = entry(&[("a", "1"), ("b", "2")]);
        let approval = Approval::new("docs", &approved).unwrap();
        assert!(approval.holds_for("docs", &approved));
        assert!(approval.holds_for("docs", &entry(&[("b", "2"), ("a", "1")])));
        assert!(!approval.holds_for("other", &approved), "another server");
        for files in [
            &[("a", "1"), ("b", "3")][..],
            &[("a", "1")],
            &[("a", "1"), ("b", "2"), ("c", "3")],
            &[("a", "2"), ("b", "1")],
            &[("a1", ""), ("b", "2")],
        ] {
            assert!(!approval.holds_for("docs", &entry(files)), "{files:?}");
        }
        let moved = SkillEntry {
            uri: "skill://b/SKILL.md".into(),
            ..approved
        };
        assert!(!approval.holds_for("docs", &moved), "another skill");
        let stored = serde_json::to_string(&approval).unwrap();
        assert_eq!(serde_json::from_str::<Approval>(&stored).unwrap(), approval);
    }

    /// SK-43
    #[test]
    fn sk_43_what_changes_cannot_be_approved_for_later() {
        let mut dynamic = entry(&[]);
        let empty = Approval::new("docs", &dynamic).unwrap();
        dynamic.resources = SkillResources::Dynamic;
        assert_eq!(Approval::new("docs", &dynamic), None);
        assert!(!empty.holds_for("docs", &dynamic));
    }
}
