//! Skills, whose files the client verifies.

use super::Driver;
use super::check::{Outcome, check, refused};
use mcp_async::client::CallError;
use mcp_proto::rpc::code::INVALID_PARAMS;
use mcp_skills::{LoadError, SkillResources, SkillsClient};

impl Driver {
    pub(super) async fn skills(&self) -> Outcome {
        let skills = SkillsClient::new(&self.client);
        let all = skills.all().await?;
        let mut names: Vec<_> = all.iter().map(|entry| entry.frontmatter.name()).collect();
        names.sort_unstable();
        check!(names == [Some("letters"), Some("poems")], names);

        let entry = skills.get("skill://letters/SKILL.md").await?;
        check!(all.contains(&entry), entry);
        let SkillResources::Files(files) = entry.resources.clone() else {
            return Err(format!("{entry:?}").into());
        };
        check!(files.len() == 4, files);
        let letters = skills.load(entry).await?;
        check!(
            letters.body().contains("references/forms.md"),
            letters.body()
        );
        for file in files {
            let read = letters.read(&file.uri).await?;
            check!(read.bytes.len() as u64 == file.size, read);
        }

        match skills.get("skill://none/SKILL.md").await {
            Err(LoadError::Call(CallError::Server(reply))) if reply.code == INVALID_PARAMS => {
                Ok(())
            }
            other => Err(format!("{other:?}").into()),
        }
    }

    pub(super) async fn directories(&self) -> Outcome {
        let skills = SkillsClient::new(&self.client);
        let mut folders = skills.read_directory("skill://letters").await?;
        folders.retain(|child| child.mime_type.as_deref() == Some("inode/directory"));
        let mut folders: Vec<_> = folders.into_iter().map(|folder| folder.uri).collect();
        folders.sort_unstable();
        let expected = ["skill://letters/assets", "skill://letters/references"];
        check!(folders == expected, folders);
        let unknown = skills.read_directory("skill://none").await;
        refused(unknown, &[INVALID_PARAMS])
    }
}
