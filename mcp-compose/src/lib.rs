//! Many servers of the Model Context Protocol as one.
//!
//! | Task | Start with |
//! |---|---|
//! | Use several servers, from code or from configuration files | [`Host`] |
//! | Name a server and how to reach it | [`ServerEntry`] |
//! | Serve the items of other servers, in every revision and over every transport | [`Proxy`] |
//! | Read the servers of a configuration file | [`Config`] |
//! | Merge the lists of several servers | [`Catalog`], [`Naming`] |
//!
//! The crate stands on the public items of [`mcp_async`]. Programs enable the feature `compose` of `mcp-tokio` or
//! `mcp-smol`, which re-export it as `compose`.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod alias;
mod catalog;
mod config;
mod digest;
mod entry;
mod host;
mod instructions;
mod naming;
mod proxy;
mod waiting;
mod watch;

pub use self::catalog::{
    Catalog, CatalogChanges, CatalogItem, CatalogLimits, CatalogView, Found, Freshness, ListError,
    ListErrorKind, Lists, MergedList,
};
pub use self::config::{
    Config, ConfigEntry, ConfigError, Input, InputKind, ServerProgram, ServerTarget, ServerUrl,
    Variables,
};
pub use self::digest::Digest;
pub use self::entry::ServerEntry;
pub use self::host::{
    CallInfo, Host, HostBuilder, HostError, HostOutcome, HostRecord, HostRequest, QuestionContext,
    ServerPolicy, ServerState, ServerStatus, StateChanges, ToolApproval, ToolConsent,
};
pub use self::naming::{Collision, Naming};
pub use self::proxy::{Proxy, ProxyBuilder, ProxyCaller, ProxyLimits, UpstreamState};

/// Compiles the programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
