//! The command line.

use core::net::SocketAddr;
use core::time::Duration;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::duration;
use super::exit::Exit;
use mcp_tokio::model::LoggingLevel;
use mcp_tokio::{Revision, RevisionSet};

/// Talks to an MCP server: a child process that it starts, or a server at a URL.
///
/// The server is what stands after `--`, a URL before the command, or an entry of a desktop host's
/// configuration file. Options stand anywhere before `--`; what follows the server is its own.
#[derive(Debug, Parser)]
#[command(
    name = "mcp-cmd",
    version,
    override_usage = "mcp-cmd [OPTIONS] COMMAND [ARGUMENTS] -- SERVER [ARGUMENTS]\n       \
                      mcp-cmd [OPTIONS] URL [OPTIONS] [COMMAND] [ARGUMENTS]\n       \
                      mcp-cmd [OPTIONS] COMMAND [ARGUMENTS] --config FILE NAME",
    after_help = "What follows `-- SERVER` is for the server: options of mcp-cmd stand before `--`.\n\
                  `mcp-cmd help call` says how arguments are written; `--help` lists the exit codes.",
    after_long_help = Exit::HELP,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Verb,
}

/// The options of every command, which stand before or after it.
#[derive(Clone, Debug, Args)]
pub(crate) struct Common {
    /// Takes the server NAME from the `mcpServers` of FILE, or all of them for `gateway`; ${VAR} and
    /// ${VAR:-default} in it are filled in from the environment
    #[arg(long, global = true, num_args = 1..=2, value_names = ["FILE", "NAME"])]
    config: Option<Vec<PathBuf>>,
    /// Sends this field with every request to a server at a URL
    #[arg(long, global = true, value_name = "NAME:VALUE", value_parser = header)]
    pub(crate) header: Vec<(String, String)>,
    /// The way to log in at a server that asks for it; tokens are kept in the user's folder for state
    #[arg(long, global = true, value_name = "HOW", default_value = "browser")]
    pub(crate) login: Login,
    /// Sets a variable in the server's environment, which else is a short list (PATH, HOME, ..)
    #[arg(long, global = true, value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) env: Vec<(String, String)>,
    /// Accepts these revisions of the protocol only, separated by commas
    #[arg(long, global = true, value_name = "A,B", value_parser = revisions)]
    pub(crate) revisions: Option<RevisionSet>,
    /// Accepts an issuer that differs from its metadata by a slash at its end only
    #[arg(long, global = true)]
    pub(crate) ignore_issuer_slash: bool,
    /// Waits so long for the answer to a request: 30, 1.5, 500ms, 2m; progress begins it anew (a
    /// minute without this, and an hour for what may ask a person at a terminal)
    #[arg(long, global = true, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,
    /// Waits so long for the server to start and to say who it is (a minute without this); a login
    /// does not count
    #[arg(long, global = true, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) connect_timeout: Option<Duration>,
    /// Ends after this time, whatever is under way
    #[arg(long, global = true, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) max_time: Option<Duration>,
    /// Asks the server for log messages from this level on
    #[arg(long, global = true, value_name = "LEVEL", value_parser = levels())]
    log_level: Option<String>,
    /// Lends the server this directory as a root; several times for several
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Answers sampling with what this shell command writes, which reads the request as JSON
    #[arg(long, global = true, value_name = "CMD")]
    pub(crate) sample_with: Option<String>,
    /// Writes images, audio and blobs to files in this directory; with --json their names are on
    /// standard error
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// Writes JSON to standard output: one document, for `subscribe` one line per update
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Shows every message on standard error as it crosses the wire; of HTTP the status and the
    /// headers, too, but no tokens, cookies, session ids, given headers and queries of URLs
    #[arg(long, global = true)]
    pub(crate) trace: bool,
    /// Shows no log messages, no progress and nothing of what the server writes to its standard
    /// error
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Uses no colours
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Says who the server is, what it can do and how it wants to be used
    Info {
        #[command(flatten)]
        server: Server,
    },
    /// Lists what the server offers
    List {
        /// The kind of items
        #[arg(default_value = "all")]
        kind: Kind,
        #[command(flatten)]
        server: Server,
    },
    /// Calls a tool, and follows the task that the server may make of the call
    ///
    /// The states of a task are shown on standard error unless --quiet is given, its questions are asked as those of a call
    /// are, and Ctrl-C cancels it. A time limit holds for each request about a task, not for the whole task.
    #[command(after_help = ARGUMENTS)]
    Call {
        /// The tool's name
        #[arg(allow_hyphen_values = true)]
        tool: String,
        /// Its arguments: key=value, key:=json or a JSON object
        arguments: Vec<String>,
        #[command(flatten)]
        server: Server,
    },
    /// Reads a resource
    Read {
        /// The resource's URI
        uri: String,
        #[command(flatten)]
        server: Server,
    },
    /// Gets a prompt
    #[command(after_help = ARGUMENTS)]
    Get {
        /// The prompt's name
        #[arg(allow_hyphen_values = true)]
        prompt: String,
        /// Its arguments, all of them text: key=value
        arguments: Vec<String>,
        #[command(flatten)]
        server: Server,
    },
    /// Asks what an argument of a prompt or of a resource template may be
    Complete {
        /// A prompt's name, or a URI template (which has braces or a colon)
        #[arg(allow_hyphen_values = true)]
        reference: String,
        /// The argument and the beginning of its value: name=prefix
        argument: String,
        /// Arguments that are known already: key=value
        context: Vec<String>,
        #[command(flatten)]
        server: Server,
    },
    /// Lists the skills of the server, shows one, or checks them
    #[command(after_help = SKILLS)]
    Skills {
        /// The action
        #[arg(default_value = "list")]
        action: SkillsAction,
        /// The skill's name or the URI of its SKILL.md
        skill: Option<String>,
        #[command(flatten)]
        server: Server,
    },
    /// Tells when resources or lists change, until Ctrl-C
    Subscribe {
        /// The resources' URIs
        uris: Vec<String>,
        /// Tells of changes of the lists too
        #[arg(long)]
        lists: bool,
        /// Ends after so many updates
        #[arg(long, value_name = "N")]
        count: Option<u64>,
        #[command(flatten)]
        server: Server,
    },
    /// Asks whether the server is there, and how long that takes
    Ping {
        /// The number of requests
        #[arg(long, value_name = "N", default_value_t = 1)]
        count: u32,
        #[command(flatten)]
        server: Server,
    },
    /// Serves the server to others: on standard input and output, or over HTTP
    ///
    /// Callers and the server may speak any revisions: a program is served over HTTP, an old server to new clients, and the other
    /// way round. What the server asks goes to the caller that it concerns.
    Proxy {
        #[command(flatten)]
        serving: Serving,
        #[command(flatten)]
        server: Server,
    },
    /// Serves the servers of a configuration file as one: on standard input and output, or over HTTP
    ///
    /// The file is that of --config, and is read again when it changes. Tools and prompts have the names of their servers before
    /// their own, as `git__log`.
    Gateway {
        #[command(flatten)]
        serving: Serving,
    },
    /// Writes the completions of this program for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// The ways to serve others.
#[derive(Debug, Args)]
pub(crate) struct Serving {
    /// Serves this address, as 127.0.0.1:8000, with the endpoint at /mcp and a check for balancers at /ready; without this, standard
    /// input and output
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<SocketAddr>,
    /// Callers over HTTP have to send the token that this variable of the environment holds, as `Authorization: Bearer TOKEN`; an
    /// address that other machines reach needs it
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) token_env: Option<String>,
}

/// The kinds of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    Tools,
    Resources,
    Templates,
    Prompts,
    All,
}

/// The actions on skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SkillsAction {
    /// Lists them
    List,
    /// Writes the SKILL.md of one, if it is what the server says of it
    Show,
    /// Reads every file of all skills, or of one, and compares sizes, digests and frontmatter
    Verify,
}

/// The ways to log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Login {
    /// In the browser of this machine
    Browser,
    /// In any browser, whose address is pasted here
    Paste,
    /// Not at all
    None,
}

/// The server as the command line names it.
#[derive(Debug, Args)]
pub(crate) struct Server {
    /// The server to start, and its arguments, or its URL
    #[arg(last = true, value_name = "SERVER")]
    pub(crate) server: Vec<OsString>,
}

impl Verb {
    /// The server that it is about, if it is about one.
    pub(crate) const fn server(&self) -> Option<&Server> {
        match self {
            Self::Info { server }
            | Self::List { server, .. }
            | Self::Call { server, .. }
            | Self::Read { server, .. }
            | Self::Get { server, .. }
            | Self::Complete { server, .. }
            | Self::Skills { server, .. }
            | Self::Subscribe { server, .. }
            | Self::Ping { server, .. } => Some(server),
            Self::Proxy { .. } | Self::Gateway { .. } | Self::Completions { .. } => None,
        }
    }
}

impl Common {
    /// The file, if no name in it is given.
    pub(crate) fn config_file(&self) -> Option<&PathBuf> {
        match self.config.as_deref() {
            Some([file]) => Some(file),
            _ => None,
        }
    }

    /// The file and the name in it.
    pub(crate) fn config(&self) -> Option<(&PathBuf, String)> {
        match self.config.as_deref() {
            Some([file, name]) => Some((file, name.to_string_lossy().into_owned())),
            _ => None,
        }
    }

    pub(crate) fn log_level(&self) -> Option<LoggingLevel> {
        LoggingLevel::parse(self.log_level.as_deref()?.into())
    }
}

fn revisions(text: &str) -> Result<RevisionSet, String> {
    let revisions = text.split(',').map(|name| {
        Revision::parse(name.trim()).ok_or_else(|| format!("no revision is called `{name}`"))
    });
    revisions
        .collect::<Result<Vec<_>, _>>()
        .map(|all| RevisionSet::of(&all))
}

fn variable(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair.ok_or_else(|| format!("`{text}` is not NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

fn header(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once(':').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair.ok_or("it is not NAME:VALUE")?;
    Ok((name.to_owned(), value.trim().to_owned()))
}

fn levels() -> PossibleValuesParser {
    PossibleValuesParser::new([
        "debug",
        "info",
        "notice",
        "warning",
        "error",
        "critical",
        "alert",
        "emergency",
    ])
}

const SKILLS: &str = "\
Forms:
  skills               lists all skills with the URIs of their SKILL.md
  skills show NAME     writes the SKILL.md of a skill if it is what the server says of it
  skills verify        reads all files of all skills, and compares them with what the server says of them
  skills verify NAME   the same for one skill

NAME is a skill's name or the URI of its SKILL.md. `skills verify` ends with 6 if a file is not what the server says of it.";

const ARGUMENTS: &str = "\
Arguments:
  city=Kyoto          a value, typed by what the server says of the argument
  tags=a tags=b       a list, element by element
  days:=3             JSON as it is
  text=@FILE          the text of a file; @- for standard input
  options:=@FILE      the JSON of a file
  '{\"city\":\"Kyoto\"}'  all arguments at once; so do @FILE and - (standard input)

Names and arguments are compared with the lists of the server before the call, unless all arguments are given at once.";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Options::command().debug_assert();
    }

    #[test]
    fn lines() {
        let parse = |line: &str| {
            let words = line.split(' ').filter(|word| !word.is_empty());
            Options::try_parse_from(core::iter::once("client").chain(words))
        };
        let options = parse("call add a=1 b:=2 --json -- server --flag -x").unwrap();
        assert!(options.common.json);
        let Verb::Call {
            tool,
            arguments,
            server,
        } = options.command
        else {
            panic!("another command");
        };
        assert_eq!(
            (tool.as_str(), arguments),
            ("add", vec!["a=1".to_owned(), "b:=2".to_owned()])
        );
        assert_eq!(server.server, ["server", "--flag", "-x"]);

        let options = parse("--config hosts.json it --timeout 2m list").unwrap();
        let (file, name) = options.common.config().unwrap();
        assert_eq!((file.to_str(), name.as_str()), (Some("hosts.json"), "it"));
        assert_eq!(options.common.timeout, Some(Duration::from_secs(120)));

        let options = parse("gateway --config hosts.json --http 127.0.0.1:1").unwrap();
        assert!(options.common.config().is_none());
        let file = options.common.config_file().and_then(|file| file.to_str());
        assert_eq!(file, Some("hosts.json"));

        let options = parse("list --header Authorization:Basic -- http://a/mcp").unwrap();
        let expected = ("Authorization".to_owned(), "Basic".to_owned());
        assert_eq!(options.common.header, [expected]);

        let options =
            parse("list prompts --revisions 2025-11-25,2026-07-28 --log-level error -- s");
        let options = options.unwrap();
        assert_eq!(options.common.revisions.map(RevisionSet::len), Some(2));
        assert_eq!(options.common.log_level(), Some(LoggingLevel::Error));

        let options = parse("call --json -x -q a=1 -- s").unwrap();
        assert!(options.common.json && options.common.quiet);
        let Verb::Call { tool, .. } = options.command else {
            panic!("another command");
        };
        assert_eq!(tool, "-x");

        let wrong = |line: &str| assert!(parse(line).is_err(), "{line}");
        wrong("");
        wrong("frob -- server");
        wrong("call -- server");
        wrong("list everything -- server");
        wrong("list --revisions 1999-01-01 -- server");
        wrong("list --config hosts.json it more");
        wrong("list --timeout soon -- server");
        wrong("list --env =x -- server");
        wrong("list --header x -- http://a");
    }
}
