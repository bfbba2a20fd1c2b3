//! Messages of a conversation with a model.

use core::slice;

use mcp_proto::model::{read_blocks, write_blocks};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::SamplingBlock;
use super::content::text_and_image;

/// One block, or since 2025-11-25 a list of them. To an older peer the first block of a list is
/// sent alone.
#[derive(Clone, Debug, PartialEq)]
pub enum SamplingContent {
    /// One block.
    One(SamplingBlock),
    /// A list of blocks.
    Many(Vec<SamplingBlock>),
}

impl SamplingContent {
    /// The blocks, be it one or a list.
    pub fn blocks(&self) -> &[SamplingBlock] {
        match self {
            Self::One(block) => slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }

    /// All blocks of text, joined by line breaks.
    pub fn text(&self) -> String {
        let blocks = self.blocks().iter();
        let texts: Vec<&str> = blocks.filter_map(SamplingBlock::as_text).collect();
        texts.join("\n")
    }
}

impl From<SamplingBlock> for SamplingContent {
    fn from(block: SamplingBlock) -> Self {
        Self::One(block)
    }
}

impl From<Vec<SamplingBlock>> for SamplingContent {
    fn from(blocks: Vec<SamplingBlock>) -> Self {
        Self::Many(blocks)
    }
}

impl From<String> for SamplingContent {
    fn from(text: String) -> Self {
        Self::One(SamplingBlock::text(text))
    }
}

impl From<&str> for SamplingContent {
    fn from(text: &str) -> Self {
        Self::One(SamplingBlock::text(text))
    }
}

impl Serialize for SamplingContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(block) => block.serialize(serializer),
            Self::Many(blocks) => write_blocks(blocks.len(), blocks.iter().map(Ok), serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_blocks(deserializer, Self::One, Self::Many)
    }
}

text_and_image!(SamplingBlock);
