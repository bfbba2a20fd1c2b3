//! The settings of a server.

use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::RawBuf;
use mcp_proto::server::ListKind;
use mcp_proto::{Limits, PingPolicy, RevisionSet};

use super::connection::GRACE;
use super::layers::Trace;
use super::lister::Lister;
use super::method::Method;
use super::rate::RateLimits;
use super::resource::CacheHint;
use super::rounds::StateKeys;
use super::service::BoxService;
use crate::model::Implementation;

/// The settings of the builder, which do not change afterwards.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) info: Implementation,
    pub(super) instructions: Option<String>,
    pub(super) revisions: RevisionSet,
    pub(super) limits: Limits,
    pub(super) ping: Option<PingPolicy>,
    pub(super) logging: bool,
    pub(super) page_size: usize,
    pub(super) hint: CacheHint,
    pub(super) extensions: Vec<(String, RawBuf)>,
    pub(super) experimental: Vec<(String, RawBuf)>,
    pub(super) methods: Vec<Arc<Method>>,
    pub(super) listers: Vec<Arc<Lister>>,
    pub(super) layers: Vec<Wrap>,
    pub(super) trace: Trace,
    pub(super) rates: RateLimits,
    pub(super) progress_interval: Duration,
    /// How long handlers may continue after the end of a pipe.
    pub(super) shutdown_timeout: Duration,
    pub(super) keys: Option<StateKeys>,
    pub(super) list_changed: Vec<ListKind>,
    /// Whatever is registered can change, and resources can be subscribed to.
    pub(super) change_notifications: bool,
    /// Its sessions over HTTP are held to the transports draft.
    pub(super) draft: bool,
}

type Wrap = Arc<dyn Fn(BoxService) -> BoxService + Send + Sync>;

impl Settings {
    pub(super) fn new(name: String, version: String) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: None,
            revisions: RevisionSet::all(),
            limits: Limits::default(),
            ping: None,
            logging: false,
            page_size: PAGE,
            hint: CacheHint::default(),
            extensions: Vec::new(),
            experimental: Vec::new(),
            methods: Vec::new(),
            listers: Vec::new(),
            layers: Vec::new(),
            trace: Trace::new(),
            keys: None,
            rates: RateLimits::default(),
            progress_interval: PROGRESS,
            shutdown_timeout: GRACE,
            list_changed: Vec::new(),
            change_notifications: false,
            draft: false,
        }
    }
}

/// The items on a page, unless it is said.
const PAGE: usize = 1000;
/// Ten times a second is as much as a person sees.
const PROGRESS: Duration = Duration::from_millis(100);
