//! Names of skills.

use crate::SKILL_MD;

/// Returns whether the text is the name of a skill: 1 to 64 characters of `a-z`, `0-9` and `-`,
/// without a hyphen at either end and without two in a row.
pub fn is_skill_name(name: &str) -> bool {
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    (1..=64).contains(&name.len())
        && name.bytes().all(allowed)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// Returns the name of the skill whose `SKILL.md` has this URI: the segment before the file. `None`
/// for another file, or if the segment is no name of a skill.
///
/// ```
/// use mcp_skills::skill_name_from_uri;
///
/// assert_eq!(skill_name_from_uri("skill://acme/billing/refunds/SKILL.md"), Some("refunds"));
/// assert_eq!(skill_name_from_uri("skill://refunds/examples.md"), None);
/// assert_eq!(skill_name_from_uri("skill://../SKILL.md"), None);
/// ```
pub fn skill_name_from_uri(uri: &str) -> Option<&str> {
    let folder = uri.strip_suffix(SKILL_MD)?.strip_suffix('/')?;
    let (_, name) = folder.rsplit_once('/')?;
    is_skill_name(name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SK-06
    #[test]
    fn names_follow_the_rules() {
        let longest = "a".repeat(64);
        for name in ["a", "pdf-processing", "0", "a-b-c", &longest] {
            assert!(is_skill_name(name), "{name}");
        }
        let too_long = "a".repeat(65);
        for name in [
            "", "-a", "a-", "a--b", "A", "a_b", "a.b", "a/b", "..", "é", "a b", &too_long,
        ] {
            assert!(!is_skill_name(name), "{name}");
        }
    }
}
