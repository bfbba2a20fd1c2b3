//! What the commands answer.

#[cfg(unix)]
use super::run::shell;
use super::run::{client, everything, everything_reading, member};

#[test]
fn who_it_is() {
    let ran = everything(&["info"]);
    let heard = ran.err.clone();
    let text = ran.good();
    assert!(text.starts_with("Everything "), "{text}{heard}");
    for part in ["revision: 2026-07-28", "resources (", "Every tool says"] {
        assert!(text.contains(part), "{part} is not in {text}{heard}");
    }
    let told = everything(&["info", "--json"]);
    assert_eq!(told.member("serverInfo.name"), "\"everything\"");
    assert_eq!(told.member("revision"), "\"2026-07-28\"");
}

#[test]
fn lists_with_all_their_pages() {
    let text = everything(&["list"]).good();
    assert!(
        text.contains("  add a=NUMBER b=NUMBER\n    Addition\n    Adds two numbers\n"),
        "{text}"
    );
    for part in [
        "Resources (5)\n",
        "  test://static-binary image/png, 69 B\n",
        "Resource templates (1)\n  test://template/{id}/data application/json\n",
        "  test_prompt_with_arguments arg1=TEXT arg2=TEXT\n",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let tools = everything(&["list", "tools", "--json"]);
    let count = tools.member("tools").matches("\"inputSchema\"").count();
    assert!(count > 10, "the server's pages have ten: {count}");
    let all = everything(&["list", "--json"]);
    all.member("resourceTemplates.0.uriTemplate");
    all.member("prompts.0.name");
}

#[test]
fn skills() {
    let text = everything(&["skills"]).good();
    for part in [
        "Skills (2)\n  letters skill://letters/SKILL.md 4 files, ",
        "\n    Writes letters in the form",
        "\n  poems skill://poems/SKILL.md 1 file, ",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let listed = everything(&["skills", "list", "--json"]);
    assert_eq!(listed.member("skills.1.frontmatter.name"), "\"poems\"");
    for skill in ["poems", "skill://poems/SKILL.md"] {
        let shown = everything(&["skills", "show", skill]).good();
        assert!(shown.starts_with("---\nname: poems\n"), "{shown}");
    }
    let shown = everything(&["skills", "show", "poems", "--json"]);
    assert_eq!(shown.member("skill.uri"), "\"skill://poems/SKILL.md\"");
    let verified = everything(&["skills", "verify"]).good();
    assert_eq!(verified.matches("ok skill://").count(), 2, "{verified}");
    let verified = everything(&["skills", "verify", "letters", "--json"]);
    assert_eq!(
        verified.member("skills.0.uri"),
        "\"skill://letters/SKILL.md\""
    );
    assert_eq!(everything(&["skills", "show"]).code, Some(2));
    everything(&["skills", "show", "poem"]).ended(2, "no skill `poem`; did you mean `poems`?");
    assert_eq!(
        everything(&["skills", "show", "skill://none/SKILL.md"]).code,
        Some(4)
    );
}

#[test]
fn calls() {
    let check = |words: &[&str], expected: &str| {
        let words = [&["call"], words].concat();
        assert_eq!(everything(&words).good(), expected, "{words:?}");
    };
    check(&["echo", "text=hello"], "hello\n");
    check(&["echo", "text=12"], "12\n");
    check(&["echo", "text:=\"a\\nb\""], "a\nb\n");
    check(&["echo", "{\"text\":\"whole\"}"], "whole\n");
    check(
        &["echo", "text=\x1b[31mred\x1b]0;title\x07\u{9b}0m"],
        "red\n",
    );
    check(&["add", "a=1", "b=2.5"], "{\"sum\":3.5}\n");
    check(&["test_image_content"], "[image] image/png, 69 B\n");
    check(
        &["test_resource_link"],
        "[link] static-text test://static-text\n",
    );
    check(
        &["test_multiple_content_types"],
        "Multiple content types test:\n[image] image/png, 69 B\n\
         [resource] test://mixed-content-resource, application/json\n{\"test\":\"data\",\"value\":123}\n",
    );
}

#[test]
fn calls_for_programs() {
    let sum = everything(&["call", "add", "a=1", "b=-2", "--json"]);
    assert_eq!(sum.code, Some(0));
    assert_eq!(sum.member("structuredContent.sum").parse(), Ok(-1.0));
    let failed = everything(&["call", "test_error_handling", "--json"]);
    assert_eq!(failed.code, Some(1));
    assert_eq!(failed.member("isError"), "true");
}

#[test]
fn arguments_from_files_and_standard_input() {
    let check = |words: &[&str], input: &str, expected: &str| {
        let words = [&["call", "echo"], words].concat();
        assert_eq!(
            everything_reading(&words, input).good(),
            expected,
            "{words:?}"
        );
    };
    check(&["-"], "{\"text\":\"read\"}", "read\n");
    check(&["text=@-"], "two\nlines", "two\nlines\n");
    check(&["text:=@-"], "\"json\"", "json\n");
    let path = std::env::temp_dir().join(format!("mcp-client-{}", std::process::id()));
    std::fs::write(&path, "from a file").unwrap();
    let word = format!("text=@{}", path.display());
    check(&[&word], "", "from a file\n");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn reads() {
    let text = everything(&["read", "test://static-text"]).good();
    assert_eq!(text, "This is the content of the static text resource.");
    let image = everything(&["read", "test://static-binary"]);
    assert!(
        image.out.starts_with(b"\x89PNG") && image.out.len() == 69,
        "{:?}",
        image.out
    );
    let data = everything(&["read", "test://template/7/data", "--json"]);
    assert!(data.member("contents.0.text").contains("Data for ID: 7"));
}

#[test]
fn bytes_are_saved() {
    let directory = std::env::temp_dir().join(format!("mcp-client-save-{}", std::process::id()));
    let place = directory.to_str().unwrap();
    let text = everything(&["call", "test_audio_content", "--save", place]).good();
    assert!(
        text.contains("[audio] audio/wav, 46 B ") && text.contains("audio.wav"),
        "{text}"
    );
    everything(&["read", "test://static-binary", "--save", place]).good();
    assert!(directory.join("static-binary.png").exists());
    assert!(
        std::fs::read(directory.join("audio.wav"))
            .unwrap()
            .starts_with(b"RIFF")
    );
    let saved = everything(&["call", "test_image_content", "--json", "--save", place]);
    assert_eq!(saved.member("content.0.type"), "\"image\"");
    let path = directory.join("image.png");
    assert_eq!(saved.err, format!("saved {}\n", path.display()));
    let saved = everything(&["read", "test://static-binary", "--json", "--save", place]);
    saved.member("contents.0.blob");
    saved.ended(0, "static-binary-2.png");
    let saved = everything(&["get", "test_prompt_with_image", "--json", "--save", place]);
    saved.member("messages.0.content.data");
    saved.ended(0, "image-2.png");
    std::fs::remove_dir_all(directory).unwrap();
}

/// The directory is checked before the call.
#[cfg(unix)]
#[test]
fn results_whose_bytes_cannot_be_saved() {
    let path = std::env::temp_dir().join(format!("mcp-client-unsaved-{}", std::process::id()));
    let (place, started) = (path.to_str().unwrap(), path.with_extension("started"));
    let image = r#"{"content":[{"type":"text","text":"hi"},{"type":"image","data":"AAAA","mimeType":"image/png"}]}"#;
    let call = |option: &[&str], first: &str| {
        let script = format!("{first}\n{}", shell(image));
        let words = [
            "--revisions",
            "2025-11-25",
            "--save",
            place,
            "call",
            "it",
            "{}",
        ];
        client(&[&words[..], option, &["--", "sh", "-c", &script]].concat())
    };
    std::fs::write(&path, "a file").unwrap();
    let ran = call(&["--json"], &format!("touch {}", started.display()));
    ran.ended(2, "error: --save: ");
    assert!(!started.exists());
    // It becomes unusable during the call.
    let broken = format!("rm -r {place}; touch {place}");
    for option in [&["--json"][..], &[]] {
        std::fs::remove_file(&path).unwrap();
        let ran = call(option, &broken);
        ran.ended(6, "error: --save: ");
        assert!(ran.text().contains("hi"), "{ran:?}");
        match option.is_empty() {
            true => assert!(ran.text().contains("3 B"), "{ran:?}"),
            false => assert_eq!(ran.member("content.1.type"), "\"image\""),
        }
    }
    std::fs::remove_file(path).unwrap();
}

/// A tool whose answer says its structured content as text, too.
#[cfg(unix)]
#[test]
fn structured_content_is_shown_once() {
    let check = |text: &str, structured: &str, expected: &str| {
        let result = format!(
            r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{structured}}}"#
        );
        let script = shell(&result);
        let options = ["--revisions", "2025-11-25", "call", "it", "{}"];
        let words = [&options[..], &["--", "sh", "-c", &script]].concat();
        assert_eq!(client(&words).good(), expected);
    };
    check("\"done\"", r#"{"result":"done"}"#, "done\n");
    check("\"{}\"", "{}", "{}\n");
    check(
        "\"done\"",
        r#"{"result":"more"}"#,
        "done\n{\n  \"result\": \"more\"\n}\n",
    );
}

#[cfg(unix)]
#[test]
fn choices_are_listed() {
    let status = r#"{"oneOf":[{"const":"open","title":"Open"},{"const":"done"}]}"#;
    let schema = format!(
        r##"{{"type":"object","properties":{{"status":{{"$ref":"#/$defs/S"}}}},"$defs":{{"S":{status}}}}}"##
    );
    let tools = format!(r#"{{"tools":[{{"name":"find","inputSchema":{schema}}}]}}"#);
    let script = shell(&tools);
    let server = ["--revisions", "2025-11-25", "--", "sh", "-c", &script];
    let on = |words: &[&str]| client(&[words, &server[..]].concat());
    let text = on(&["list", "tools"]).good();
    assert!(text.contains("  find [status=open|done]\n"), "{text}");
    on(&["call", "find", "status=new"]).ended(2, "`new` is none of open, done");
}

#[test]
fn prompts() {
    let words = ["get", "test_prompt_with_arguments", "arg1=x", "arg2:=7"];
    let text = everything(&words).good();
    assert!(
        text.ends_with("user: Prompt with arguments: arg1='x', arg2='7'\n"),
        "{text}"
    );
    let image = everything(&["get", "test_prompt_with_image", "--json"]);
    assert_eq!(image.member("messages.0.content.type"), "\"image\"");
}

#[test]
fn completions_of_arguments() {
    let check = |words: &[&str], expected: &str| {
        let words = [&["complete"], words].concat();
        assert_eq!(everything(&words).good(), expected, "{words:?}");
    };
    check(
        &["test_prompt_with_arguments", "arg1=par"],
        "paris\npark\nparty\n",
    );
    check(
        &["test_prompt_with_arguments", "arg1=pari", "arg2=x"],
        "paris-x\n",
    );
    check(&["test://template/{id}/data", "id=15"], "15\n150\n");
    let many = everything(&["complete", "test://template/{id}/data", "id="]);
    many.ended(0, "there are more");
    assert_eq!(many.text().lines().count(), 100);
}

#[test]
fn completions_of_shells() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = client(&["completions", shell]).good();
        assert!(script.contains("subscribe"), "{shell}");
    }
}

#[test]
fn pings() {
    assert!(everything(&["ping"]).good().starts_with("answered in "));
    let times = everything(&["ping", "--count", "3", "--json"]);
    assert_eq!(times.member("milliseconds").matches(',').count(), 2);
}

#[test]
fn every_revision_answers_the_same() {
    for revision in [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28",
    ] {
        let on = |words: &[&str]| everything(&[&["--revisions", revision], words].concat());
        assert_eq!(
            on(&["info", "--json"]).member("revision"),
            format!("\"{revision}\"")
        );
        assert_eq!(on(&["call", "add", "a=1", "b=2", "--json"]).code, Some(0));
        assert_eq!(on(&["call", "echo", "text=x"]).good(), "x\n");
        assert!(
            on(&["read", "test://static-text"])
                .good()
                .starts_with("This is")
        );
        assert!(
            on(&["get", "test_simple_prompt"])
                .good()
                .contains("user: This is")
        );
        assert!(on(&["ping"]).good().starts_with("answered"));
    }
}

#[test]
fn members_are_found() {
    assert_eq!(member("{\"a\":[1,{\"b\":2}]}", "a.1.b"), "2");
}
