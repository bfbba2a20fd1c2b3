//! A server of a client by script, which reads lines and writes those that answer them.

use core::fmt::Debug;
use core::future::Future;
use core::task::Poll;

use mcp_async::client::ClientBuilder;
use mcp_async::{Client, Streams};
use mcp_proto::{Revision, RevisionSet};

use crate::scripted::LinePeer;
use crate::sim::{Sim, poll_once};

/// The client of a server that speaks this revision and declares these capabilities.
pub(crate) fn connect(
    builder: ClientBuilder,
    revision: Revision,
    capabilities: &str,
) -> (Client, LinePeer) {
    let (mut lines, streams) = LinePeer::pair(1 << 20);
    let builder = builder.revisions(RevisionSet::of(&[revision]));
    let connecting = builder.connect(Streams::new(Sim, streams));
    let (client, _) = open(connecting, &mut lines, revision, capabilities);
    (client, lines)
}

/// Answers the first request of a client that connects, and returns that request as well.
pub(crate) fn open<E: Debug>(
    connecting: impl Future<Output = Result<Client, E>>,
    lines: &mut LinePeer,
    revision: Revision,
    capabilities: &str,
) -> (Client, String) {
    let mut connecting = Box::pin(connecting);
    assert!(poll_once(connecting.as_mut()).is_pending());
    let asked = lines.read();
    lines.answer(1, &opening(revision, capabilities));
    let Poll::Ready(client) = poll_once(connecting.as_mut()) else {
        panic!("it connects");
    };
    lines.read();
    (client.unwrap(), asked)
}

/// The answer to the first request of a client.
pub(crate) fn opening(revision: Revision, capabilities: &str) -> String {
    let info = r#""serverInfo":{"name":"script","version":"0"}"#;
    match revision.is_legacy() {
        true => {
            format!(r#"{{"protocolVersion":"{revision}","capabilities":{capabilities},{info}}}"#)
        }
        false => format!(
            r#"{{"resultType":"complete","supportedVersions":["{revision}"],"capabilities":{capabilities},{info},"ttlMs":0,"cacheScope":"public"}}"#
        ),
    }
}
