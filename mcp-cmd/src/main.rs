//! A command-line client of MCP servers.
//!
//! The server is a program that the client starts, or a URL. `mcp-cmd --help` lists the commands.
//!
//! ```text
//! main        runs one command
//! options     the command line                          command     one module per command
//! find        the server that the command line names    connect     a session with it, from start to end
//! login       tokens for servers at URLs                response     what these send in the place of answers
//! serve       servers for other callers
//! typed ..    arguments of tools from the command line  form, ask   questions of the server on the terminal
//! screen ..   text for people                           out, exit   JSON and the exit status for scripts
//! ```

mod accepts;
mod ask;
mod background;
mod body_lines;
mod bytes;
mod command;
mod connect;
mod content;
mod duration;
mod elicit;
mod exit;
mod failures;
mod field;
mod fields;
mod find;
mod form;
mod http_trace;
mod interrupt;
mod json;
mod login;
mod menu;
mod nearest;
mod options;
mod out;
mod page;
mod plain;
mod response;
mod roots;
mod sample;
mod save;
mod screen;
mod secrets;
mod serve;
mod session;
mod shared_store;
mod style;
mod target;
mod terminal;
mod typed;
mod url;
mod visits;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};

use self::command::{
    call, complete, completions, gateway, get, info, list, ping, proxy, read, skills, subscribe,
};
use self::connect::with_server;
use self::exit::{Cause, Exit, Failure};
use self::interrupt::Interrupt;
use self::options::{Options, Verb};
use self::plain::{escaped, plain};
use self::save::Save;
use self::screen::Screen;
use self::session::Session;
use self::style::{RED, paint};
use mcp_tokio::Client;
use mcp_tokio::client::CallError;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words = target::reordered(std::env::args_os());
    let options = match Options::try_parse_from(&words) {
        Ok(options) => options,
        Err(error) => return refuse(error, &words),
    };
    if options.common.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    let screen = Screen::new(options.common.quiet);
    let exit = match obey(&options, &screen).await {
        Ok(exit) => exit,
        Err(mut failure) => {
            screen.release();
            failure.mask(screen.secrets());
            tell(&failure, &options, &screen);
            failure.exit
        }
    };
    ExitCode::from(exit as u8)
}

async fn obey(options: &Options, screen: &Screen) -> Result<Exit, Failure> {
    let Some(server) = options.command.server() else {
        let done = match &options.command {
            Verb::Completions { shell } => completions::run(*shell),
            Verb::Proxy { serving, server } => {
                proxy::run(&options.common, serving, server, screen).await
            }
            Verb::Gateway { serving } => gateway::run(&options.common, serving, screen).await,
            _ => Ok(()),
        };
        return done.map(|()| Exit::Success);
    };
    if let Some(directory) = &options.common.save {
        Save::check(directory)?;
    }
    let interrupt = Interrupt::install(screen, options.common.max_time);
    let work = async |client: &Client| {
        let session = Session {
            client,
            common: &options.common,
            screen,
            interrupt: &interrupt,
        };
        work(&session, &options.command).await
    };
    with_server(&options.common, server, screen, &interrupt, work).await
}

async fn work(session: &Session<'_>, command: &Verb) -> Result<Exit, Failure> {
    ask_for_logs(session).await?;
    match command {
        Verb::Call {
            tool, arguments, ..
        } => return call::run(session, tool, arguments).await,
        Verb::Info { .. } => info::run(session)?,
        Verb::List { kind, .. } => list::run(session, *kind).await?,
        Verb::Read { uri, .. } => read::run(session, uri).await?,
        Verb::Get {
            prompt, arguments, ..
        } => get::run(session, prompt, arguments).await?,
        Verb::Complete {
            reference,
            argument,
            context,
            ..
        } => {
            complete::run(session, reference, argument, context).await?;
        }
        Verb::Skills { action, skill, .. } => {
            return skills::run(session, *action, skill.as_deref()).await;
        }
        Verb::Subscribe {
            uris, lists, count, ..
        } => {
            subscribe::run(session, uris, *lists, *count).await?;
        }
        Verb::Ping { count, .. } => ping::run(session, *count).await?,
        Verb::Proxy { .. } | Verb::Gateway { .. } | Verb::Completions { .. } => {}
    }
    Ok(Exit::Success)
}

/// A server that does not log is no reason to do nothing else.
async fn ask_for_logs(session: &Session<'_>) -> Result<(), Failure> {
    let Some(level) = session.common.log_level() else {
        return Ok(());
    };
    match session
        .interrupt
        .or(session.client.set_log_level(level))
        .await?
    {
        Err(CallError::MissingCapability(_)) => {
            session
                .screen
                .say("the server has no log messages to offer");
            Ok(())
        }
        told => Ok(told?),
    }
}

/// Ends the program with the text of the parser: an error, help or the version.
fn refuse(mut error: clap::Error, words: &[OsString]) -> ExitCode {
    // After `--` a word is a server here, not a value.
    if let Some(ContextValue::StyledStrs(mut hints)) = error.remove(ContextKind::Suggested) {
        hints.retain(|hint| !hint.to_string().contains("as a value"));
        if !hints.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(hints));
        }
    }
    let _ = error.print();
    let mut options = words.iter().take_while(|word| *word != "--");
    if error.use_stderr() && options.any(|word| word == "--json") {
        let text = error.to_string();
        let (text, _) = text.split_once("\n\n").unwrap_or((&text, ""));
        let text = text.strip_prefix("error: ").unwrap_or(text);
        let _ = out::document(&Failure::usage(plain::line(text)).document());
    }
    ExitCode::from(error.exit_code().try_into().unwrap_or(Exit::Usage as u8))
}

fn tell(failure: &Failure, options: &Options, screen: &Screen) {
    // There is no output left.
    if failure.exit == Exit::Unread {
        return;
    }
    // Where the result is written already it is the only document.
    if options.common.json && !matches!(failure.cause, Cause::Save) {
        let _ = out::document(&failure.document());
    }
    screen.say(format!("{} {}", paint(RED, "error:"), plain(&failure.text)));
    if let Some(data) = failure.reply.as_ref().and_then(|reply| reply.data.as_ref()) {
        screen.say(escaped(&json::pretty(data.as_raw())));
    }
}
