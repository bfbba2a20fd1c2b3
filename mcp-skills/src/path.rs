//! Names of files in skills.

/// Checks the path of a file in a skill: it must be relative, with `/` between its segments, and
/// mean the same on every system (SK-28). The error is the reason of the refusal.
pub(crate) fn check_path(path: &str) -> Result<(), &'static str> {
    if path.starts_with('/') {
        return Err("the path is absolute");
    }
    if path.contains('\0') {
        return Err("the path contains a NUL");
    }
    if path.contains('\\') {
        return Err("the path contains a backslash");
    }
    if path.contains(char::is_control) {
        return Err("the path contains a control character");
    }
    let segment = |segment: &str| match segment {
        "" => Err("a segment of the path is empty"),
        "." | ".." => Err("the path contains `.` or `..`"),
        _ => Ok(()),
    };
    path.split('/').try_for_each(segment)
}

/// The last segment of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The folders that lead to a file, from the innermost.
pub(crate) fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    core::iter::successors(parent(path), |folder| parent(folder))
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}

/// The type of a file, by the end of its name, or else by whether it is text.
pub(crate) fn mime_type(path: &str, is_text: bool) -> &'static str {
    let extension = file_name(path).rsplit_once('.').map(|(_, end)| end);
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    let known = TYPES.iter().find(|(end, _)| *end == extension);
    match known {
        Some((_, known)) => known,
        None if is_text => "text/plain",
        None => "application/octet-stream",
    }
}

const TYPES: [(&str, &str); 26] = [
    ("md", "text/markdown"),
    ("txt", "text/plain"),
    ("html", "text/html"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("py", "text/x-python"),
    ("sh", "text/x-shellscript"),
    ("json", "application/json"),
    ("toml", "application/toml"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
    ("gif", "image/gif"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("webp", "image/webp"),
    ("mp3", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("mp4", "video/mp4"),
    ("wasm", "application/wasm"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// SK-28
    #[test]
    fn sk_28_paths_that_lead_elsewhere_are_refused() {
        for path in ["a", "a/b.md", "..a/b..", "a b/é.md", "a:b"] {
            assert_eq!(check_path(path), Ok(()), "{path}");
        }
        for path in [
            "", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", "./a", "a/.", r"a\b",
            r"C:\a", "a\0b", "a\nb",
        ] {
            assert!(check_path(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn types_follow_the_names() {
        assert_eq!(mime_type("a/SKILL.md", true), "text/markdown");
        assert_eq!(mime_type("a.PNG", false), "image/png");
        assert_eq!(mime_type("a.b/LICENSE", true), "text/plain");
        assert_eq!(mime_type("a", false), "application/octet-stream");
    }
}
