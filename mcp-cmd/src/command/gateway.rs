//! `gateway`: the servers of a configuration file as one.

use core::time::Duration;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use crate::exit::Failure;
use crate::options::{Common, Serving};
use crate::plain::line;
use crate::screen::Screen;
use crate::serve::{check, entry, serve};
use mcp_tokio::Runtime;
use mcp_tokio::compose::{Config, Proxy, ServerEntry, ServerTarget, UpstreamState, Variables};

/// Serves the servers of the file until the program is interrupted, or the end of standard input.
///
/// # Errors
/// The file cannot be used, or the address cannot be bound. Servers that cannot be reached are reported.
pub(crate) async fn run(
    common: &Common,
    serving: &Serving,
    screen: &Screen,
) -> Result<(), Failure> {
    check(serving)?;
    let file = common.config_file();
    let file = file
        .ok_or_else(|| Failure::usage("which servers? `--config FILE` names a file with them"))?;
    let mut targets = read(file, screen).map_err(Failure::usage)?;
    let mut changed = changed_at(file);
    let set_up =
        |(name, target): (&String, &ServerTarget)| entry(name, target.clone(), common, screen);
    let proxy = Proxy::builder()
        .entries(targets.iter().map(set_up))
        .start(Runtime)
        .await;
    for (name, state) in proxy.states() {
        if let UpstreamState::Failed(reason) = state {
            screen.say(format!("{name}: {}", line(&reason)));
        }
    }
    let followed = async {
        loop {
            tokio::time::sleep(PAUSE).await;
            let now = changed_at(file);
            if now == changed {
                continue;
            }
            changed = now;
            match read(file, screen) {
                Ok(next) => {
                    update(&proxy, &targets, &next, set_up).await;
                    targets = next;
                }
                Err(why) => screen.say(line(&why)),
            }
        }
    };
    tokio::select! {
        served = serve(&proxy, "gateway", common, serving) => served,
        never = followed => never,
    }
}

/// Returns the servers of the file that are not disabled. Entries that are wrong are reported.
fn read(file: &Path, screen: &Screen) -> Result<BTreeMap<String, ServerTarget>, String> {
    let config = Config::read(file).map_err(|error| error.to_string())?;
    for error in config.errors() {
        screen.say(line(&error.to_string()));
    }
    let mut targets = BTreeMap::new();
    let variables = Variables::from_environment();
    for entry in config.entries().iter().filter(|entry| !entry.is_disabled()) {
        match entry.resolve(&variables) {
            Ok(target) => drop(targets.insert(entry.name().to_owned(), target)),
            Err(error) => screen.say(line(&error.to_string())),
        }
    }
    Ok(targets)
}

/// Removes the servers that the file does not have any more, and adds those that are new or differ.
async fn update(
    proxy: &Proxy,
    before: &BTreeMap<String, ServerTarget>,
    next: &BTreeMap<String, ServerTarget>,
    set_up: impl Fn((&String, &ServerTarget)) -> ServerEntry,
) {
    for name in before.keys().filter(|name| !next.contains_key(*name)) {
        proxy.remove(name);
    }
    for (name, target) in next {
        if before.get(name) != Some(target) {
            proxy.add(set_up((name, target))).await;
        }
    }
}

/// Returns when the file was changed, if that is known.
fn changed_at(file: &Path) -> Option<SystemTime> {
    file.metadata().and_then(|of| of.modified()).ok()
}

/// The time between two looks at the file.
const PAUSE: Duration = Duration::from_secs(1);
