//! What a server offers.

use core::time::Duration;

use mcp_async::Server;
use mcp_async::model::CacheScope;
use mcp_async::server::{Principal, ServerBuilder};
use mcp_proto::json::RawBuf;
use mcp_proto::{Revision, RevisionSet};
use mcp_skills::{Skill, SkillEntry, Skills, verify};

use crate::support::{REVISIONS, SKILL_MD, URI, join, json, offering, pdf, plain, run, runtime};
use crate::wire::Wire;

/// SK-01, SK-02: the declaration, and the capability that it needs.
#[test]
fn sk_01_the_extension_is_declared_with_resources() {
    let settings = |server: &ServerBuilder, revision| {
        let declared = Wire::new(server, revision).capabilities;
        assert!(declared["resources"].is_object() || declared["extensions"].is_null());
        declared["extensions"]["io.modelcontextprotocol/skills"].clone()
    };
    for revision in RevisionSet::all().iter() {
        let server = offering(Skills::new().skill(pdf()).directory_read());
        let expected = match REVISIONS.contains(&revision) {
            true => json(r#"{"directoryRead":true}"#),
            false => serde_json::Value::Null,
        };
        assert_eq!(settings(&server, revision), expected, "{revision}");
    }
    let without = offering(Skills::new().skill(pdf()));
    let declared = settings(&without, Revision::V2026_07_28);
    assert_eq!(declared, json(r#"{"directoryRead":false}"#));
    let empty = offering(Skills::new());
    assert!(settings(&empty, Revision::V2026_07_28).is_object());
    let one = RevisionSet::of(&[Revision::V2026_07_28]);
    let modern = offering(Skills::new().skill(pdf()).revisions(one));
    assert!(settings(&modern, Revision::V2025_11_25).is_null());
}

/// SK-08, SK-11, SK-22: entries are the same in both methods, and their digests are those of the bytes.
#[test]
fn sk_08_entries_describe_what_is_served() {
    let server = offering(Skills::new().skill(pdf()));
    for revision in REVISIONS {
        let mut wire = Wire::new(&server, revision);
        let listed = json(&wire.result("skills/list", "{}"));
        let entry = &listed["skills"][0];
        assert_eq!(listed["skills"].as_array().unwrap().len(), 1);
        assert_eq!(listed["nextCursor"], serde_json::Value::Null);
        let got = json(&wire.result("skills/get", &format!(r#"{{"uri":"{URI}"}}"#)));
        assert_eq!(got["skill"], *entry, "SK-08");
        assert_eq!(got["nextCursor"], serde_json::Value::Null, "SK-22");
        assert_eq!(
            entry["frontmatter"],
            json(
                r#"{"name":"pdf-processing","description":"Fills in forms","license":"MIT",
                "metadata":{"version":1.5,"tags":["pdf","forms"]}}"#
            )
        );
        let uris: Vec<_> = entry["resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| &it["uri"])
            .collect();
        assert_eq!(
            uris,
            [
                "skill://pdf-processing/SKILL.md",
                "skill://pdf-processing/references/FORMS.md",
                "skill://pdf-processing/references/old/a%20b.txt",
                "skill://pdf-processing/scripts/fill.bin",
            ],
            "SK-10"
        );
        run(async {
            let client = join(&server, revision).await;
            let entry: SkillEntry = RawBuf::parse(entry.to_string()).unwrap().decode().unwrap();
            for uri in uris {
                let uri = uri.as_str().unwrap();
                let read = client.read_resource(uri).await.unwrap();
                let [contents] = &*read.contents else {
                    panic!("{read:?}");
                };
                assert_eq!(contents.uri(), Some(uri));
                let bytes = match contents {
                    mcp_async::model::ResourceContents::Blob(blob) => blob.blob.decode().unwrap(),
                    text => text.as_text().unwrap().as_bytes().to_vec(),
                };
                verify(entry.resource(uri).unwrap(), &bytes).unwrap();
            }
        });
    }
}

/// SK-07
#[test]
fn sk_07_each_skill_md_is_listed_as_a_resource() {
    let server = offering(Skills::new().skill(pdf()));
    let mut wire = Wire::new(&server, Revision::V2026_07_28);
    let listed = json(&wire.result("resources/list", "{}"));
    let size = SKILL_MD.len();
    let expected = format!(
        r#"[{{"uri":"{URI}","name":"pdf-processing","description":"Fills in forms",
        "mimeType":"text/markdown","size":{size}}}]"#
    );
    assert_eq!(listed["resources"], json(&expected));
    let read = json(&wire.result("resources/read", &format!(r#"{{"uri":"{URI}"}}"#)));
    assert_eq!(read["contents"][0]["mimeType"], "text/markdown");
    assert_eq!(read["contents"][0]["text"], SKILL_MD);
}

/// SK-03: nothing in the request of `Wire` declares the extension.
/// SK-20, SK-21: each entry is on one page, and the cursors end.
#[test]
fn sk_20_entries_are_paged() {
    let names = ["c", "a", "e", "b", "d"];
    let skills = names
        .map(plain)
        .into_iter()
        .fold(Skills::new(), Skills::skill);
    let server = offering(skills.page_size(2));
    for revision in REVISIONS {
        let mut wire = Wire::new(&server, revision);
        let mut pages = Vec::new();
        let mut params = String::from("{}");
        loop {
            let page = json(&wire.result("skills/list", &params));
            let names = page["skills"].as_array().unwrap().iter();
            let names = names.map(|entry| entry["frontmatter"]["name"].as_str().unwrap());
            pages.push(names.collect::<String>());
            let Some(next) = page["nextCursor"].as_str() else {
                break;
            };
            params = format!(r#"{{"cursor":"{next}"}}"#);
        }
        assert_eq!(pages, ["ab", "cd", "e"], "{revision}");
        let refused = wire.ask("skills/list", r#"{"cursor":"x"}"#);
        assert!(refused.contains("-32602"), "{refused}");
    }
}

/// SK-20, SK-22, SK-24, SK-25: what may be kept, where the revision has that.
#[test]
fn sk_24_results_have_the_fields_of_caches_since_2026_07_28() {
    let minute = Duration::from_secs(60);
    let skills = Skills::new().skill(pdf()).directory_read();
    let kept = skills.clone().cache(minute, CacheScope::Public);
    for (skills, ttl, scope) in [(skills, 0, "private"), (kept, 60_000, "public")] {
        let server = offering(skills);
        for revision in REVISIONS {
            let mut wire = Wire::new(&server, revision);
            let about = |uri: &str| format!(r#"{{"uri":"{uri}"}}"#);
            for (method, params) in [
                ("skills/list", "{}".to_owned()),
                ("skills/get", about(URI)),
                ("resources/read", about(URI)),
                (
                    "resources/read",
                    about("skill://pdf-processing/scripts/fill.bin"),
                ),
            ] {
                let answer = json(&wire.ask(method, &params));
                let result = &answer["result"];
                if revision.is_modern() {
                    assert_eq!(result["ttlMs"], ttl, "{method}");
                    assert_eq!(result["cacheScope"], scope, "{method}");
                    assert_eq!(result["resultType"], "complete", "{method}");
                } else {
                    assert_eq!(result["ttlMs"], serde_json::Value::Null, "{method}");
                    assert_eq!(result["resultType"], serde_json::Value::Null, "{method}");
                }
            }
            let folder = about("skill://pdf-processing");
            let folder = json(&wire.ask("resources/directory/read", &folder));
            assert_eq!(folder["result"]["ttlMs"], serde_json::Value::Null, "SK-25");
        }
    }
}

/// SK-23
#[test]
fn sk_23_unknown_uris_are_invalid_params() {
    let server = offering(Skills::new().skill(pdf()));
    for revision in REVISIONS {
        let mut wire = Wire::new(&server, revision);
        for uri in [
            "skill://other/SKILL.md",
            "skill://pdf-processing/references/FORMS.md",
            "skill://pdf-processing",
            "",
        ] {
            let refused = wire.ask("skills/get", &format!(r#"{{"uri":"{uri}"}}"#));
            assert!(refused.contains("-32602"), "{refused}");
        }
        let refused = wire.ask("skills/get", "{}");
        assert!(refused.contains("-32602"), "{refused}");
        let params = r#"{"uri":"skill://pdf-processing/../SKILL.md"}"#;
        let refused = wire.ask("resources/read", params);
        let code = match revision.is_modern() {
            true => "-32602",
            false => "-32002",
        };
        assert!(refused.contains(code), "{refused}");
    }
}

/// SK-25
#[test]
fn sk_25_folders_have_their_direct_children() {
    let server = offering(Skills::new().skill(pdf()).directory_read().page_size(2));
    for revision in REVISIONS {
        let mut wire = Wire::new(&server, revision);
        let mut read = |uri: &str| {
            let mut children = Vec::new();
            let mut cursor = String::new();
            loop {
                let params = format!(r#"{{"uri":"{uri}"{cursor}}}"#);
                let page = json(&wire.result("resources/directory/read", &params));
                for child in page["resources"].as_array().unwrap() {
                    let text = |member: &str| child[member].as_str().unwrap().to_owned();
                    children.push(format!("{} {}", text("name"), text("mimeType")));
                    assert!(text("uri").starts_with(uri));
                }
                let Some(next) = page["nextCursor"].as_str() else {
                    return children;
                };
                cursor = format!(r#","cursor":"{next}""#);
            }
        };
        assert_eq!(
            read("skill://pdf-processing"),
            [
                "pdf-processing text/markdown",
                "references inode/directory",
                "scripts inode/directory"
            ]
        );
        assert_eq!(
            read("skill://pdf-processing/references"),
            ["FORMS.md text/markdown", "old inode/directory"]
        );
        assert_eq!(
            read("skill://pdf-processing/references/old"),
            ["a b.txt text/plain"]
        );
    }
}

/// SK-26
#[test]
fn sk_26_what_is_no_folder_is_refused() {
    let mut with = Wire::new(
        &offering(Skills::new().skill(pdf()).directory_read()),
        Revision::V2026_07_28,
    );
    for uri in [
        URI,
        "skill://pdf-processing/",
        "skill://other",
        "skill://",
        "",
    ] {
        let params = format!(r#"{{"uri":"{uri}"}}"#);
        let refused = with.ask("resources/directory/read", &params);
        assert!(refused.contains("-32602"), "{refused}");
    }
    let page = with.ask("skills/list", "{}");
    assert!(page.contains("\"skills\":["), "{page}");
    let mut without = Wire::new(&offering(Skills::new().skill(pdf())), Revision::V2026_07_28);
    let refused = without.ask(
        "resources/directory/read",
        r#"{"uri":"skill://pdf-processing"}"#,
    );
    assert!(refused.contains("-32601"), "{refused}");
}

/// SK-05, SK-10, SK-41: a skill in a skill is listed by itself, and its files are also of the outer one.
#[test]
fn sk_10_nested_skills_are_listed_by_themselves() {
    let outer = Skill::in_memory("outer")
        .file("SKILL.md", "---\nname: outer\ndescription: a\n---\n")
        .file(
            "more/inner/SKILL.md",
            "---\nname: inner\ndescription: b\n---\n",
        )
        .file("more/inner/x.txt", "x")
        .build()
        .unwrap()
        .under("acme/tools")
        .unwrap();
    assert_eq!(outer.uri(), "skill://acme/tools/outer/SKILL.md");
    let server = offering(Skills::new().skill(outer));
    let mut wire = Wire::new(&server, Revision::V2026_07_28);
    let listed = json(&wire.result("skills/list", "{}"));
    let uris = |entry: &serde_json::Value| -> Vec<String> {
        let resources = entry["resources"].as_array().unwrap().iter();
        let uris = resources.map(|it| it["uri"].as_str().unwrap());
        uris.map(|uri| uri.replace("skill://acme/tools/outer", ""))
            .collect()
    };
    let skills = listed["skills"].as_array().unwrap();
    assert_eq!(skills.len(), 2);
    assert_eq!(skills[0]["uri"], "skill://acme/tools/outer/SKILL.md");
    assert_eq!(
        uris(&skills[0]),
        ["/SKILL.md", "/more/inner/SKILL.md", "/more/inner/x.txt"]
    );
    assert_eq!(
        skills[1]["uri"],
        "skill://acme/tools/outer/more/inner/SKILL.md"
    );
    assert_eq!(
        uris(&skills[1]),
        ["/more/inner/SKILL.md", "/more/inner/x.txt"]
    );
    let resources = json(&wire.result("resources/list", "{}"));
    assert_eq!(resources["resources"].as_array().unwrap().len(), 2);
}

/// SK-06, SK-14 and the page size: a server with such skills is not built.
#[test]
fn mistakes_are_reported_when_the_server_is_built() {
    let check = |skills: Skills, reason: &str| {
        let error = offering(skills).build().err().unwrap();
        let mistakes: String = error.mistakes().iter().map(ToString::to_string).collect();
        assert!(mistakes.contains(reason), "{mistakes}");
    };
    check(
        Skills::new().skill(plain("a")).skill(plain("a")),
        "skill `a`: there are two skills with this URI",
    );
    check(Skills::new().page_size(0), "page_size");
    check(
        Skills::new().skill(Skill::in_memory("b").file("SKILL.md", "# B")),
        "does not begin with a line `---`",
    );
}

/// Everything else of the server stays as it is.
#[test]
fn skills_leave_other_resources_alone() {
    run(async {
        let server = Server::builder("demo", "1.0")
            .resource("notes://a", "a", |_| async { Ok("note") })
            .tool("hello", "Greets", |(): (), _| async { Ok("Hello!") })
            .extension(Skills::new().skill(pdf()));
        let client = join(&server, Revision::V2026_07_28).await;
        let read = client.read_resource("notes://a").await.unwrap();
        assert_eq!(read.text().as_deref(), Some("note"));
        assert_eq!(
            client.call_tool("hello", &()).await.unwrap().text(),
            "Hello!"
        );
        assert_eq!(client.resources().all().await.unwrap().len(), 2);
    });
}

/// CH-05: a skill exists for those callers only that it is shown to.
#[test]
fn sk_20_callers_see_their_own_skills() {
    let is_ada = |caller: Option<&Principal>| caller.is_some_and(|caller| caller.name() == "ada");
    let skills = Skills::new()
        .skill(pdf().visible_to(is_ada))
        .skill(plain("open"))
        .cache(Duration::from_secs(60), CacheScope::Public)
        .directory_read();
    let server = offering(skills).build().unwrap();
    for revision in REVISIONS {
        let wire = |name: &str| {
            let begin = |streams| {
                let (connection, _) = server.connect(streams, runtime());
                connection.with_principal(name)
            };
            Wire::of(begin, revision)
        };
        let calls = [
            ("skills/get", URI),
            ("resources/read", URI),
            (
                "resources/read",
                "skill://pdf-processing/references/FORMS.md",
            ),
            ("resources/directory/read", "skill://pdf-processing"),
            ("resources/directory/read", "skill://pdf-processing/scripts"),
        ];
        let (mut ada, mut bob) = (wire("ada"), wire("bob"));
        for (method, uri) in calls {
            let params = format!(r#"{{"uri":"{uri}"}}"#);
            let result = ada.result(method, &params);
            assert!(!result.contains("public"), "{result}");
            let code = bob.error(method, &params);
            assert!([-32602, -32002].contains(&code), "{method} {uri}: {code}");
        }
        for list in ["skills/list", "resources/list"] {
            let (all, some) = (ada.result(list, "{}"), bob.result(list, "{}"));
            assert!(
                all.contains(URI) && all.contains("skill://open/SKILL.md"),
                "{all}"
            );
            assert!(!some.contains("pdf-processing"), "{some}");
            assert!(some.contains("skill://open/SKILL.md"), "{some}");
            assert!(
                !all.contains("public") && !some.contains("public"),
                "{some}"
            );
        }
        let open = bob.result("skills/get", r#"{"uri":"skill://open/SKILL.md"}"#);
        assert_eq!(open.contains("public"), revision == REVISIONS[1], "{open}");
    }
}
