//! Every type of the model, with all of its members set, as each revision gets to see it:
//! nothing that the revision's schema lacks, and everything that it requires.

mod client;
mod content;
mod rounds;
mod server;

use mcp_proto::Revision;
use mcp_proto::json::{List, Map, Number, Object, Raw, Writer};
use mcp_proto::model::*;
use mcp_proto::rpc::Id;
use serde::Serialize;

/// The revisions in the order of their numbers in the table, the draft in place of the one that
/// it is like.
const REVISIONS: [(char, Revision); 6] = [
    ('1', Revision::V2024_11_05),
    ('2', Revision::V2025_03_26),
    ('3', Revision::V2025_06_18),
    ('4', Revision::V2025_11_25),
    ('4', Revision::DraftV1),
    ('5', Revision::V2026_07_28),
];

const TABLE: &str = include_str!("members.txt");

/// Encodes for every revision that has the type, and compares the names with the table's.
/// Every optional member has to be seen in each revision that has it.
#[track_caller]
fn check(name: &str, value: &impl Serialize) {
    for (number, revision) in REVISIONS {
        if row(name).revisions.contains(number) {
            check_as(name, value, number, revision);
        }
    }
}

#[track_caller]
fn check_as(name: &str, value: &impl Serialize, number: char, revision: Revision) {
    let mut buffer = vec![0; 4096];
    let written = encode(value, Some(revision), &mut buffer);
    check_object(name, written, number, revision);
}

/// Checks the value of a member like a type of its own.
#[track_caller]
fn check_member(name: &str, member: &str, value: &impl Serialize) {
    for (number, revision) in REVISIONS {
        if row(name).revisions.contains(number) {
            let mut buffer = vec![0; 4096];
            let written = encode(value, Some(revision), &mut buffer);
            let object = written.object().expect("an object");
            let written = object.get(member).expect("the member");
            check_object(name, written, number, revision);
        }
    }
}

#[track_caller]
fn check_object(name: &str, written: Raw<'_>, number: char, revision: Revision) {
    let object = written.object().expect("an object");
    let mut seen: Vec<String> = object.members().map(|(name, _)| name.to_string()).collect();
    let mut expected: Vec<String> = row(name)
        .members
        .iter()
        .filter(|member| member.1.contains(number))
        .map(|member| member.0.to_owned())
        .collect();
    seen.sort();
    expected.sort();
    assert_eq!(seen, expected, "{name} in {revision}: {}", written.as_str());
}

/// A value without its optional members has those that the revision requires.
#[track_caller]
fn check_least(name: &str, value: &impl Serialize) {
    for (number, revision) in REVISIONS {
        let row = row(name);
        if !row.revisions.contains(number) {
            continue;
        }
        let mut buffer = vec![0; 4096];
        let written = encode(value, Some(revision), &mut buffer);
        let object = written.object().expect("an object");
        for (member, having, requiring) in &row.members {
            let there = object.get(member).is_some();
            assert!(
                !there || having.contains(number),
                "{name}.{member} in {revision}"
            );
            assert!(
                there || !requiring.contains(number),
                "{name}.{member} in {revision}"
            );
        }
    }
}

struct Row {
    revisions: &'static str,
    members: Vec<(&'static str, &'static str, &'static str)>,
}

#[track_caller]
fn row(name: &str) -> Row {
    let mut words = TABLE
        .lines()
        .map(|line| line.split(' '))
        .find(|words| words.clone().next() == Some(name))
        .unwrap_or_else(|| panic!("{name} is not in the table"));
    words.next();
    let revisions = words.next().unwrap();
    let members = words
        .map(|word| {
            let (member, revisions) = word.rsplit_once(':').unwrap();
            let (having, requiring) = revisions.split_once('/').unwrap_or((revisions, ""));
            (member, having, requiring)
        })
        .collect();
    Row { revisions, members }
}

fn encode<'o>(value: &impl Serialize, revision: Option<Revision>, out: &'o mut [u8]) -> Raw<'o> {
    let mut writer = Writer::new(out);
    writer.value(value, revision).expect("it serializes");
    let len = writer.finish().expect("it fits");
    Raw::parse(&out[..len], 128).expect("it is JSON")
}

fn object(text: &str) -> Object<'_> {
    Raw::parse(text.as_bytes(), 128).unwrap().object().unwrap()
}

const EMPTY: Option<Meta<'static>> = Some(Map::EMPTY);
const NAMES: Option<List<'static, mcp_proto::json::Str<'static>>> = Some(List::EMPTY);

fn icons<'b>() -> Option<List<'b, Icon<'b>>> {
    Some(List::EMPTY)
}

fn text() -> Content<'static> {
    Content::text("t")
}

fn annotations() -> Annotations<'static> {
    Annotations {
        audience: Some(List::new(&[Role::User])),
        priority: Number::parse("0.5"),
        last_modified: Some("2026-01-01T00:00:00Z".into()),
    }
}

fn task() -> Task<'static> {
    Task {
        task_id: "t".into(),
        status: TaskStatus::Working,
        status_message: Some("m".into()),
        created_at: "c".into(),
        last_updated_at: "u".into(),
        ttl: None,
        poll_interval: Some(1),
        meta: EMPTY,
    }
}
