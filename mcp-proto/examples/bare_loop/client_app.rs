//! The application of the client: sequential calls, the last of them to a slow tool.

use mcp_proto::client::{Call, Client, Event, Storage};
use mcp_proto::model::CallToolParams;
use mcp_proto::rpc::Method;
use mcp_proto::{Instant, Outbox, SentToken, Verdict};

use crate::{ECHO, SIZE, SLOW, object};

#[derive(Default)]
pub(crate) struct User {
    pub(crate) answers: u32,
    /// A call whose answer is not awaited any more.
    pub(crate) too_long: Option<SentToken>,
}

impl User {
    pub(crate) fn on<S: Storage>(
        &mut self,
        now: Instant,
        client: &mut Client<'_, S>,
        event: Event<'_>,
        outbox: &mut Outbox<[u8; SIZE]>,
    ) -> Verdict {
        match event {
            Event::Connected(server) => println!("connected, {}", server.revision),
            Event::Answer {
                outcome: Ok(result),
                ..
            } => {
                self.answers += 1;
                println!("{}", result.as_str());
            }
            other => {
                println!("{other:?}");
                return Verdict::Done;
            }
        }
        match self.answers {
            ..ECHOES => {
                self.call(now, ECHO, client, outbox);
            }
            ECHOES => {
                self.call(now, SLOW, client, outbox);
            }
            _ => self.too_long = self.call(now, SLOW, client, outbox),
        }
        Verdict::Done
    }

    /// Calls a tool. The outbox has room: there is never more than one call in it.
    pub(crate) fn call<S: Storage>(
        &self,
        now: Instant,
        tool: &str,
        client: &mut Client<'_, S>,
        outbox: &mut Outbox<[u8; SIZE]>,
    ) -> Option<SentToken> {
        let params = CallToolParams {
            name: tool.into(),
            arguments: Some(object(ARGUMENTS)),
            ..CallToolParams::default()
        };
        let call = Call {
            params: Some(&params),
            ..Call::new(Method::ToolsCall)
        };
        match outbox.put(|out| client.call(now, &call, out)) {
            Ok((token, _)) => Some(token),
            Err(error) => {
                println!("{error}");
                None
            }
        }
    }
}

const ARGUMENTS: &[u8] = br#"{"text":"hello \ud83d\udc4b"}"#;

/// Calls that are answered at once.
pub(crate) const ECHOES: u32 = 5;
