//! Skills, whose files the SDK verifies.

use interop_rust::{decoded, of, value};
use rmcp::model::{GetSkillRequestParams, SkillResources, validate_skills};
use serde_json::json;

use crate::Outcome;
use crate::driver::{Driver, refused};

impl Driver {
    pub(crate) async fn skills(&self) -> Outcome {
        let skills = self.client.list_all_skills().await?;
        validate_skills(&skills)?;
        let mut names: Vec<_> = skills.iter().map(|skill| skill.name()).collect();
        names.sort_unstable();
        check!(names == ["letters", "poems"], "{names:?}");

        let uri = "skill://letters/SKILL.md";
        let answer = self
            .client
            .get_skill(GetSkillRequestParams::new(uri))
            .await?;
        let letters = answer.skill;
        check!(skills.contains(&letters), "{letters:?}");
        let more = &letters.frontmatter.extra;
        check!(
            more["license"] == "MIT" && more["metadata"] == json!({"version": "1.0"}),
            "{more:?}"
        );
        let SkillResources::Files(files) = &letters.resources else {
            return Err(format!("{letters:?}").into());
        };
        check!(files.len() == 4, "{files:?}");
        for file in files {
            let contents = self.read(&file.uri).await?["contents"][0].take();
            let bytes = match contents["text"].as_str() {
                Some(text) => text.as_bytes().to_vec(),
                None => decoded(&contents["blob"]),
            };
            file.verify(&bytes)?;
        }

        let unknown = GetSkillRequestParams::new("skill://none/SKILL.md");
        let answer = self.client.get_skill(unknown).await;
        refused(answer.map_err(Into::into), -32602)
    }

    pub(crate) async fn directories(&self) -> Outcome {
        let folder = of(json!({"uri": "skill://letters"}));
        let folder = value(&self.client.read_resource_directory(folder).await?);
        let children = folder["resources"].as_array().ok_or("no resources")?;
        let mut folders: Vec<_> = children
            .iter()
            .filter(|child| child["mimeType"] == "inode/directory")
            .filter_map(|child| child["uri"].as_str())
            .collect();
        folders.sort_unstable();
        check!(
            folders == ["skill://letters/assets", "skill://letters/references"],
            "{folder}"
        );
        check!(
            children
                .iter()
                .any(|child| child["uri"] == "skill://letters/SKILL.md"),
            "{folder}"
        );
        let unknown = of(json!({"uri": "skill://none"}));
        let answer = self.client.read_resource_directory(unknown).await;
        refused(answer.map_err(Into::into), -32602)
    }
}
