//! Skills in folders.

use core::error::Error as _;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_proto::Revision;
use mcp_skills::{Skill, SkillError, Skills};

use crate::support::{SKILL_MD, json, offering};
use crate::wire::Wire;

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = format!("mcp-skills-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(fs::canonicalize(folder).unwrap())
    }

    fn file(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn skill(&self) -> PathBuf {
        self.0.join("pdf-processing")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The files of a skill, by their paths.
fn files(skill: Skill) -> Vec<String> {
    let server = offering(Skills::new().skill(skill));
    let mut wire = Wire::new(&server, Revision::V2026_07_28);
    let listed = json(&wire.result("skills/list", "{}"));
    let files = listed["skills"][0]["resources"].as_array().unwrap().iter();
    let uris = files.map(|file| file["uri"].as_str().unwrap());
    uris.map(|uri| uri.replace("skill://pdf-processing/", ""))
        .collect()
}

fn refused(folder: &Path, reason: &str) {
    let error = Skill::from_folder(folder).unwrap_err();
    let source = error.source().map(ToString::to_string).unwrap_or_default();
    let text = format!("{error}: {source}");
    assert!(text.contains(reason), "{text}");
}

/// SK-28: bytes, digests and sizes are of one moment.
#[test]
fn sk_28_a_folder_is_read_once() {
    let folder = Folder::new("once");
    folder.file("pdf-processing/SKILL.md", SKILL_MD);
    folder.file("pdf-processing/references/deep/er/x.md", "before");
    folder.file("pdf-processing/.git/config", "hidden");
    folder.file("pdf-processing/references/.env", "hidden");
    let skill = Skill::from_folder(folder.skill()).unwrap();
    let server = offering(Skills::new().skill(skill.clone()));
    let mut wire = Wire::new(&server, Revision::V2026_07_28);
    let before = wire.result("skills/list", "{}");
    folder.file("pdf-processing/references/deep/er/x.md", "after");
    let params = r#"{"uri":"skill://pdf-processing/references/deep/er/x.md"}"#;
    let read = wire.result("resources/read", params);
    assert!(read.contains("before"), "{read}");
    assert_eq!(wire.result("skills/list", "{}"), before);
    assert_eq!(files(skill), ["SKILL.md", "references/deep/er/x.md"]);
}

#[test]
fn a_folder_of_skills_is_read_with_each_of_them() {
    let folder = Folder::new("several");
    folder.file("one/SKILL.md", "---\nname: one\ndescription: a\n---\n");
    folder.file("two/SKILL.md", "---\nname: two\ndescription: a\n---\n");
    folder.file("three/README.md", "no skill");
    folder.file("README.md", "no skill");
    let server = offering(Skills::from_folder(&folder.0).unwrap());
    let mut wire = Wire::new(&server, Revision::V2026_07_28);
    let listed = json(&wire.result("skills/list", "{}"));
    let names = listed["skills"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|entry| &entry["frontmatter"]["name"]).collect();
    assert_eq!(names, ["one", "two"]);
    assert!(Skills::from_folder(folder.0.join("none")).is_err());
}

/// Hidden folders are no skills, and a folder elsewhere does not become one by a link.
#[cfg(unix)]
#[test]
fn a_folder_of_skills_has_neither_hidden_ones_nor_links() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new("linked");
    folder.file(
        "all/.hidden/SKILL.md",
        "---\nname: .hidden\ndescription: a\n---\n",
    );
    folder.file("all/one/SKILL.md", "---\nname: one\ndescription: a\n---\n");
    folder.file(
        "elsewhere/SKILL.md",
        "---\nname: elsewhere\ndescription: a\n---\n",
    );
    let all = folder.0.join("all");
    assert!(Skills::from_folder(&all).is_ok());
    symlink(folder.0.join("elsewhere"), all.join("elsewhere")).unwrap();
    let error = Skills::from_folder(&all).unwrap_err().to_string();
    assert!(error.contains("it is a link"), "{error}");
}

/// SK-28: links do not lead out of the folder.
#[cfg(unix)]
#[test]
fn sk_28_links_that_lead_out_are_refused() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new("links");
    folder.file("secret.txt", "secret");
    folder.file("pdf-processing/SKILL.md", SKILL_MD);
    let link = folder.skill().join("link");
    symlink("SKILL.md", &link).unwrap();
    let skill = Skill::from_folder(folder.skill()).unwrap();
    assert_eq!(files(skill), ["SKILL.md", "link"], "inside of the folder");
    for (target, reason) in [
        ("../secret.txt", "leads out of the folder"),
        ("/etc/passwd", "leads out of the folder"),
        ("..", "leads out of the folder"),
        ("none", "cannot be read"),
        (".", "no file"),
        ("link", "cannot be read"),
    ] {
        fs::remove_file(&link).unwrap();
        symlink(target, &link).unwrap();
        refused(&folder.skill(), reason);
    }
}

/// SK-28: names are UTF-8, and mean the same everywhere.
#[cfg(target_os = "linux")]
#[test]
fn sk_28_strange_names_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    for (name, reason) in [
        (&b"a\xffb"[..], "not UTF-8"),
        (b"a\\b", "backslash"),
        (b"a\nb", "control character"),
    ] {
        let folder = Folder::new("names");
        folder.file("pdf-processing/SKILL.md", SKILL_MD);
        fs::write(folder.skill().join(OsStr::from_bytes(name)), "").unwrap();
        refused(&folder.skill(), reason);
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused() {
    let folder = Folder::new("socket");
    folder.file("pdf-processing/SKILL.md", SKILL_MD);
    let _socket = std::os::unix::net::UnixListener::bind(folder.skill().join("s")).unwrap();
    refused(&folder.skill(), "neither a file nor a folder");
}

/// SK-04, SK-12
#[test]
fn folders_that_are_no_skills_are_refused() {
    let folder = Folder::new("none");
    refused(&folder.skill(), "cannot be read");
    folder.file("pdf-processing/skill.md", SKILL_MD);
    if !folder.skill().join("SKILL.md").exists() {
        refused(&folder.skill(), "no SKILL.md");
    }
    // Where case does not count, the file would keep its name.
    fs::remove_file(folder.skill().join("skill.md")).unwrap();
    folder.file("pdf-processing/SKILL.md", "# Title");
    refused(&folder.skill(), "does not begin with a line `---`");
    folder.file("pdf-processing/SKILL.md", SKILL_MD);
    for at in 0..512 {
        folder.file(&format!("pdf-processing/many/{at}"), "");
    }
    refused(&folder.skill(), "more than 512 files");
    fs::remove_dir_all(folder.skill().join("many")).unwrap();
    folder.file("pdf-processing/big", vec![0; 16 << 20]);
    refused(&folder.skill(), "more than 16 MiB");
}

/// SK-06, SK-12, SK-28
#[test]
fn sk_28_skills_in_memory_obey_the_same_rules() {
    let check = |name: &str, files: &[(&str, &str)], reason: &str| {
        let builder = Skill::in_memory(name);
        let add = |builder: mcp_skills::SkillBuilder, &(path, text): &(&str, &str)| {
            builder.file(path, text)
        };
        let error: SkillError = files.iter().fold(builder, add).build().unwrap_err();
        let source = error.source().map(ToString::to_string).unwrap_or_default();
        let text = format!("{error}: {source}");
        assert!(text.contains(reason), "{text}");
    };
    const A: (&str, &str) = ("SKILL.md", "---\nname: a\ndescription: d\n---\n");
    for (path, reason) in [
        ("../x", "`.` or `..`"),
        ("/x", "absolute"),
        ("x/", "empty"),
        ("a\\b", "backslash"),
        ("a\0b", "NUL"),
        ("SKILL.md", "given twice"),
        ("SKILL.md/x", "a part of its path is a file"),
    ] {
        check("a", &[A, (path, "")], reason);
    }
    check("a", &[("x.md", "")], "no SKILL.md");
    check("b", &[A], "the name in its SKILL.md is `a`");
    check(
        "A",
        &[("SKILL.md", "---\nname: A\ndescription: d\n---\n")],
        "no name of a skill",
    );
    check(
        "a",
        &[A, ("x/SKILL.md", "---\nname: y\ndescription: d\n---\n")],
        "its name is `y`, but its folder is `x`",
    );
    check(
        "a",
        &[("SKILL.md", "---\nname: a\n---\n")],
        "`description` of the frontmatter is missing",
    );
    let many: Vec<_> = (0..513).map(|at| at.to_string()).collect();
    let many: Vec<_> = many.iter().map(|path| (&**path, "")).collect();
    check("a", &many, "more than 512 files");
    for prefix in ["", "a//b", "/a", "a/", "..", "a/../b", "a b", "a?b", "é"] {
        let skill = crate::support::plain("a");
        assert!(skill.under(prefix).is_err(), "{prefix}");
    }
}
