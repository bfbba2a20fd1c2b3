//! Images, audio and blobs, as files.

use core::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::exit::{Cause, Exit, Failure};
use super::screen::Screen;

/// The directory for the files.
#[derive(Debug)]
pub(crate) struct Save {
    directory: PathBuf,
    screen: Option<Screen>,
    /// The first error.
    error: RefCell<Option<io::Error>>,
}

impl Save {
    pub(crate) const fn to(directory: PathBuf) -> Self {
        Self {
            directory,
            screen: None,
            error: RefCell::new(None),
        }
    }

    /// Makes the directory, and checks that files can be made in it.
    ///
    /// # Errors
    ///
    /// The directory cannot be used.
    pub(crate) fn check(directory: &Path) -> Result<(), Failure> {
        let probe = directory.join(format!(".mcp-cmd-{}", std::process::id()));
        let made = fs::create_dir_all(directory).and_then(|()| File::create_new(&probe));
        let made = made.and_then(|_| fs::remove_file(&probe));
        made.map_err(|error| Failure::usage(format!("--save: {}: {error}", directory.display())))
    }

    /// Returns the error of the files, if one could not be saved, once the result is written.
    ///
    /// # Errors
    ///
    /// A file cannot be saved.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.error.into_inner() {
            None => Ok(()),
            Some(error) => Err(Failure {
                cause: Cause::Save,
                ..Failure::new(Exit::Other, format!("--save: {error}"))
            }),
        }
    }

    /// Names each file on standard error.
    pub(crate) fn announced_on(mut self, screen: &Screen) -> Self {
        self.screen = Some(screen.clone());
        self
    }

    /// Writes a new file, whose name is made of what the server says about the bytes and never
    /// leads out of the directory. No file is replaced. An error is for [`finish`](Self::finish).
    pub(crate) fn write(&self, hint: &str, mime_type: &str, bytes: &[u8]) -> Option<PathBuf> {
        match self.create(hint, mime_type, bytes) {
            Ok(path) => Some(path),
            Err(error) => {
                self.error.borrow_mut().get_or_insert(error);
                None
            }
        }
    }

    fn create(&self, hint: &str, mime_type: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        fs::create_dir_all(&self.directory)?;
        let (stem, extension) = name(hint, mime_type);
        for number in 1..=MOST {
            let name = match number {
                1 => format!("{stem}.{extension}"),
                _ => format!("{stem}-{number}.{extension}"),
            };
            let path = self.directory.join(name);
            match File::create_new(&path) {
                Ok(mut file) => {
                    file.write_all(bytes)?;
                    if let Some(screen) = &self.screen {
                        screen.say(format!("saved {}", path.display()));
                    }
                    return Ok(path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

/// A name from the end of a URI, or whatever else the hint is, and an extension.
fn name(hint: &str, mime_type: &str) -> (String, String) {
    let end = hint.split(['?', '#']).next().unwrap_or_default();
    let end = end
        .trim_end_matches('/')
        .rsplit(['/', '\\', ':'])
        .next()
        .unwrap_or_default();
    let allowed = |c: char| {
        if c.is_ascii_alphanumeric() || "._-".contains(c) {
            c
        } else {
            '_'
        }
    };
    let clean: String = end.chars().map(allowed).take(LONGEST).collect();
    let clean = clean.trim_matches(['.', '-', '_']);
    let (stem, own) = match clean.rsplit_once('.') {
        Some((stem, own)) if !stem.is_empty() && own.len() <= 5 => (stem, Some(own)),
        _ => (clean, None),
    };
    let stem = if stem.is_empty() { "content" } else { stem };
    let extension = own.unwrap_or_else(|| extension(mime_type));
    (stem.to_owned(), extension.to_owned())
}

fn extension(mime_type: &str) -> &'static str {
    let essence = mime_type.split(';').next().unwrap_or_default().trim();
    let known = KNOWN
        .iter()
        .find(|(name, _)| essence.eq_ignore_ascii_case(name));
    known.map_or("bin", |(_, extension)| extension)
}

const KNOWN: &[(&str, &str)] = &[
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/svg+xml", "svg"),
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("audio/mpeg", "mp3"),
    ("audio/ogg", "ogg"),
    ("audio/flac", "flac"),
    ("application/pdf", "pdf"),
    ("application/json", "json"),
    ("application/zip", "zip"),
    ("text/plain", "txt"),
    ("text/html", "html"),
];

/// Far below what file systems allow.
const LONGEST: usize = 80;

/// The number of files of one name that are kept apart.
const MOST: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let check = |hint: &str, mime_type: &str, expected: &str| {
            let (stem, extension) = name(hint, mime_type);
            assert_eq!(format!("{stem}.{extension}"), expected, "{hint}");
        };
        check("image", "image/png", "image.png");
        check("test://static-binary", "image/png", "static-binary.png");
        check("file:///a/photo.jpeg?size=2#x", "image/jpeg", "photo.jpeg");
        check("x", "TEXT/PLAIN; charset=utf-8", "x.txt");
        check("", "application/unknown", "content.bin");
        check("file:///..", "", "content.bin");
        check("test://../../etc/passwd", "", "passwd.bin");
        check("a\\..\\b", "", "b.bin");
        check("héllo wörld", "", "h_llo_w_rld.bin");
        check(".bashrc", "", "bashrc.bin");
        check(
            &"x".repeat(500),
            "",
            &format!("{}.bin", "x".repeat(LONGEST)),
        );
    }

    #[test]
    fn no_file_is_replaced() {
        let directory = std::env::temp_dir().join(format!("mcp-save-{}", std::process::id()));
        let save = Save::to(directory.clone());
        let first = save.write("a.png", "", b"one").unwrap();
        let second = save.write("a.png", "", b"two").unwrap();
        assert_ne!(first, second);
        assert_eq!(fs::read(first).unwrap(), b"one");
        assert_eq!(fs::read(second).unwrap(), b"two");
        fs::remove_dir_all(directory).unwrap();
    }
}
