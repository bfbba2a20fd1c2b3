//! What a client does with the skills of a server.

use core::sync::atomic::{AtomicUsize, Ordering};

use mcp_async::Client;
use mcp_async::client::CallError;
use mcp_skills::{LoadError, SkillCheckError, SkillResources, Skills, SkillsClient};

use crate::support::{REVISIONS, SKILL_MD, URI, against, join, offering, pdf, plain, run};

/// SK-34, SK-41, SK-45: from the list to the files.
#[test]
fn sk_45_skills_are_listed_loaded_and_read() {
    for revision in REVISIONS {
        run(async {
            let skills = Skills::new()
                .skill(pdf())
                .skill(plain("a"))
                .skill(plain("b"));
            let server = offering(skills.page_size(2).directory_read());
            let client = join(&server, revision).await;
            let skills = SkillsClient::new(&client);
            let all = skills.all().await.unwrap();
            let names: Vec<_> = all.iter().map(|entry| entry.frontmatter.name()).collect();
            assert_eq!(names, [Some("a"), Some("b"), Some("pdf-processing")]);
            let first = skills.list(None).await.unwrap();
            assert_eq!(first.items, all[..2]);
            let second = skills.list(first.next).await.unwrap();
            assert_eq!(second.items, all[2..]);
            assert_eq!(second.next, None);

            let entry = skills.get(URI).await.unwrap();
            assert_eq!(entry, all[2], "SK-22");
            let skill = skills.load(entry).await.unwrap();
            assert_eq!(skill.text(), SKILL_MD);
            assert_eq!(skill.body(), "# Forms\n\nRead references/FORMS.md.\n");
            assert_eq!(skill.frontmatter().description(), Some("Fills in forms"));
            for file in [
                "references/FORMS.md",
                "./references/FORMS.md",
                "skill://pdf-processing/references/FORMS.md",
            ] {
                let file = skill.read(file).await.unwrap();
                assert_eq!(file.text(), Some("Forms\r\n\0é"));
                assert_eq!(file.mime_type.as_deref(), Some("text/markdown"));
            }
            for file in ["references/old/a b.txt", "references/old/a%20b.txt"] {
                assert!(skill.read(file).await.unwrap().bytes.is_empty());
            }
            let bytes = skill.read("scripts/fill.bin").await.unwrap();
            assert_eq!(
                (bytes.text(), &*bytes.bytes),
                (None, &[0xff, 0x00, 0xfe][..])
            );

            let folder = skills
                .read_directory("skill://pdf-processing")
                .await
                .unwrap();
            let names: Vec<_> = folder.iter().map(|child| &*child.name).collect();
            assert_eq!(names, ["pdf-processing", "references", "scripts"]);
            let missing = skills.get("skill://c/SKILL.md").await;
            assert!(
                matches!(&missing, Err(LoadError::Call(CallError::Server(error))) if error.code == -32602),
                "{missing:?}"
            );
        });
    }
}

/// SK-30: without the declaration nothing is sent.
#[test]
fn sk_30_nothing_is_asked_of_a_server_that_declares_no_skills() {
    for settings in ["null", "true", "\"on\"", "[]"] {
        against(
            |_, _| Ok("{}".into()),
            settings,
            |client, seen| async move {
                let skills = SkillsClient::new(&client);
                let missing = |error: &CallError| {
                    let text = error.to_string();
                    assert!(text.contains("io.modelcontextprotocol/skills"), "{text}");
                };
                missing(&skills.list(None).await.unwrap_err());
                missing(&skills.all().await.unwrap_err());
                missing(&skills.read_directory("skill://a").await.unwrap_err());
                let refused = skills.get(URI).await.unwrap_err();
                assert!(matches!(
                    refused,
                    LoadError::Call(CallError::MissingExtension(_))
                ));
                assert!(seen.take().is_empty());
            },
        );
    }
}

/// SK-30: nor are folders read of one that does not offer that.
#[test]
fn sk_30_folders_need_a_declaration_of_their_own() {
    for (settings, sent) in [
        ("{}", false),
        (r#"{"directoryRead":false}"#, false),
        (r#"{"directoryRead":"true"}"#, false),
        (r#"{"directoryRead":true,"later":1}"#, true),
    ] {
        against(
            |_, _| Ok(r#"{"resources":[]}"#.into()),
            settings,
            move |client, seen| async move {
                let read = SkillsClient::new(&client).read_directory("skill://a").await;
                assert_eq!(read.is_ok(), sent, "{read:?}");
                assert_eq!(!seen.take().is_empty(), sent);
            },
        );
    }
}

/// SK-31: only what is asked for is read.
#[test]
fn sk_31_no_file_is_read_ahead_of_need() {
    let server = offering(Skills::new().skill(pdf()));
    let entry = run(async {
        let client: Client = join(&server, REVISIONS[1]).await;
        SkillsClient::new(&client).get(URI).await.unwrap()
    });
    let json = serde_json::to_string(&entry).unwrap();
    let text = serde_json::to_string(SKILL_MD).unwrap();
    against(
        move |method, _| {
            Ok(match method {
                "skills/list" => format!(r#"{{"skills":[{json}]}}"#),
                _ => format!(r#"{{"contents":[{{"uri":"{URI}","text":{text}}}]}}"#),
            })
        },
        "{}",
        |client, seen| async move {
            let skills = SkillsClient::new(&client);
            let [entry] = <[_; 1]>::try_from(skills.all().await.unwrap()).unwrap();
            assert_eq!(seen.take(), ["skills/list"]);
            let skill = skills.load(entry).await.unwrap();
            assert_eq!(seen.take(), [format!("resources/read {URI}")]);
            // SK-34: an unlisted file is not even asked for.
            for file in [
                "other.md",
                "../other/SKILL.md",
                "references/../SKILL.md",
                "skill://other/SKILL.md",
                "file:///etc/passwd",
                "",
            ] {
                let refused = skill.read(file).await.unwrap_err();
                assert!(
                    matches!(&refused, LoadError::Check(SkillCheckError::NotListed(name)) if name == file),
                    "{refused}"
                );
            }
            assert!(seen.take().is_empty());
        },
    );
}

/// SK-32, SK-35: a file that the client kept from before a change is read anew.
#[test]
fn sk_35_a_kept_file_is_read_again_when_it_differs() {
    let server = offering(Skills::new().skill(pdf()));
    let json = run(async {
        let client: Client = join(&server, REVISIONS[1]).await;
        let entry = SkillsClient::new(&client).get(URI).await.unwrap();
        serde_json::to_string(&entry).unwrap()
    });
    let reads = AtomicUsize::new(0);
    let answer = move |method: &str, _: &str| {
        let text = match reads.fetch_add(usize::from(method == "resources/read"), Ordering::Relaxed)
        {
            0 => "before",
            _ => SKILL_MD,
        };
        let text = serde_json::to_string(text).unwrap();
        Ok(match method {
            "skills/get" => format!(r#"{{"skill":{json}}}"#),
            _ => format!(
                r#"{{"contents":[{{"uri":"{URI}","text":{text}}}],"ttlMs":60000,"cacheScope":"private"}}"#
            ),
        })
    };
    against(answer, "{}", |client, seen| async move {
        let before = client.read_resource(URI).await.unwrap();
        assert_eq!(before.text().as_deref(), Some("before"));
        let entry = SkillsClient::new(&client).get(URI).await.unwrap();
        let skill = SkillsClient::new(&client)
            .load(entry.clone())
            .await
            .unwrap();
        assert_eq!(skill.text(), SKILL_MD);
        let read = format!("resources/read {URI}");
        assert_eq!(
            seen.take(),
            [read.clone(), format!("skills/get {URI}"), read]
        );
        // The new one is kept in its place, and one that is wrong itself is read once.
        SkillsClient::new(&client)
            .load(entry.clone())
            .await
            .unwrap();
        assert!(seen.take().is_empty());
        client.forget_cached();
        let mut wrong = entry;
        if let SkillResources::Files(files) = &mut wrong.resources {
            files.iter_mut().for_each(|file| file.size += 1);
        }
        assert!(SkillsClient::new(&client).load(wrong).await.is_err());
        assert_eq!(seen.take(), [format!("resources/read {URI}")]);
    });
}
