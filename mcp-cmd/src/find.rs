//! Which server the command line names.

use std::collections::BTreeMap;

use super::config;
use super::exit::Failure;
use super::options::{Common, Server};
use super::target::{Remote, Start, Target, is_url, misread};

/// What the command line says, in it or in the file that it names.
///
/// # Errors
///
/// It says nothing, too much, or the file does not tell.
pub(crate) fn find_target(common: &Common, server: &Server) -> Result<Target, Failure> {
    let words = server.server.iter().map(|word| word.to_string_lossy());
    let mut words = words.map(|word| word.into_owned());
    let mut target = match (words.next(), common.config()) {
        (Some(word), None) if is_url(&word) => match words.next() {
            None => Target::Url(Remote {
                url: word,
                headers: BTreeMap::new(),
            }),
            Some(_) => return Err(Failure::usage("nothing can follow the URL of a server")),
        },
        (Some(command), None) => match misread(&command) {
            None => Target::Program(Start {
                command,
                args: words.collect(),
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
