//! Servers whose skills are not what they say.

use core::sync::atomic::{AtomicUsize, Ordering};

use mcp_async::ErrorReply;
use mcp_async::client::CallError;
use mcp_proto::json::RawBuf;
use mcp_skills::{LoadError, SkillCheckError, SkillEntry, SkillsClient};

use crate::support::{REVISIONS, SKILL_MD, URI, against, join, offering, pdf, run};

/// The entry of the skill, as a server sends it.
fn entry() -> String {
    let server = offering(mcp_skills::Skills::new().skill(pdf()));
    run(async {
        let client = join(&server, REVISIONS[1]).await;
        serde_json::to_string(&SkillsClient::new(&client).get(URI).await.unwrap()).unwrap()
    })
}

fn contents(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(r#"{{"contents":[{{"uri":"{URI}","text":{text}}}]}}"#)
}

/// Loads a skill with this entry, and hands over the error; `read` is the answer to `resources/read`.
fn refused(entry: &str, read: &str, check: impl FnOnce(&SkillCheckError) -> bool) {
    let (entry, read) = (entry.to_owned(), read.to_owned());
    let answer = move |method: &str, _: &str| {
        Ok(match method {
            "skills/get" => format!(r#"{{"skill":{entry}}}"#),
            _ => read.clone(),
        })
    };
    against(answer, "{}", |client, _| async move {
        let skills = SkillsClient::new(&client);
        let entry = skills.get(URI).await.unwrap();
        match skills.load(entry).await {
            Err(LoadError::Check(error)) => assert!(check(&error), "{error:?}"),
            other => panic!("{other:?}"),
        }
    });
}

/// SK-32: size before digest, and frontmatter only of what is right.
#[test]
fn sk_32_files_that_are_not_those_of_the_entry_are_refused() {
    let entry = entry();
    let same_length = SKILL_MD.replace("Read", "Fill");
    refused(
        &entry,
        &contents(&same_length),
        |error| matches!(error, SkillCheckError::Digest { uri } if uri == URI),
    );
    refused(&entry, &contents(&format!("{SKILL_MD}more")), |error| {
        let bytes = SKILL_MD.len() + 4;
        matches!(error, SkillCheckError::Size { actual, .. } if *actual == bytes)
    });
    let upper = entry.replacen("sha256:", "SHA256:", 1);
    refused(&upper, &contents(SKILL_MD), |error| {
        matches!(error, SkillCheckError::Digest { .. })
    });
    for read in [
        r#"{"contents":[]}"#.to_owned(),
        format!(r#"{{"contents":[{{"uri":"{URI}"}}]}}"#),
        format!(r#"{{"contents":[{{"uri":"{URI}","blob":"!"}}]}}"#),
        r#"{"contents":[{"uri":"skill://a","text":"a"},{"uri":"skill://b","text":"b"}]}"#
            .to_owned(),
    ] {
        refused(&entry, &read, |error| {
            matches!(error, SkillCheckError::NoContents(_))
        });
    }
}

/// SK-33: another frontmatter, although digest and size are right.
#[test]
fn sk_33_frontmatter_that_differs_from_the_entry_is_refused() {
    let entry = entry();
    for (was, is, field) in [
        ("Fills in forms", "Formats the disk", "description"),
        (
            "\"license\":\"MIT\"",
            "\"license\":\"MIT\",\"allowed-tools\":\"*\"",
            "allowed-tools",
        ),
        ("\"license\":\"MIT\",", "", "license"),
        ("1.5", "\"1.5\"", "metadata"),
    ] {
        let changed = entry.replacen(was, is, 1);
        assert_ne!(changed, entry);
        refused(
            &changed,
            &contents(SKILL_MD),
            |error| matches!(error, SkillCheckError::FrontmatterDiffers(name) if name == field),
        );
    }
}

/// SK-33: also where the files have no digests; then nothing else is checked.
#[test]
fn sk_33_dynamic_skills_are_compared_too() {
    let dynamic = |entry: &str| {
        let (before, _) = entry.split_once("\"resources\":").unwrap();
        format!("{before}\"resources\":\"dynamic\"}}")
    };
    let entry = entry();
    let changed = SKILL_MD.replace("Fills", "Spills");
    refused(&dynamic(&entry), &contents(&changed), |error| {
        matches!(error, SkillCheckError::FrontmatterDiffers(_))
    });
    refused(&dynamic(&entry), &contents("# No frontmatter"), |error| {
        matches!(error, SkillCheckError::Frontmatter(_))
    });
    let json = dynamic(&entry);
    let answer = move |method: &str, uri: &str| {
        Ok(match method {
            "skills/get" => format!(r#"{{"skill":{json}}}"#),
            _ if uri == URI => contents(&format!("{SKILL_MD}And more.\n")),
            _ if uri.ends_with("/new.md") => {
                format!(r#"{{"contents":[{{"uri":"{uri}","text":"anything"}}]}}"#)
            }
            _ => r#"{"contents":[{"uri":"skill://x","text":"anything"}]}"#.into(),
        })
    };
    against(answer, "{}", |client, seen| async move {
        let entry = SkillsClient::new(&client).get(URI).await.unwrap();
        let skill = SkillsClient::new(&client).load(entry).await.unwrap();
        assert!(skill.body().ends_with("And more.\n"));
        assert_eq!(skill.read("new.md").await.unwrap().text(), Some("anything"));
        // Without a digest only the URI says which file it is.
        let refused = skill.read("other.md").await.unwrap_err();
        assert!(matches!(
            refused,
            LoadError::Check(SkillCheckError::NoContents(_))
        ));
        seen.take();
        for file in [
            "../other/SKILL.md",
            "a/../../x",
            "skill://pdf-processing/a%2fx",
            "skill://other/x",
        ] {
            let refused = skill.read(file).await.unwrap_err();
            assert!(matches!(
                refused,
                LoadError::Check(SkillCheckError::NotListed(_))
            ));
        }
        assert!(seen.take().is_empty());
    });
}

/// SK-36, SK-37: before anything is read.
#[test]
fn sk_36_entries_that_cannot_be_loaded_cause_no_request() {
    let entry = entry();
    let (before, _) = entry.split_once("\"resources\":").unwrap();
    let file =
        |uri: &str, size: u64| format!(r#"{{"uri":"{uri}","digest":"sha256:00","size":{size}}}"#);
    let many: Vec<_> = (0..513)
        .map(|at| file(&format!("skill://pdf-processing/{at}"), 0))
        .collect();
    for (resources, reason) in [
        (String::from("null"), "does not list its files"),
        ("\"static\"".into(), "does not list its files"),
        (format!("[{}]", many.join(",")), "513 files"),
        (format!("[{}]", file(URI, 17 << 20)), "17825792 bytes"),
        (
            format!("[{}]", file("skill://other/SKILL.md", 1)),
            "outside of the folder",
        ),
        (
            format!("[{}]", file("skill://pdf-processing/../x", 1)),
            "outside of the folder",
        ),
        (format!("[{0},{0}]", file(URI, 1)), "listed twice"),
        ("[]".into(), "not listed"),
    ] {
        let json = format!("{before}\"resources\":{resources}}}");
        let entry: SkillEntry = RawBuf::parse(json).unwrap().decode().unwrap();
        against(
            |_, _| Ok("{}".into()),
            "{}",
            move |client, seen| async move {
                let error = SkillsClient::new(&client).load(entry).await.unwrap_err();
                assert!(error.to_string().contains(reason), "{error}");
                assert!(seen.take().is_empty());
            },
        );
    }
}

/// SK-22, SK-35: the entry of another skill is not taken.
#[test]
fn sk_22_another_skill_than_the_asked_one_is_refused() {
    let json = entry().replace("skill://pdf-processing/", "skill://other/pdf-processing/");
    against(
        move |_, _| Ok(format!(r#"{{"skill":{json}}}"#)),
        "{}",
        |client, _| async move {
            let error = SkillsClient::new(&client).get(URI).await.unwrap_err();
            assert!(
                matches!(&error, LoadError::Check(SkillCheckError::OtherSkill(uri)) if uri.contains("other")),
                "{error}"
            );
        },
    );
}

/// SK-21: cursors that repeat do not hold a client for ever.
#[test]
fn sk_21_cursors_that_do_not_end_are_refused() {
    let count = AtomicUsize::new(0);
    let answer = move |method: &str, _: &str| {
        let next = match count.fetch_add(1, Ordering::Relaxed) % 2 {
            0 => "a",
            _ => "b",
        };
        let items = match method {
            "skills/list" => "skills",
            _ => "resources",
        };
        Ok(format!(r#"{{"{items}":[],"nextCursor":"{next}"}}"#))
    };
    against(
        answer,
        r#"{"directoryRead":true}"#,
        |client, seen| async move {
            let skills = SkillsClient::new(&client);
            let all = skills.all().await;
            assert!(matches!(all, Err(CallError::PaginationLimit)), "{all:?}");
            assert!(seen.take().len() <= 1000);
            let folder = skills.read_directory("skill://a").await;
            assert!(
                matches!(folder, Err(CallError::PaginationLimit)),
                "{folder:?}"
            );
            assert_eq!(seen.take().len(), 3);
        },
    );
}

/// SK-23: the error of a server is handed over.
#[test]
fn errors_of_the_server_are_handed_over() {
    let json = entry();
    let answer = move |method: &str, _: &str| match method {
        "skills/get" => Ok(format!(r#"{{"skill":{json}}}"#)),
        _ => Err(ErrorReply::invalid_params("gone")),
    };
    against(answer, "{}", |client, _| async move {
        let entry = SkillsClient::new(&client).get(URI).await.unwrap();
        let error = SkillsClient::new(&client).load(entry).await.unwrap_err();
        assert!(
            matches!(error, LoadError::Call(CallError::Server(_))),
            "{error}"
        );
    });
}
