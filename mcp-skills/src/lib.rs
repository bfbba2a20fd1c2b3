//! Skills of the Model Context Protocol: folders with instructions for a model, which a server offers as resources.
//!
//! A skill is a folder with a file `SKILL.md`, which begins with YAML frontmatter (`name`,
//! `description` and any other field). The extension [`EXTENSION`] lists skills with the digest and
//! the size of each file; the files are read by `resources/read`. It is served and used in 2026-07-28
//! and in 2025-11-25.
//!
//! The crate extends [`mcp_async`]. Programs enable the feature `skills` of `mcp-tokio` or `mcp-smol`, which re-export it
//! as `skills`.
//!
//! | Task | Start with |
//! |---|---|
//! | Serve skills | `Skills`, `Skill`, `ServerBuilder::extension` |
//! | List, load and read skills of a server | `SkillsClient` |
//! | Check by hand what another client has read | [`verify`], [`parse_frontmatter`], [`SkillEntry::check`] |
//!
//! # Features
//!
//! | Feature | Default | Adds |
//! |---|---|---|
//! | `server` | yes | skills that a server offers: `Skills` |
//! | `client` | yes | skills of a server, loaded and checked: `SkillsClient` |
//!
//! Without features the checks and the frontmatter remain.
#![cfg_attr(all(feature = "server", feature = "client"), doc = "")]
#![cfg_attr(all(feature = "server", feature = "client"), doc = include_str!("guide.md"))]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
mod approval;
#[cfg(feature = "server")]
mod catalog;
mod check;
#[cfg(feature = "client")]
mod client;
mod entry;
#[cfg(feature = "server")]
mod error;
#[cfg(feature = "server")]
mod folder;
mod frontmatter;
#[cfg(feature = "client")]
mod loaded;
mod name;
#[cfg(feature = "server")]
mod offer;
#[cfg(feature = "server")]
mod path;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
mod skill;
mod uri;
#[cfg(feature = "server")]
mod visibility;
mod yaml;

#[cfg(feature = "client")]
pub use self::approval::Approval;
pub use self::check::{SkillCheckError, verify};
#[cfg(feature = "client")]
pub use self::client::SkillsClient;
pub use self::entry::{SkillEntry, SkillResource, SkillResources};
#[cfg(feature = "server")]
pub use self::error::SkillError;
pub use self::frontmatter::{Frontmatter, FrontmatterError, parse_frontmatter};
#[cfg(feature = "client")]
pub use self::loaded::{LoadError, LoadedSkill, SkillFile};
pub use self::name::{is_skill_name, skill_name_from_uri};
#[cfg(feature = "server")]
pub use self::offer::Skills;
#[cfg(feature = "server")]
pub use self::skill::{Skill, SkillBuilder};

/// The name of the extension.
pub const EXTENSION: &str = "io.modelcontextprotocol/skills";

/// The file at the root of each skill.
pub const SKILL_MD: &str = "SKILL.md";

/// The number of files of a skill that servers should not exceed and clients must accept.
pub const MAX_FILES: usize = 512;

/// The bytes of all files of a skill that servers should not exceed and clients must accept.
pub const MAX_BYTES: u64 = 16 << 20;

/// Compiles the programs of the README.
#[cfg(all(doctest, feature = "server", feature = "client"))]
#[doc = include_str!("../README.md")]
struct Readme;
