//! Files and folders of tests.

use std::path::PathBuf;
use std::{env, fs, process};

/// A file that is removed at the end of its test.
pub(crate) struct TestFile(pub(crate) PathBuf);

impl TestFile {
    pub(crate) fn new(name: &str) -> Self {
        let path = path(name);
        let _ = fs::remove_file(&path);
        Self(path)
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A folder that is removed at the end of its test, which creates it.
pub(crate) struct TestFolder(pub(crate) PathBuf);

impl TestFolder {
    pub(crate) fn new(name: &str) -> Self {
        let path = path(name);
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn path(name: &str) -> PathBuf {
    env::temp_dir().join(format!("mcp-async-{}-{name}", process::id()))
}
