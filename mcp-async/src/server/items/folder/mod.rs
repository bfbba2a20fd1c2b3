//! The files of a folder as resources.
//!
//! ```text
//! file_path   the path of a file in its folder, from a URI and for one
//! mime_types  types by extensions
//! beneath     lists and reads files, and follows no link on the way
//! portable    the same where the system opens no files relative to a folder
//! ```

#[cfg(unix)]
mod beneath;
mod file_path;
mod mime_types;
#[cfg(any(not(unix), test))]
mod portable;
#[cfg(all(test, unix))]
mod tests;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use self::file_path::FilePath;
use self::mime_types::{is_text, mime_type};
use super::item::Item;
use super::template::Template;
use crate::model::{Resource, ResourceContents};
use crate::server::call::handler_error::HandlerError;
use crate::uri_template::percent;

#[cfg(unix)]
use self::beneath as system;
#[cfg(not(unix))]
use self::portable as system;

/// The files of a folder and of the folders in it, as resources.
///
/// They are listed under a URI that the server chooses: `docs://guide` and the file `setup/linux.md` make
/// `docs://guide/setup/linux.md`. The folder is looked at for each list and each read, on the runtime's pool for blocking work, so it
/// may change at any time. A file that has gone is not found. The program reports changes by
/// [`Registry::list_changed`](crate::server::Registry::list_changed) and
/// [`Registry::resource_updated`](crate::server::Registry::resource_updated).
///
/// A file is text if its [type](Self::mime_type) is one of text or not known, and its bytes are UTF-8; otherwise its contents are
/// base64.
///
/// # What is not served
/// Files and folders whose names begin with a dot or are not UTF-8, links, devices, pipes and sockets, whatever is in the folder of another
/// link, and folders that nest deeper than 32. They are not listed and not found. No URI leads out of the folder: `.` and `..` in a
/// URI, encoded or not, name nothing. On Unix each step is opened relative to the one before and follows no link, so
/// this holds while others change the folder. Elsewhere the path is resolved and checked before the file is opened: there a process that
/// replaces folders by links in between can make another file be read.
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::server::Folder;
///
/// let guide = Folder::new("docs://guide", "/srv/guide").mime_type("adoc", "text/asciidoc");
/// let server = Server::builder("docs", "1.0").with(guide);
/// # let _ = server;
/// ```
#[derive(Clone, Debug)]
#[must_use = "it must be registered to be served"]
pub struct Folder {
    /// Without a slash at its end.
    uri: String,
    path: PathBuf,
    max_entries: usize,
    max_file_bytes: usize,
    mime_types: Vec<(String, String)>,
}

/// A file of a folder.
#[derive(Debug, PartialEq, Eq)]
struct FoundFile {
    path: FilePath,
    bytes: u64,
}

impl Folder {
    /// The files of the folder at this path, under this URI. A relative path starts in the working directory of each moment.
    pub fn new(uri: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        let uri = uri.into();
        let mut encoded = String::new();
        percent::encode(&mut encoded, uri.strip_suffix('/').unwrap_or(&uri), true);
        Self {
            uri: encoded,
            path: path.into(),
            max_entries: 10_000,
            max_file_bytes: 4 << 20,
            mime_types: Vec::new(),
        }
    }

    /// Sets how many entries of the folder and of the folders in it are looked at for a list, those that are not served included; 10,000
    /// otherwise. Files beyond are not listed, and can be read.
    pub const fn max_entries(mut self, entries: usize) -> Self {
        self.max_entries = entries;
        self
    }

    /// Sets the maximum length of a file in bytes; 4 MiB otherwise. A longer one is listed with its size, and reading it is error
    /// -32603, which names the limit.
    pub const fn max_file_bytes(mut self, bytes: usize) -> Self {
        self.max_file_bytes = bytes;
        self
    }

    /// Sets the type of files with this extension, which is written without a dot; upper and lower case are equal. About fifty
    /// extensions have a type otherwise.
    pub fn mime_type(mut self, extension: impl Into<String>, mime_type: impl Into<String>) -> Self {
        self.mime_types.push((extension.into(), mime_type.into()));
        self
    }

    /// Returns the template that serves the folder, for further settings: a title, the callers that see it, the time for which
    /// contents may be cached.
    pub fn into_template<S: Send + Sync + 'static>(self) -> Template<S> {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        let name = name.to_string_lossy().into_owned();
        let template = Template::new(format!("{}/{{+path}}", self.uri), name);
        let listed = Arc::new(self);
        let read = Arc::clone(&listed);
        template
            .list(move |cx| {
                let folder = Arc::clone(&listed);
                cx.blocking(move |_| folder.list())
            })
            .raw(move |found, cx| {
                let folder = Arc::clone(&read);
                cx.blocking(move |_| folder.read(found.uri))
            })
    }

    fn list(&self) -> Result<Vec<Resource>, HandlerError> {
        let found = system::list(&self.path, self.max_entries)?;
        let listed = found.into_iter().map(|file| Resource {
            mime_type: self.type_of(&file.path).map(Into::into),
            size: Some(file.bytes),
            ..Resource::new(
                format!("{}/{}", self.uri, file.path.to_uri_path()),
                file.path.to_string(),
            )
        });
        Ok(listed.collect())
    }

    fn read(&self, uri: String) -> Result<ResourceContents, HandlerError> {
        let path = uri
            .strip_prefix(&*self.uri)
            .and_then(|rest| FilePath::from_uri_path(rest.strip_prefix('/')?));
        let path = path.ok_or_else(HandlerError::not_found)?;
        let limit = self.max_file_bytes;
        let bytes = system::read(&self.path, &path, limit.saturating_add(1)).map_err(missing)?;
        if bytes.len() > limit {
            return Err(HandlerError::visible(format!(
                "limit reached: {limit} bytes of a file"
            )));
        }
        let mime_type = self.type_of(&path);
        let text = match mime_type.is_none_or(is_text) {
            true => String::from_utf8(bytes).map_err(|error| error.into_bytes()),
            false => Err(bytes),
        };
        let (contents, default) = match text {
            Ok(text) => (ResourceContents::text(uri, text), None),
            Err(bytes) => (ResourceContents::blob(uri, &bytes), Some(BYTES)),
        };
        Ok(match mime_type.or(default) {
            Some(mime_type) => contents.with_mime_type(mime_type),
            None => contents,
        })
    }

    fn type_of(&self, path: &FilePath) -> Option<&str> {
        let extension = path.extension()?;
        let mut own = self.mime_types.iter().rev();
        let own = own.find(|(known, _)| known.eq_ignore_ascii_case(extension));
        own.map_or_else(|| mime_type(extension), |(_, mime_type)| Some(mime_type))
    }
}

impl<S: Send + Sync + 'static> From<Folder> for Item<S> {
    fn from(folder: Folder) -> Self {
        folder.into_template().into()
    }
}

/// The error of a read: files that are not served and files that do not exist are told apart by nothing.
fn missing(error: io::Error) -> HandlerError {
    match is_missing(&error) {
        true => HandlerError::not_found(),
        false => error.into(),
    }
}

/// Returns true if there is no such file, or none that is served.
fn is_missing(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;

    matches!(
        error.kind(),
        Kind::NotFound
            | Kind::NotADirectory
            | Kind::PermissionDenied
            | Kind::InvalidFilename
            | Kind::InvalidInput
    ) || is_link(error)
}

/// Returns true if a link was not followed.
#[cfg(unix)]
fn is_link(error: &io::Error) -> bool {
    // FreeBSD and NetBSD have codes of their own for it.
    let errno = rustix::io::Errno::from_io_error(error);
    errno.is_some_and(|errno| matches!(errno, rustix::io::Errno::LOOP | rustix::io::Errno::MLINK))
}

#[cfg(not(unix))]
fn is_link(_: &io::Error) -> bool {
    false
}

/// The type of bytes of which nothing else is known.
const BYTES: &str = "application/octet-stream";
/// The deepest folder in a folder.
const MAX_DEPTH: usize = 32;
