//! The files of a folder, as a client lists and reads them.

use std::fs;
use std::path::PathBuf;

use mcp_async::Server;
use mcp_async::server::{Folder, ServerBuilder};
use mcp_proto::Revision;

use crate::scripted::{LineClient, member, text};
use crate::server_typed::support::revisions;
use crate::sim::settle;
use crate::test_file::TestFolder;
use crate::texts::{INTERNAL_ERROR, has, internal};

/// A folder, with a file beside it.
struct Temporary(TestFolder);

impl Temporary {
    fn new(name: &str) -> Self {
        let parent = TestFolder::new(&format!("served-{name}"));
        fs::create_dir_all(parent.0.join("served/sub")).unwrap();
        fs::write(parent.0.join("beside"), "secret").unwrap();
        Self(parent)
    }

    fn path(&self) -> PathBuf {
        self.0.0.join("served")
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), contents).unwrap();
    }
}

fn server(folder: Folder) -> ServerBuilder {
    Server::builder("demo", "1").page_size(2).with(folder)
}

/// The answer to a request, which may be made in a task of its own.
fn ask(wire: &mut LineClient, method: &str, params: &str) -> String {
    let id = wire.send(method, params);
    let answer = wire.answer(id).or_else(|| {
        settle();
        wire.answer(id)
    });
    answer.unwrap()
}

fn list(wire: &mut LineClient, params: &str) -> String {
    member(&ask(wire, "resources/list", params), &["result"])
}

fn read(wire: &mut LineClient, uri: &str) -> String {
    ask(wire, "resources/read", &format!(r#"{{"uri":"{uri}"}}"#))
}

#[track_caller]
fn check_missing(wire: &mut LineClient, uri: &str, revision: Revision) {
    let answer = read(wire, uri);
    let code = if revision.is_modern() {
        "-32602"
    } else {
        "-32002"
    };
    assert_eq!(member(&answer, &["error", "code"]), code, "{uri}: {answer}");
    assert!(!answer.contains("secret"));
}

#[test]
fn files_are_listed_in_pages() {
    let folder = Temporary::new("pages");
    folder.write("a.md", "# A");
    folder.write("b c.png", b"\x89PNG");
    folder.write("sub/d", "d");
    folder.write(".hidden", "");
    let items = Folder::new("docs://guide/", folder.path());
    for revision in revisions() {
        let mut wire = LineClient::new(&server(items.clone()), revision);
        let first = list(&mut wire, "{}");
        let listed = |page: &str, at: &str, name: &str| text(page, &["resources", at, name]);
        assert_eq!(listed(&first, "0", "uri"), "docs://guide/a.md");
        assert_eq!(listed(&first, "0", "mimeType"), "text/markdown");
        assert_eq!(listed(&first, "1", "uri"), "docs://guide/b%20c.png");
        assert_eq!(listed(&first, "1", "name"), "b c.png");
        assert_eq!(member(&first, &["resources", "1", "size"]), "4");
        let cursor = text(&first, &["nextCursor"]);
        let second = list(&mut wire, &format!(r#"{{"cursor":"{cursor}"}}"#));
        assert_eq!(listed(&second, "0", "uri"), "docs://guide/sub/d");
        assert!(!second.contains("nextCursor") && !second.contains("mimeType"));
        has(
            &wire.result("resources/templates/list", "{}"),
            ["docs://guide/{+path}"],
        );
    }
}

#[test]
fn files_are_text_or_bytes() {
    let folder = Temporary::new("kinds");
    folder.write("a.md", "# Ä");
    folder.write("plain", "no extension");
    folder.write("bytes", b"\xff\x00");
    folder.write("latin.txt", b"\xe4");
    folder.write("ascii.png", "not of an image");
    folder.write("x.own", "{}");
    let items = Folder::new("docs://guide", folder.path()).mime_type("OWN", "application/x-own");
    for revision in revisions() {
        let mut wire = LineClient::new(&server(items.clone()), revision);
        let mut check = |name: &str, mime_type: &str, kind: &str, value: &str| {
            let uri = format!("docs://guide/{name}");
            let answer = read(&mut wire, &uri);
            let found = |member| text(&answer, &["result", "contents", "0", member]);
            assert_eq!((found("uri"), found(kind)), (uri, value.to_owned()));
            match mime_type {
                "" => assert!(!answer.contains("mimeType")),
                _ => assert_eq!(found("mimeType"), mime_type),
            }
        };
        check("a.md", "text/markdown", "text", "# Ä");
        check("%61.md", "text/markdown", "text", "# Ä");
        check("plain", "", "text", "no extension");
        check("bytes", "application/octet-stream", "blob", "/wA=");
        check("latin.txt", "text/plain", "blob", "5A==");
        check("ascii.png", "image/png", "blob", "bm90IG9mIGFuIGltYWdl");
        check("x.own", "application/x-own", "blob", "e30=");
    }
}

#[test]
fn no_uri_leads_out_of_the_folder() {
    let folder = Temporary::new("out");
    folder.write("a", "a");
    folder.write(".env", "secret");
    let absolute = folder.path().display().to_string().replace('\\', "/");
    let items = Folder::new("docs://guide", folder.path());
    for revision in revisions() {
        let mut wire = LineClient::new(&server(items.clone()), revision);
        for path in [
            "",
            "/",
            "../beside",
            "..%2Fbeside",
            "%2e%2e/beside",
            "%2e%2e%2fbeside",
            "sub/../../beside",
            "sub/%2E./%2e./beside",
            "..%5Cbeside",
            "..\\\\beside",
            "%252e%252e/beside",
            "..%c0%afbeside",
            "a%00",
            "a%00.md",
            "a/",
            "a/.",
            "./a",
            "sub",
            "sub/",
            "sub//a",
            ".env",
            "%2Eenv",
            "a?x",
            "a#x",
            "gone",
            "a/b",
            "NUL",
            "CON.txt",
            "C:",
            "a::$DATA",
        ] {
            check_missing(&mut wire, &format!("docs://guide/{path}"), revision);
        }
        for uri in [
            "docs://guide".to_owned(),
            "docs://guid%65/a".to_owned(),
            format!("docs://guide/{absolute}/a"),
            format!("docs://guide//{absolute}/../beside"),
            format!("file://{absolute}/a"),
            format!("docs://guide/{}a", "sub/../".repeat(2_000)),
        ] {
            check_missing(&mut wire, &uri, revision);
        }
        assert!(read(&mut wire, "docs://guide/a").contains(r#""text":"a""#));
    }
}

#[test]
fn files_change_between_a_list_and_a_read() {
    let folder = Temporary::new("changes");
    folder.write("changes", "before");
    folder.write("leaves", "before");
    let items = Folder::new("docs://guide", folder.path()).max_file_bytes(10);
    for revision in revisions() {
        folder.write("leaves", "before");
        let mut wire = LineClient::new(&server(items.clone()), revision);
        let listed = list(&mut wire, "{}");
        has(&listed, ["changes", "leaves"]);
        folder.write("changes", "0123456789");
        fs::remove_file(folder.path().join("leaves")).unwrap();
        check_missing(&mut wire, "docs://guide/leaves", revision);
        assert!(read(&mut wire, "docs://guide/changes").contains("0123456789"));
        folder.write("changes", "01234567890");
        has(
            &read(&mut wire, "docs://guide/changes"),
            ["-32603", "limit reached: 10 bytes of a file"],
        );
        // It is listed all the same.
        assert!(list(&mut wire, "{}").contains(r#""size":11"#));
    }
}

#[test]
fn a_folder_that_has_gone_is_an_error_of_the_list() {
    let folder = Temporary::new("gone");
    folder.write("a", "a");
    for revision in revisions() {
        let items = Folder::new("docs://guide", folder.path().join("nowhere"));
        let mut wire = LineClient::new(&server(items), revision);
        has(
            &ask(&mut wire, "resources/list", "{}"),
            [&internal(INTERNAL_ERROR)],
        );
        check_missing(&mut wire, "docs://guide/a", revision);
    }
}

#[test]
fn a_uri_may_be_nothing_but_a_scheme() {
    let folder = Temporary::new("scheme");
    folder.write("a", "a");
    for revision in revisions() {
        for uri in ["file:///", "docs://"] {
            let mut wire = LineClient::new(&server(Folder::new(uri, folder.path())), revision);
            let listed = text(&list(&mut wire, "{}"), &["resources", "0", "uri"]);
            assert_eq!(listed, format!("{uri}a"));
            assert!(read(&mut wire, &listed).contains(r#""text":"a""#));
        }
    }
}

#[test]
fn a_folder_is_a_template_with_further_settings() {
    let folder = Temporary::new("template");
    folder.write("a", "a");
    let of_all = Folder::new("docs://{guide}", folder.path());
    let of_some = Folder::new("other://x", folder.path()).into_template();
    let builder = server(of_all).with(
        of_some
            .title("Hidden")
            .visible_to(|caller| caller.is_some()),
    );
    for revision in revisions() {
        let mut wire = LineClient::new(&builder, revision);
        let listed = list(&mut wire, "{}");
        assert_eq!(
            text(&listed, &["resources", "0", "uri"]),
            "docs://%7Bguide%7D/a"
        );
        assert!(!listed.contains("other"));
        assert!(read(&mut wire, "docs://%7Bguide%7D/a").contains(r#""text":"a""#));
        check_missing(&mut wire, "other://x/a", revision);
    }
}
