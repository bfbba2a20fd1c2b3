//! The server that the command line names.

use std::collections::BTreeMap;
use std::path::Path;

use super::exit::Failure;
use super::options::{Common, Server};
use super::target::{is_url, misread};
use mcp_tokio::compose::{Config, ConfigError, ServerProgram, ServerTarget, ServerUrl, Variables};

/// Returns the server that the command line names, or the file that it names.
///
/// # Errors
///
/// It says nothing, too much, or the file does not tell.
pub(crate) fn find_target(common: &Common, server: &Server) -> Result<ServerTarget, Failure> {
    if common.config_file().is_some() {
        let hint = "which server of the file? `--config FILE NAME` names one";
        return Err(Failure::usage(hint));
    }
    let mut words = server.server.iter();
    let first = words.next();
    // A program may have any name, a URL is text.
    let text = first.and_then(|word| word.to_str()).unwrap_or_default();
    let mut target = match (first, common.config()) {
        (Some(_), None) if is_url(text) => match words.next() {
            None => ServerTarget::Url(ServerUrl {
                url: text.to_owned(),
                headers: BTreeMap::new(),
            }),
            Some(_) => return Err(Failure::usage("nothing can follow the URL of a server")),
        },
        (Some(command), None) => match misread(text) {
            None => ServerTarget::Program(ServerProgram {
                program: command.clone(),
                arguments: words.cloned().collect(),
                ..ServerProgram::default()
            }),
            Some(why) => return Err(Failure::usage(why)),
        },
        (None, Some((file, name))) => load(file, &name)?,
        (Some(_), Some(_)) => {
            return Err(Failure::usage("either a server after `--` or --config"));
        }
        (None, None) => {
            let hint = "which server? `-- SERVER ARGUMENTS` starts one, `-- URL` connects to \
                        one, `--config FILE NAME` names one";
            return Err(Failure::usage(hint));
        }
    };
    match &mut target {
        ServerTarget::Url(remote) => remote.headers.extend(common.header.iter().cloned()),
        ServerTarget::Program(_) if !common.header.is_empty() => {
            return Err(Failure::usage("--header is for a server at a URL"));
        }
        ServerTarget::Program(_) => {}
    }
    Ok(target)
}

/// Reads how to reach the server of this name from a file of a desktop host.
fn load(file: &Path, name: &str) -> Result<ServerTarget, Failure> {
    let load = || -> Result<ServerTarget, ConfigError> {
        let config = Config::read(file)?;
        config.entry(name)?.resolve(&Variables::from_environment())
    };
    load().map_err(|error| Failure::usage(error.to_string()))
}
