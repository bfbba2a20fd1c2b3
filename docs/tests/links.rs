//! Checks the links of the documents.
//!
//! The pages of the guides are read in two places. In the repository their links lead to other pages and to docs.rs.
//! rustdoc reads `links.txt` before each page, in which the labels have the paths of the modules and items: documentation
//! links within itself, and rustdoc fails where there is no such item. `LINKS=write cargo test -p mcp-docs` writes the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const GUIDES: &str = "mcp-tokio/src/guide";
/// The address of the guides for the documentation of other crates.
const PUBLISHED: &str = "https://docs.rs/mcp-tokio/latest/mcp_tokio/guide/";

#[test]
fn every_link_of_a_document_leads_to_a_file() {
    let mut wrong = Vec::new();
    for file in files(&["md"]) {
        let text = fs::read_to_string(&file).unwrap();
        let defined = definitions(&text).into_values().map(str::to_owned);
        let stated = uses(&text).into_iter().filter_map(|link| match link {
            Link::Target(target) => Some(target),
            Link::Label(_) => None,
        });
        for target in defined.chain(stated) {
            if target.contains("://") || target.contains("::") {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let to = match path {
                "" => file.clone(),
                _ => file.parent().unwrap().join(path),
            };
            let has_anchor = || headings(&fs::read_to_string(&to).unwrap()).contains(anchor);
            if !to.exists() || (!anchor.is_empty() && !has_anchor()) {
                wrong.push(format!("{}: {target}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_label_of_a_guide_is_defined_and_used() {
    let mut wrong = Vec::new();
    for (name, text) in guides() {
        let defined: BTreeSet<_> = definitions(&text).into_keys().map(str::to_owned).collect();
        // rustdoc knows other pages and items by their labels only.
        let used = uses(&text).into_iter().filter_map(|link| match link {
            Link::Label(label) => Some(label),
            Link::Target(target) if target.starts_with('#') => None,
            Link::Target(target) => Some(format!("({target}) without a label")),
        });
        let used = used.collect();
        wrong.extend(
            defined
                .symmetric_difference(&used)
                .map(|label| format!("{name}: {label}")),
        );
        let paths = definitions(&text)
            .into_values()
            .filter(|target| target.contains("::"));
        wrong.extend(paths.map(|path| format!("{name}: {path} leads nowhere in the repository")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_index_has_every_guide() {
    let guides = guides();
    let index = definitions(&guides["README.md"])
        .into_values()
        .collect::<BTreeSet<_>>();
    for name in guides.keys().filter(|name| *name != "README.md") {
        assert!(index.contains(&**name), "{name} is not in the index");
    }
}

#[test]
fn rustdoc_reads_the_links_of_the_guides() {
    let guides = guides();
    let mut links = BTreeMap::new();
    for (name, text) in &guides {
        for (label, target) in definitions(text) {
            let Some(item) = item(target) else {
                continue;
            };
            let other = links.insert(label.to_owned(), item.clone());
            assert!(
                other.is_none_or(|other| other == item),
                "{name}: another {label}"
            );
        }
    }
    let written: String = links
        .iter()
        .map(|(label, item)| format!("[{label}]: {item}\n"))
        .collect();
    let path = root().join(GUIDES).join("links.txt");
    if std::env::var_os("LINKS").is_some_and(|action| action == "write") {
        fs::write(&path, &written).unwrap();
    }
    let noted = fs::read_to_string(path).unwrap_or_default();
    assert!(
        noted == written,
        "LINKS=write cargo test -p mcp-docs writes it"
    );
}

#[test]
fn every_address_of_a_guide_is_of_one() {
    let guides = guides();
    for file in files(&["md", "rs"]) {
        let text = fs::read_to_string(&file).unwrap();
        for (at, _) in text.match_indices(PUBLISHED) {
            let rest = &text[at + PUBLISHED.len()..];
            let end = rest
                .find(|c: char| c.is_whitespace() || "\")>".contains(c))
                .unwrap_or(rest.len());
            let address = &rest[..end];
            let (page, anchor) = address.split_once('#').unwrap_or((address, ""));
            let page = page
                .strip_suffix("/index.html")
                .map_or("README.md".to_owned(), |page| format!("{page}.md"));
            let has_anchor = guides
                .get(&page)
                .is_some_and(|text| anchor.is_empty() || headings(text).contains(anchor));
            assert!(has_anchor, "{}: {address}", file.display());
        }
    }
}

#[test]
fn links_are_found() {
    let text = "A [b] and `[c]`, [d\ne][f], [`G`](h.md#i).\n```\n[j]\n```\n[b]: k.md\n";
    let label = |label: &str| Link::Label(label.to_owned());
    assert_eq!(
        uses(text),
        [label("b"), label("f"), Link::Target("h.md#i".to_owned())]
    );
    assert_eq!(definitions(text), BTreeMap::from([("b", "k.md")]));
    assert_eq!(
        headings("# A `b`, c\n"),
        BTreeSet::from(["a-b-c".to_owned()])
    );
    let of = |path| {
        item(&format!(
            "https://docs.rs/mcp-async/latest/mcp_async/{path}"
        ))
    };
    assert_eq!(of("a/index.html").unwrap(), "mod@mcp_async::a");
    assert_eq!(of("a/struct.B.html").unwrap(), "struct@mcp_async::a::B");
    assert_eq!(
        of("a/struct.B.html#method.c").unwrap(),
        "method@mcp_async::a::B::c"
    );
    assert_eq!(
        of("enum.B.html#variant.C").unwrap(),
        "variant@mcp_async::B::C"
    );
}

/// A link in the prose of a document.
#[derive(Debug, PartialEq)]
enum Link {
    /// To what the document defines under a label.
    Label(String),
    /// To what stands at the link.
    Target(String),
}

/// Finds the links outside of code and of definitions.
fn uses(text: &str) -> Vec<Link> {
    let mut is_code = false;
    let prose = text.split_inclusive('\n').filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && definition(line).is_none()
    });
    let prose: String = prose.collect();
    let mut rest = &*prose;
    let mut found = Vec::new();
    while let Some(at) = rest.find(['`', '[']) {
        let is_code = rest[at..].starts_with('`');
        let Some((label, after)) = rest[at + 1..].split_once(if is_code { '`' } else { ']' })
        else {
            break;
        };
        rest = after;
        if is_code {
            continue;
        }
        let closed = [('(', ')'), ('[', ']')]
            .into_iter()
            .find(|(open, _)| after.starts_with(*open));
        let Some((open, (stated, after))) =
            closed.and_then(|(open, close)| Some((open, after[1..].split_once(close)?)))
        else {
            found.push(Link::Label(one_line(label)));
            continue;
        };
        rest = after;
        found.push(match open {
            '(' => Link::Target(stated.to_owned()),
            _ => Link::Label(one_line(stated)),
        });
    }
    found
}

fn one_line(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The labels that a document defines, and where they lead.
fn definitions(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter_map(definition).collect()
}

fn definition(line: &str) -> Option<(&str, &str)> {
    let (label, target) = line.strip_prefix('[')?.split_once("]: ")?;
    Some((label, target.trim_end()))
}

/// The anchors of a document.
fn headings(text: &str) -> BTreeSet<String> {
    let titles = text.lines().filter_map(|line| line.strip_prefix('#'));
    let slug = |title: &str| {
        let title = title
            .trim_start_matches('#')
            .trim()
            .to_lowercase()
            .replace(' ', "-");
        title
            .chars()
            .filter(|c| c.is_alphanumeric() || "-_".contains(*c))
            .collect()
    };
    titles.map(slug).collect()
}

/// The path by which rustdoc finds a page of the guides, or an item at an address of docs.rs; `None` for the crates of others.
fn item(target: &str) -> Option<String> {
    if let Some((page, anchor)) = target.split_once(".md") {
        return Some(format!("mod@crate::guide::{page}{anchor}"));
    }
    let (_, path) = target
        .strip_prefix("https://docs.rs/mcp-")?
        .split_once("/latest/")?;
    let (modules, page) = path.rsplit_once('/')?;
    let modules = match modules.replace('/', "::") {
        modules if modules.starts_with("mcp_tokio") => modules.replacen("mcp_tokio", "crate", 1),
        modules if modules.starts_with("mcp_auth") => format!("mcp_async::auth::{modules}"),
        modules => modules,
    };
    if page == "index.html" {
        return Some(format!("mod@{modules}"));
    }
    let (page, member) = page.split_once('#').unwrap_or((page, ""));
    let (kind, name) = page.strip_suffix(".html")?.split_once('.')?;
    match member.split_once('.') {
        None => Some(format!("{kind}@{modules}::{name}")),
        Some((kind, member)) => {
            let kind = kind
                .replace("tymethod", "method")
                .replace("structfield", "field");
            Some(format!("{kind}@{modules}::{name}::{member}"))
        }
    }
}

/// The pages of the guides by their file names.
fn guides() -> BTreeMap<String, String> {
    let folder = root().join(GUIDES);
    let pages = files(&["md"])
        .into_iter()
        .filter(|file| file.starts_with(&folder));
    pages
        .map(|file| {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(&file).unwrap())
        })
        .collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files of the repository with one of these endings, without what tools put there.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with('.') || name == "target" || name == "node_modules" {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|ending| endings.iter().any(|one| ending == *one))
            {
                found.push(path);
            }
        }
    }
    found
}
