//! A client in the scripts: the commands of its [application](user), and these.
//!
//! ```text
//! connect                     opens the connection
//! http                        or connects over HTTP
//! fail 1 broken               such a transport reports that a request failed, `broken` or `unreachable`
//! refuse 1 404                or that it was refused with a status
//! lose                        or that the session is lost
//! ```

use core::marker::PhantomData;

use mcp_proto::client::{Client, ClientConfig, Event, Failure, Fixed};
use mcp_proto::{Instant, Revision};

use super::user::User;
use super::{Fit, Player, Role, word};

type Small = Fixed<8, 3, 600>;

/// Plays a script.
#[track_caller]
pub(crate) fn check(config: ClientConfig<'_>, script: &str) {
    player(config).play(script);
    player(config).in_bytes().play(script);
}

/// Plays a script from the moment on at which a server of this revision answered the handshake;
/// ids go on from 2.
#[track_caller]
pub(crate) fn check_opened(config: ClientConfig<'_>, revision: Revision, script: &str) {
    for mut player in [player(config), player(config).in_bytes()] {
        Connected::command(&mut player, "connect", "");
        player.drain();
        let answer = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{revision}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
        );
        player.feed(format!("{answer}\n").as_bytes());
        assert_eq!(player.take(|line| Some(format!("{line:?}"))).len(), 3);
        player.play(script);
    }
}

fn player(config: ClientConfig<'_>) -> Player<Connected<'_>> {
    let client = Client::new(config, Fixed).unwrap();
    Player::new(client, Connected::default(), &config.limits)
}

/// A client and its application.
#[derive(Default)]
pub(crate) struct Connected<'c> {
    user: User,
    config: PhantomData<&'c ()>,
}

impl<'c> Role for Connected<'c> {
    type Machine = Client<'c, Small>;

    const WRITES: &'static str = ">";
    const READS: &'static str = "<";
    const START: Instant = Instant::from_millis(1_000);
    const FIT: Fit = Fit {
        names_exactly: true,
        is_unchanged: true,
        tries: 600,
    };

    fn tell(&mut self, event: &Event<'_>) -> String {
        self.user.on(event);
        self.user.tell(event)
    }

    fn command(player: &mut Player<Self>, verb: &str, rest: &str) {
        let (role, now, mut out) = player.parts();
        let (id, tail) = word(rest);
        let id = || id.parse().expect("an id");
        let done = match verb {
            "connect" => out.machine.connect(now),
            "http" => out.machine.connect_by_exchanges(now),
            "fail" => {
                let failure = match tail {
                    "unreachable" => Failure::Unreachable,
                    "broken" => Failure::Broken,
                    other => panic!("no such failure: {other}"),
                };
                out.machine.fail(id(), failure);
                Ok(())
            }
            "refuse" => {
                let status = tail.parse().expect("a status");
                out.machine.refuse(now, id(), status);
                Ok(())
            }
            "lose" => {
                out.machine.lose_session(now);
                Ok(())
            }
            _ => role
                .user
                .command(now, verb, rest, &mut out)
                .unwrap_or_else(|| panic!("no such command: {verb}")),
        };
        player.note(done);
    }
}
