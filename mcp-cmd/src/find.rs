//! The server that the command line names.

use std::collections::BTreeMap;

use super::config;
use super::exit::Failure;
use super::options::{Common, Server};
use super::target::{Remote, Start, Target, is_url, misread};

/// Returns the server that the command line names, or the file that it names.
///
/// # Errors
///
/// It says nothing, too much, or the file does not tell.
pub(crate) fn find_target(common: &Common, server: &Server) -> Result<Target, Failure> {
    let mut words = server.server.iter();
    let first = words.next();
    // A program may have any name, a URL is text.
    let text = first.and_then(|word| word.to_str()).unwrap_or_default();
    let mut target = match (first, common.config()) {
        (Some(_), None) if is_url(text) => match words.next() {
            None => Target::Url(Remote {
                url: text.to_owned(),
                headers: BTreeMap::new(),
            }),
            Some(_) => return Err(Failure::usage("nothing can follow the URL of a server")),
        },
        (Some(command), None) => match misread(text) {
            None => Target::Program(Start {
                command: command.clone(),
                args: words.cloned().collect(),
                ..Start::default()
            }),
            Some(why) => return Err(Failure::usage(why)),
        },
        (None, Some((file, name))) => config::load(file, &name)?,
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
        Target::Url(remote) => remote.headers.extend(common.header.iter().cloned()),
        Target::Program(_) if !common.header.is_empty() => {
            return Err(Failure::usage("--header is for a server at a URL"));
        }
        Target::Program(_) => {}
    }
    Ok(target)
}
