//! What is served of a folder, and what is not, by both ways to look at it.

use core::sync::atomic::{AtomicBool, Ordering};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use super::file_path::FilePath;
use super::{FoundFile, MAX_DEPTH, beneath, is_missing, portable};

type List = fn(&Path, usize) -> io::Result<Vec<FoundFile>>;
type Read = fn(&Path, &FilePath, usize) -> io::Result<Vec<u8>>;

const WAYS: [(List, Read); 2] = [
    (beneath::list, beneath::read),
    (portable::list, portable::read),
];

/// A folder of a test, with another one beside it that is not served.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("mcp-folder-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("served/inner")).unwrap();
        fs::create_dir_all(folder.join("outside")).unwrap();
        fs::write(folder.join("outside/secret"), "outside").unwrap();
        Self(folder)
    }

    fn served(&self) -> PathBuf {
        self.0.join("served")
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.served().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn path(text: &str) -> FilePath {
    FilePath::from_uri_path(text).unwrap()
}

fn listed(list: List, folder: &Path, max_entries: usize) -> Vec<String> {
    let found = list(folder, max_entries).unwrap();
    let mut found: Vec<_> = found
        .iter()
        .map(|file| format!("{} {}", file.path, file.bytes))
        .collect();
    found.sort();
    found
}

#[track_caller]
fn check_missing(read: Read, folder: &Path, file: &str) {
    let error = read(folder, &path(file), 100).unwrap_err();
    assert!(is_missing(&error), "{file}: {error:?}");
}

#[test]
fn regular_files_are_listed_and_read() {
    let folder = Temporary::new("regular");
    folder.write("a.md", "one");
    folder.write("inner/deep/b b.txt", "other");
    folder.write("empty", "");
    // The folder itself may be reached by a link.
    symlink(folder.served(), folder.0.join("link")).unwrap();
    for (list, read) in WAYS {
        for root in [folder.served(), folder.0.join("link")] {
            let expected = ["a.md 3", "empty 0", "inner/deep/b b.txt 5"];
            assert_eq!(listed(list, &root, 100), expected);
            assert_eq!(read(&root, &path("a.md"), 100).unwrap(), b"one");
            let deep = path("inner/deep/b%20b.txt");
            assert_eq!(read(&root, &deep, 100).unwrap(), b"other");
            assert_eq!(read(&root, &deep, 2).unwrap(), b"ot");
            assert_eq!(read(&root, &path("empty"), 100).unwrap(), b"");
            for missing in ["gone", "inner", "inner/deep", "a.md/x", "inner/gone/x"] {
                check_missing(read, &root, missing);
            }
            check_missing(read, &root, &"n".repeat(300));
        }
    }
}

#[test]
fn a_folder_that_is_none_is_an_error() {
    let folder = Temporary::new("none");
    folder.write("file", "");
    for (list, read) in WAYS {
        for root in ["gone", "served/file"].map(|name| folder.0.join(name)) {
            assert!(list(&root, 100).is_err());
            check_missing(read, &root, "file");
        }
    }
}

#[test]
fn links_are_not_followed_wherever_they_lead() {
    let folder = Temporary::new("links");
    folder.write("inner/real", "real");
    let served = folder.served();
    let outside = folder.0.join("outside");
    symlink(outside.join("secret"), served.join("file")).unwrap();
    symlink("../outside/secret", served.join("relative")).unwrap();
    symlink(&outside, served.join("folder")).unwrap();
    symlink("inner", served.join("inside")).unwrap();
    symlink("real", served.join("inner/same")).unwrap();
    symlink("loop", served.join("loop")).unwrap();
    symlink("..", served.join("inner/up")).unwrap();
    symlink("/dev/zero", served.join("zero")).unwrap();
    symlink("nowhere", served.join("dangling")).unwrap();
    for (list, read) in WAYS {
        assert_eq!(listed(list, &served, 100), ["inner/real 4"]);
        for link in [
            "file",
            "relative",
            "folder/secret",
            "inside/real",
            "inner/same",
            "loop",
            "loop/x",
            "inner/up/inner/real",
            "zero",
            "dangling",
        ] {
            check_missing(read, &served, link);
        }
    }
}

#[test]
fn names_with_a_dot_at_their_beginning_are_not_served() {
    let folder = Temporary::new("dots");
    folder.write(".env", "secret");
    folder.write(".git/config", "secret");
    folder.write("inner/.hidden", "secret");
    folder.write("inner/a.b", "");
    for (list, _) in WAYS {
        assert_eq!(listed(list, &folder.served(), 100), ["inner/a.b 0"]);
    }
}

#[test]
fn only_regular_files_are_opened() {
    let folder = Temporary::new("kinds");
    let _socket = UnixListener::bind(folder.served().join("socket")).unwrap();
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, FileType, Mode, mknodat};

        // A reader would wait for a writer.
        let pipe = folder.served().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }
    for (list, read) in WAYS {
        assert_eq!(listed(list, &folder.served(), 100), [""; 0]);
        for name in ["socket", "pipe"] {
            check_missing(read, &folder.served(), name);
        }
        check_missing(read, Path::new("/dev"), "zero");
        check_missing(read, Path::new("/dev"), "tty");
    }
}

#[test]
fn the_number_of_entries_and_the_depth_are_bounded() {
    let folder = Temporary::new("bounds");
    for number in 0..50 {
        folder.write(&format!("inner/{number}"), "");
        folder.write(&format!(".hidden{number}"), "");
    }
    let deepest = "d/".repeat(MAX_DEPTH);
    folder.write(&format!("{deepest}x"), "deep");
    folder.write(&format!("{deepest}d/y"), "too deep");
    for (list, read) in WAYS {
        let root = folder.served();
        let all = listed(list, &root, 1_000);
        assert_eq!(all.len(), 51);
        assert!(all.contains(&format!("{deepest}x 4")) && !all.join("").contains('y'));
        assert_eq!(
            read(&root, &path(&format!("{deepest}x")), 9).unwrap(),
            b"deep"
        );
        for bound in [0, 1, 30, 99] {
            assert!(listed(list, &root, bound).len() <= bound);
        }
        assert!(listed(list, &root, 100).len() < 51);
    }
}

/// The folder is replaced by a link, and back, while it is read: nothing outside is ever read.
#[test]
fn no_link_is_followed_that_takes_the_place_of_a_folder() {
    let folder = Temporary::new("race");
    folder.write("inner/secret", "inside");
    let (inner, kept) = (folder.served().join("inner"), folder.0.join("kept"));
    let over = AtomicBool::new(false);
    let replace = || {
        fs::rename(&inner, &kept)?;
        symlink("../outside", &inner)?;
        fs::remove_file(&inner)?;
        fs::rename(&kept, &inner)
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let secret = path("inner/secret");
            while !over.load(Ordering::Relaxed) {
                match beneath::read(&folder.served(), &secret, 100) {
                    Ok(bytes) => assert_eq!(bytes, b"inside"),
                    Err(error) => assert!(is_missing(&error), "{error:?}"),
                }
                for file in beneath::list(&folder.served(), 100).unwrap() {
                    assert_eq!((file.path, file.bytes), (path("inner/secret"), 6));
                }
            }
        });
        let replaced = (0..3_000).try_for_each(|_| replace());
        over.store(true, Ordering::Relaxed);
        replaced.unwrap();
    });
}
