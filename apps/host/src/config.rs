//! The configuration file, in the form that desktop programs share.

use std::collections::BTreeMap;
use std::fs;

use anyhow::Context as _;
use serde::Deserialize;

/// All servers, by the names that the user gave them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Config {
    pub(crate) mcp_servers: BTreeMap<String, Entry>,
}

/// How to reach one server.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Entry {
    /// A program to start.
    Stdio {
        command: String,
        #[serde(default)]
        args: Vec<String>,
        #[serde(default)]
        env: BTreeMap<String, String>,
    },
    /// A URL, and headers for each request.
    Http {
        url: String,
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
}

impl Config {
    pub(crate) fn read(path: &str) -> anyhow::Result<Self> {
        let text = fs::read(path).with_context(|| format!("cannot read {path}"))?;
        serde_json::from_slice(&text).with_context(|| format!("cannot use {path}"))
    }
}
