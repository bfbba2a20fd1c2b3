use std::env;
use std::ffi::OsString;

/// The variables of this program that a child gets without being asked for: the short list of
/// the official SDKs.
///
/// Whatever else a server needs, an API key say, must be named by the caller: the environment
/// of a host can contain secrets. A value that begins with `()` is a function that some shells
/// would define while they start, and is left out.
pub fn inherited() -> impl Iterator<Item = (&'static str, OsString)> {
    NAMES
        .iter()
        .filter_map(|name| Some((*name, env::var_os(name)?)))
        .filter(|(_, value)| !value.as_encoded_bytes().starts_with(b"()"))
}

#[cfg(not(windows))]
const NAMES: &[&str] = &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// `PATHEXT` and `PROGRAMFILES` are each in one of the two lists only.
#[cfg(windows)]
const NAMES: &[&str] = &[
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
];
