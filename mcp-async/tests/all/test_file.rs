//! Files of tests.

use std::path::PathBuf;
use std::{env, fs, process};

/// A file that is removed at the end of its test.
pub(crate) struct TestFile(pub(crate) PathBuf);

impl TestFile {
    pub(crate) fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("mcp-async-{}-{name}", process::id()));
        let _ = fs::remove_file(&path);
        Self(path)
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
