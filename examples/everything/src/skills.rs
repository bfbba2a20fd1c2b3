//! Skills.

use core::time::Duration;

use mcp_async::model::CacheScope;
use mcp_async::server::ServerBuilder;
use mcp_skills::{Skill, Skills};

use super::media;

pub(super) fn register(server: ServerBuilder) -> ServerBuilder {
    let letters = Skill::in_memory("letters")
        .file("SKILL.md", LETTERS)
        .file("references/forms.md", FORMS)
        .file("references/old/forms.md", OLD_FORMS)
        .file("assets/stamp.png", media::PNG);
    let poems = Skill::in_memory("poems").file("SKILL.md", POEMS);
    let skills = Skills::new().skill(letters).skill(poems).directory_read();
    server.extension(skills.cache(Duration::from_secs(300), CacheScope::Public))
}

const LETTERS: &str = "---
name: letters
description: Writes letters in the form that a country expects. Use it for letters on paper.
license: MIT
metadata:
  version: \"1.0\"
---
# Letters

Read references/forms.md for the order of the parts, and put assets/stamp.png at the top right.
";

const FORMS: &str = "# Forms

Place and date, address, salutation, text, close.
";

const OLD_FORMS: &str = "# Forms before 1990

Address, place and date, salutation, text, close.
";

const POEMS: &str = "---
name: poems
description: Writes short poems.
---
Write four lines that rhyme.
";
