//! Logging in at a server that asks for it.

use std::ffi::OsString;
use std::path::PathBuf;

use super::options::{Common, Login};
use super::response::LastResponse;
use super::screen::Screen;
use super::shared_store::SharedStore;
use mcp_tokio::auth::{Authorization, FileCredentialStore, SystemBrowser, Terminal};
use mcp_tokio::compose::ServerUrl;

/// Returns the authorization of this program. If it does not log in, because the user forbids it or gives a header for
/// it, no token is stored or sent, but errors tell where the server wants a user to log in.
pub(crate) fn authorization(
    common: &Common,
    remote: &ServerUrl,
    screen: &Screen,
    response: &LastResponse,
) -> Authorization {
    let mut authorization = Authorization::new();
    if common.ignore_issuer_slash {
        authorization = authorization.configure(|config| config.ignore_issuer_slash = true);
    }
    if common.login == Login::None || remote.has_authorization() {
        return authorization.non_interactive();
    }
    if let Some(path) = store_path(|name| std::env::var_os(name)) {
        authorization = authorization.store(SharedStore {
            file: FileCredentialStore::new(path),
            screen: screen.clone(),
        });
    }
    match common.login {
        // Without a terminal no user logs in; stored tokens are used.
        _ if !screen.can_ask() => authorization.non_interactive(),
        Login::Paste => authorization.user_agent(Terminal::new()),
        _ => {
            let (screen, response) = (screen.clone(), response.clone());
            let announce = move |url: &str| {
                if let Some(why) = response.of_token() {
                    screen.say(format!("the server refused the token: {why}"));
                }
                // The page must be reached.
                screen.say_whole(format!("Log in at {url}"));
            };
            authorization.user_agent(SystemBrowser::new().announce(announce))
        }
    }
}

/// The file with tokens and registrations, in the folder where programs keep their state.
fn store_path(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name| {
        variable(name)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
    };
    let state = folder("XDG_STATE_HOME")
        .or_else(|| folder("LOCALAPPDATA"))
        .or_else(|| Some(folder("HOME")?.join(".local").join("state")))?;
    Some(state.join("mcp-cmd").join("credentials"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_is_in_the_folder_for_state() {
        let check = |set: &[(&str, &str)], expected: Option<&str>| {
            let variable = |name: &str| {
                let mut set = set.iter();
                set.find(|(of, _)| *of == name)
                    .map(|(_, value)| value.into())
            };
            assert_eq!(store_path(variable), expected.map(PathBuf::from));
        };
        check(&[], None);
        check(
            &[("HOME", "/home/ada"), ("XDG_STATE_HOME", "")],
            Some("/home/ada/.local/state/mcp-cmd/credentials"),
        );
        check(
            &[("HOME", "/home/ada"), ("XDG_STATE_HOME", "/state")],
            Some("/state/mcp-cmd/credentials"),
        );
    }
}
