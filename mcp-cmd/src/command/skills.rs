//! `skills`: the skills of the server.

use crate::bytes::bytes;
use crate::exit::{Exit, Failure};
use crate::json::{Members, quoted};
use crate::nearest::unknown;
use crate::options::SkillsAction;
use crate::out;
use crate::plain::{line, plain};
use crate::session::Session;
use crate::style::{BOLD, CYAN, DIM, paint};
use mcp_tokio::ErrorChain;
use mcp_tokio::json::RawBuf;
use mcp_tokio::skills::{LoadError, SkillCheckError, SkillEntry, SkillResources, SkillsClient};

/// Lists skills, shows one, or checks all that is said of them.
pub(crate) async fn run(
    session: &Session<'_>,
    action: SkillsAction,
    skill: Option<&str>,
) -> Result<Exit, Failure> {
    match (action, skill) {
        (SkillsAction::Verify, None) => verify(session, all(session).await?).await,
        (SkillsAction::Verify, Some(skill)) => {
            verify(session, vec![find(session, skill).await?]).await
        }
        (SkillsAction::Show, Some(skill)) => {
            show(session, find(session, skill).await?).await?;
            Ok(Exit::Success)
        }
        (SkillsAction::Show, None) => {
            Err(Failure::usage("which skill? Its name or URI is missing"))
        }
        (SkillsAction::List, None) => {
            list(session, &all(session).await?)?;
            Ok(Exit::Success)
        }
        (SkillsAction::List, Some(_)) => Err(Failure::usage("`skills list` lists all of them")),
    }
}

async fn all(session: &Session<'_>) -> Result<Vec<SkillEntry>, Failure> {
    session.wait(SkillsClient::new(session.client).all()).await
}

/// The skill with this URI, or the only one that is listed with this name.
async fn find(session: &Session<'_>, skill: &str) -> Result<SkillEntry, Failure> {
    if skill.contains(':') {
        return session
            .wait(SkillsClient::new(session.client).get(skill))
            .await;
    }
    let is_named = |entry: &SkillEntry| entry.frontmatter.name() == Some(skill);
    let all = all(session).await?.into_iter();
    let (mut named, others): (Vec<_>, Vec<_>) = all.partition(is_named);
    match named.len() {
        0 => {
            let names = others.iter().filter_map(|entry| entry.frontmatter.name());
            Err(unknown("skill", skill, names))
        }
        1 => Ok(named.remove(0)),
        _ => {
            let uris: Vec<_> = named.iter().map(|entry| &*entry.uri).collect();
            let uris = uris.join(", ");
            Err(Failure::usage(format_args!(
                "several skills are called `{skill}`: {}",
                line(&uris)
            )))
        }
    }
}

fn list(session: &Session<'_>, entries: &[SkillEntry]) -> Result<(), Failure> {
    if session.common.json {
        return document("skills", encoded(entries)?);
    }
    let mut text = paint(BOLD, format_args!("Skills ({})\n", entries.len()));
    for entry in entries {
        let name = entry.frontmatter.name().unwrap_or_default();
        let facts = format!("{} {}", entry.uri, files(entry));
        text += &format!("  {} {}\n", paint(CYAN, line(name)), line(&facts));
        if let Some(description) = entry.frontmatter.description() {
            text += &format!("    {}\n", paint(DIM, line(description)));
        }
    }
    out::text(&text)
}

fn files(entry: &SkillEntry) -> String {
    match &entry.resources {
        SkillResources::Files(files) => {
            let size = files
                .iter()
                .fold(0, |sum: u64, file| sum.saturating_add(file.size));
            let noun = match files.len() {
                1 => "file",
                _ => "files",
            };
            format!("{} {noun}, {}", files.len(), bytes(size))
        }
        SkillResources::Dynamic => "files that change".into(),
        SkillResources::Unknown => "no list of files".into(),
    }
}

/// Writes the `SKILL.md` of a skill, once it is checked.
async fn show(session: &Session<'_>, entry: SkillEntry) -> Result<(), Failure> {
    let skill = session
        .wait(SkillsClient::new(session.client).load(entry))
        .await?;
    if !session.common.json {
        return out::text(&plain(skill.text()));
    }
    let mut members = Members::default();
    members.put("skill", encoded(skill.entry())?);
    members.put("text", quoted(skill.text()));
    out::document(&members.object().unwrap_or_default())
}

/// Reads every file of the skills, and compares it with the entry.
async fn verify(session: &Session<'_>, entries: Vec<SkillEntry>) -> Result<Exit, Failure> {
    let (mut exit, mut text, mut checked) = (Exit::Success, String::new(), Vec::new());
    for entry in entries {
        let mut members = Members::default();
        members.put("uri", quoted(&entry.uri));
        let (uri, facts) = (entry.uri.clone(), files(&entry));
        match session.interrupt.or(check(session, entry)).await? {
            Ok(()) => text += &format!("ok {} {}\n", line(&uri), line(&facts)),
            Err(LoadError::Check(error)) => {
                exit = Exit::Other;
                let reason = reason(&error);
                text += &format!("FAILED {}: {}\n", line(&uri), line(&reason));
                members.put("error", quoted(&reason));
            }
            Err(error) => return Err(error.into()),
        }
        checked.push(members);
    }
    match session.common.json {
        true => document("skills", encoded(&checked)?)?,
        false => out::text(&text)?,
    }
    Ok(exit)
}

async fn check(session: &Session<'_>, entry: SkillEntry) -> Result<(), LoadError> {
    let files: Vec<String> = match &entry.resources {
        SkillResources::Files(files) => files.iter().map(|file| file.uri.clone()).collect(),
        SkillResources::Dynamic | SkillResources::Unknown => Vec::new(),
    };
    let own = entry.uri.clone();
    let skill = SkillsClient::new(session.client).load(entry).await?;
    for file in files.iter().filter(|file| **file != own) {
        skill.read(file).await?;
    }
    Ok(())
}

fn reason(error: &SkillCheckError) -> String {
    ErrorChain(error).to_string()
}

fn encoded<T: serde::Serialize + ?Sized>(value: &T) -> Result<RawBuf, Failure> {
    RawBuf::encode(value).map_err(|error| Failure::new(Exit::Other, error))
}

fn document(member: &str, value: RawBuf) -> Result<(), Failure> {
    let mut members = Members::default();
    members.put(member, value);
    out::document(&members.object().unwrap_or_default())
}
