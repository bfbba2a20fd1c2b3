//! Compares `docs/rules.md` with the sources that cite its rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The id of a rule: its group and its number.
type Id = (String, u8);

/// A row of the page.
struct Rule {
    id: Id,
    level: String,
    who: String,
    sentence: String,
    source: String,
    /// `tests`, perhaps with what they leave out, or the reason why no test cites the rule.
    shown_by: String,
}

impl Rule {
    /// Returns whether tests show the rule, at least in part.
    fn is_tested(&self) -> bool {
        self.shown_by == "tests" || self.shown_by.starts_with("tests; ")
    }
}

/// The places where each rule is cited.
#[derive(Default)]
struct Citations {
    anywhere: BTreeMap<Id, String>,
    tests: BTreeMap<Id, String>,
}

const LEVELS: [&str; 8] = [
    "MUST",
    "MUST NOT",
    "SHOULD",
    "SHOULD NOT",
    "MAY",
    "RFC",
    "ours",
    "–",
];

const WHO: [&str; 7] = [
    "client",
    "server",
    "both",
    "sender",
    "receiver",
    "intermediary",
    "authorization server",
];

#[test]
fn every_row_is_complete() {
    let page = page();
    let links: BTreeSet<_> = page
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.split_once("]: https://"))
        .map(|(name, _)| name)
        .collect();
    let mut group = "";
    let mut last = None;
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            group = heading.split_once(": ").expect("a heading with a group").0;
            last = None;
            continue;
        }
        let Some(rule) = row(line) else {
            continue;
        };
        assert_eq!(rule.id.0, group, "in another group: {line}");
        assert!(last < Some(rule.id.1), "not in order: {line}");
        let levels: Vec<_> = rule.level.split(" / ").collect();
        let is_level = |level: &&str| LEVELS.contains(level);
        assert!(levels.iter().all(is_level), "level: {line}");
        let parts = rule.sentence.split("; ").count();
        let is_single = levels.len() == 1;
        assert!(is_single || levels.len() == parts, "parts: {line}");
        assert!(WHO.contains(&&*rule.who), "who: {line}");
        assert!(rule.sentence.ends_with('.'), "no sentence: {line}");
        let is_stated = rule.shown_by == "tests" || rule.shown_by.ends_with('.');
        assert!(is_stated, "shown by: {line}");
        let link = rule.source.trim_matches(['[', ']']);
        assert!(link == "ours" || links.contains(link), "source: {line}");
        last = Some(rule.id.1);
    }
}

#[test]
fn every_citation_is_of_a_rule() {
    let page = page();
    let rules: BTreeSet<_> = rules(&page).map(|rule| rule.id).collect();
    let missing: Vec<_> = citations(&groups(&rules))
        .anywhere
        .into_iter()
        .filter(|(id, _)| !rules.contains(id))
        .map(|(id, place)| format!("{} at {place}", text(&id)))
        .collect();
    assert!(missing.is_empty(), "not in docs/rules.md: {missing:#?}");
}

#[test]
fn every_rule_is_shown() {
    let page = page();
    let ids: BTreeSet<_> = rules(&page).map(|rule| rule.id).collect();
    let tests = citations(&groups(&ids)).tests;
    let mut wrong = Vec::new();
    for rule in rules(&page) {
        let id = text(&rule.id);
        match (rule.is_tested(), tests.get(&rule.id)) {
            (true, None) => wrong.push(format!("{id}: neither a test nor a reason")),
            (true, Some(_)) | (false, None) => {}
            (false, Some(place)) => wrong.push(format!("{id}: a reason, and a test at {place}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_source_that_is_named_is_there() {
    let mut files = Vec::new();
    collect(&root(), &mut files);
    let page = page();
    let named = page.split('`').filter(|word| word.ends_with(".rs"));
    let missing: Vec<_> = named
        .filter(|name| {
            !files
                .iter()
                .any(|file| file.ends_with(Path::new("src").join(name)))
        })
        .collect();
    assert!(missing.is_empty(), "no such source: {missing:?}");
}

#[test]
fn citations_are_found() {
    let groups = BTreeSet::from(["JR".to_owned(), "SSE".to_owned()]);
    let of = |line| {
        let found = citations_in(line, &groups);
        found.iter().map(text).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of("/// Obeys JR-07 and SSE-01."), "JR-07 SSE-01");
    assert_eq!(of("// (JR-03..05)"), "JR-03 JR-04 JR-05");
    assert_eq!(of("// JR-03 to JR-05, SSE-02"), "JR-03 JR-04 JR-05 SSE-02");
    assert_eq!(of("fn jr_07_ids_are_echoed() {"), "JR-07");
    assert_eq!(of("fn jr_07_sse_01() {"), "JR-07 SSE-01");
    assert_eq!(of("JR-120, JR-07"), "JR-120 JR-07");
    assert_eq!(of("UTF-16 XJR-07 JR-070 JR-7 jr_071 kjr_07"), "");
}

fn page() -> String {
    fs::read_to_string(root().join("docs/rules.md")).expect("docs/rules.md")
}

fn rules(page: &str) -> impl Iterator<Item = Rule> {
    page.lines().filter_map(row)
}

/// Reads a line of a table; `None` for every other line.
fn row(line: &str) -> Option<Rule> {
    let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
    let cells: Vec<_> = cells.split(" | ").collect();
    let (group, number) = cells[0].split_once('-')?;
    let number = number.parse().ok()?;
    let [_, level, who, _, sentence, source, shown_by] = cells[..] else {
        panic!("not seven cells: {line}");
    };
    Some(Rule {
        id: (group.to_owned(), number),
        level: level.to_owned(),
        who: who.to_owned(),
        sentence: sentence.to_owned(),
        source: source.to_owned(),
        shown_by: shown_by.to_owned(),
    })
}

fn groups(rules: &BTreeSet<Id>) -> BTreeSet<String> {
    rules.iter().map(|(group, _)| group.clone()).collect()
}

fn text((group, number): &Id) -> String {
    format!("{group}-{number:02}")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Reads every source and document of the repository except the page itself.
fn citations(groups: &BTreeSet<String>) -> Citations {
    let root = root();
    let mut files = Vec::new();
    collect(&root, &mut files);
    let mut citations = Citations::default();
    for file in files {
        let name = file.strip_prefix(&root).expect("below the root");
        let name = name.to_string_lossy().replace('\\', "/");
        if name == "docs/rules.md" || name == "docs/tests/rules.rs" {
            continue;
        }
        let source = fs::read_to_string(&file).expect("a readable source");
        let lines: Vec<_> = source.lines().collect();
        let tests = test_lines(&name, &lines);
        for (index, line) in lines.iter().enumerate() {
            let place = format!("{name}:{}", index + 1);
            for id in citations_in(line, groups) {
                // What a file says of itself is not at a case.
                if tests[index] && !line.trim_start().starts_with("//!") {
                    let known = citations.tests.entry(id.clone());
                    known.or_insert_with(|| place.clone());
                }
                let known = citations.anywhere.entry(id);
                known.or_insert_with(|| place.clone());
            }
        }
    }
    citations
}

/// Adds the sources and documents below a folder, without what tools put there.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') || name == "target" || name == "node_modules" {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else if let Some("rs" | "py" | "ts" | "md") = path.extension().and_then(|e| e.to_str()) {
            files.push(path);
        }
    }
}

/// Finds the lines of a file that are part of a test: all of them below `tests`, in `tests.rs` and in drivers
/// of other implementations, otherwise those of modules behind `cfg(test)`.
fn test_lines(name: &str, lines: &[&str]) -> Vec<bool> {
    let all = name.contains("/tests/")
        || name.ends_with("/tests.rs")
        || name.starts_with("conformance/")
        || name.starts_with("interop/");
    let mut test = vec![all && !name.ends_with(".md"); lines.len()];
    let mut end = None;
    for (index, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let indent = &line[..line.len() - trimmed.len()];
        if end.is_none() && (trimmed == "#[cfg(test)]" || trimmed.starts_with("#[cfg(all(test,")) {
            end = Some(format!("{indent}}}"));
        }
        if let Some(last) = &end {
            test[index] = true;
            if line == last || (trimmed.starts_with("mod ") && trimmed.ends_with(';')) {
                end = None;
            }
        }
    }
    test
}

/// The rules that a line cites: `JR-07`, `JR-03..05`, `JR-03 to JR-05`, or `jr_07` in a name.
fn citations_in(line: &str, groups: &BTreeSet<String>) -> Vec<Id> {
    let mut found: Vec<Id> = Vec::new();
    let mut end = 0;
    for (at, separator) in line.match_indices(['-', '_']) {
        let before = line[..at].rsplit(|c: char| !c.is_alphanumeric());
        let name = before.take(1).collect::<String>();
        let group = match separator {
            "_" if name.bytes().all(|b| b.is_ascii_lowercase()) => name.to_ascii_uppercase(),
            "-" => name.clone(),
            _ => continue,
        };
        let found_number = number(&line[at + 1..]).filter(|_| groups.contains(&group));
        let Some((first, digits)) = found_number else {
            continue;
        };
        let between = &line[end..at - name.len()];
        if let Some((_, last)) = found
            .last()
            .filter(|last| between == " to " && last.0 == group)
        {
            let skipped = last + 1..first;
            found.extend(skipped.map(|number| (group.clone(), number)));
        }
        end = at + 1 + digits;
        let last = line[end..].strip_prefix("..").and_then(number);
        let numbers = first..=last.map_or(first, |(last, _)| last);
        found.extend(numbers.map(|number| (group.clone(), number)));
    }
    found
}

/// The number of two digits, or of three without a zero in front, that a text begins with, and how
/// many digits it has.
fn number(text: &str) -> Option<(u8, usize)> {
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    let next = text[count..].chars().next();
    let whole = (count == 2 || (count == 3 && !text.starts_with('0')))
        && !next.is_some_and(|next| next.is_alphanumeric());
    let number = whole.then(|| text[..count].parse().ok())??;
    Some((number, count))
}
