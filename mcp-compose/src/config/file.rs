//! Reading files of a bounded size.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use super::error::ConfigError;

/// Returns the content of a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, ConfigError> {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut text));
    read.map_err(|error| ConfigError::new(error.to_string()))?;
    check(&text).map(|()| text)
}

/// Returns the content of a file that another file names. A pipe or a device, which may never end or be written to, is refused.
pub(super) fn read_regular(path: &Path) -> Result<Vec<u8>, ConfigError> {
    let metadata = fs::metadata(path).map_err(|error| ConfigError::new(error.to_string()))?;
    if !metadata.is_file() {
        return Err(ConfigError::new("it is no regular file"));
    }
    read(path)
}

/// Refuses a text that is too large.
pub(super) fn check(text: &[u8]) -> Result<(), ConfigError> {
    let too_large = || ConfigError::new(format!("it has more than {MAX_BYTES} bytes"));
    (text.len() as u64 <= MAX_BYTES)
        .then_some(())
        .ok_or_else(too_large)
}

/// A thousand times a usual file.
const MAX_BYTES: u64 = 1 << 20;
