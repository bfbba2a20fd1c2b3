//! The values of variables.

use core::fmt;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The values that take the place of `${..}` in an entry. `Debug` shows none of them.
#[derive(Clone)]
pub struct Variables {
    environment: Arc<Environment>,
    workspace: Option<PathBuf>,
    inputs: BTreeMap<String, String>,
}

/// Returns the value of an environment variable.
type Environment = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Variables {
    /// The environment variables of this process. One that is not Unicode counts as not set.
    pub fn from_environment() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    /// Environment variables that the function returns by their names.
    pub fn new(environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self {
            environment: Arc::new(environment),
            workspace: None,
            inputs: BTreeMap::new(),
        }
    }

    /// Sets the folder of `${workspaceFolder}`, from which the paths of environment files begin, too.
    #[must_use]
    pub fn workspace_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// Sets the value of `${input:id}`.
    #[must_use]
    pub fn input(mut self, id: impl Into<String>, value: impl Into<String>) -> Self {
        self.inputs.insert(id.into(), value.into());
        self
    }

    pub(super) fn environment(&self, name: &str) -> Option<String> {
        (self.environment)(name)
    }

    pub(super) fn workspace(&self) -> Option<&Path> {
        self.workspace.as_deref()
    }

    pub(super) fn answer(&self, id: &str) -> Option<&str> {
        self.inputs.get(id).map(String::as_str)
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variables")
            .field("workspace", &self.workspace)
            .field("inputs", &self.inputs.keys())
            .finish_non_exhaustive()
    }
}
