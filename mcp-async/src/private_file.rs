//! Files of their owner alone.

use std::fs::{File, OpenOptions};
use std::io;

/// Options for files of their owner alone. A link is not followed, and a pipe is not waited for.
#[cfg(unix)]
pub(crate) fn options() -> OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;

    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags(flags.bits().cast_signed());
    options
}

#[cfg(not(unix))]
pub(crate) fn options() -> OpenOptions {
    OpenOptions::new()
}

/// Refuses a file that another user may have written or can read.
#[cfg(unix)]
pub(crate) fn check_owner(file: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    let metadata = file.metadata()?;
    let refuse = |reason| Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    if !metadata.is_file() {
        return refuse("it is not a regular file");
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return refuse("the file belongs to another user");
    }
    match metadata.mode() & 0o077 {
        0 => Ok(()),
        _ => refuse("other users have access to the file; its mode must be 600"),
    }
}

#[cfg(not(unix))]
pub(crate) fn check_owner(_: &File) -> io::Result<()> {
    Ok(())
}

/// Opens the database in a file, or creates it, with a cache of so many bytes. It belongs to one process at a time.
#[cfg(feature = "disk")]
pub(crate) fn open_database(path: &std::path::Path, cache: usize) -> io::Result<redb::Database> {
    use redb::backends::FileBackend;

    let mut options = options();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(path)?;
    check_owner(&file)?;
    let backend = FileBackend::new(file).map_err(io::Error::other)?;
    let mut builder = redb::Database::builder();
    let database = builder.set_cache_size(cache).create_with_backend(backend);
    database.map_err(io::Error::other)
}
