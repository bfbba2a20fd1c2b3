//! An MCP client on a microcontroller: every revision, no allocator, no operating system.
//!
//! It connects to the server at the other end of the serial port, reads the list of tools, calls the first one, writes the text
//! of the result to the standard error of the emulator, and answers pings from then on. The program `firmware/run` has the server.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use mcp_firmware::board::{entry, exit};
use mcp_firmware::{BUFFER, Uart};
use mcp_proto::client::{Call, Client, ClientConfig, Event, Fixed, Storage};
use mcp_proto::json::{EncodeError, Object, Raw, Str, Writer};
use mcp_proto::rpc::Method;
use mcp_proto::{ConfigError, Heapless, Instant, Limits, Link, Outbox, Payload, Revision, Store};
use mcp_proto::{TurnEnd, Verdict};
use semihosting::sys::arm_compat::sys_writec;

/// One call at a time; the server asks nothing, because the client declares no capability.
type Tables = Fixed<1>;

#[entry]
fn main() -> ! {
    if let Some(mut uart) = Uart::take() {
        run(&mut uart);
    }
    exit(1)
}

/// A function of its own, so that the stack holds the configuration for as long as it runs only.
#[inline(never)]
fn client() -> Result<Client<'static, Tables>, ConfigError> {
    let limits = Limits {
        depth: 16,
        ..Limits::default()
    };
    let config = ClientConfig {
        limits,
        ..ClientConfig::new("firmware", env!("CARGO_PKG_VERSION"))
    };
    Client::new(config, Tables::default())
}

/// Returns when the server has failed.
fn run(uart: &mut Uart) {
    // Used where it is: a client that is moved takes twice its room.
    if let Ok(client) = &mut client() {
        talk(uart, client);
    }
}

/// A function of its own as well, so that the buffers lie where the configuration was.
#[inline(never)]
fn talk(uart: &mut Uart, client: &mut Client<'static, Tables>) {
    let (inbox, outbox) = (Heapless::<u8, BUFFER>::new(), Heapless::<u8, BUFFER>::new());
    let Ok(mut link) = Link::new(client, inbox, outbox) else {
        return;
    };
    // No clock: it waits without limit for a server that does not answer.
    if link.machine.connect(Instant::ZERO).is_err() {
        return;
    }
    let mut user = User::Waits;
    loop {
        let rest = link.turn(Instant::ZERO, |client, event, outbox| {
            user.on(client, event, outbox)
        });
        uart.write(link.outbox.pending());
        link.outbox.consume(link.outbox.pending().len());
        if let User::Failed = user {
            return;
        }
        if rest == TurnEnd::Empty
            && let Some(spare) = link.inbox.spare_mut()
        {
            let len = uart.read(spare);
            link.inbox.filled(len);
        }
    }
}

/// The use of the connection: one list, one call.
enum User {
    /// The server has not answered yet.
    Waits,
    /// The list of tools is awaited.
    Lists,
    /// The result of the tool is awaited.
    Calls,
    /// The result was written.
    Done,
    /// The server answered with an error, or with nothing that is of use.
    Failed,
}

impl User {
    fn on<S: Storage, O: Store<u8>>(
        &mut self,
        client: &mut Client<'_, S>,
        event: Event<'_>,
        outbox: &mut Outbox<O>,
    ) -> Verdict {
        let mut send = |call: Call<'_>| outbox.put(|out| client.call(Instant::ZERO, &call, out));
        let next = match (&self, event) {
            (Self::Waits, Event::Connected(_)) => {
                send(Call::new(Method::ToolsList)).ok().map(|_| Self::Lists)
            }
            (
                Self::Lists,
                Event::Answer {
                    outcome: Ok(result),
                    ..
                },
            ) => first_of(result, "tools", "name").and_then(|name| {
                let params = Params { name };
                let call = Call {
                    params: Some(&params),
                    ..Call::new(Method::ToolsCall)
                };
                send(call).ok().map(|_| Self::Calls)
            }),
            (
                Self::Calls,
                Event::Answer {
                    outcome: Ok(result),
                    ..
                },
            ) => first_of(result, "content", "text").and_then(|text| {
                print(text);
                Some(Self::Done)
            }),
            // Log messages and the like.
            (_, Event::Notification { .. }) => return Verdict::Done,
            _ => None,
        };
        *self = next.unwrap_or(Self::Failed);
        Verdict::Done
    }
}

/// The parameters of `tools/call`, without the types of the model, which take more flash.
struct Params<'b> {
    name: Str<'b>,
}

impl Payload for Params<'_> {
    fn write(&self, writer: &mut Writer<'_>, _: Revision) -> Result<(), EncodeError> {
        writer.literal(r#"{"name":"#);
        writer.text(self.name);
        writer.literal(r#","arguments":{"text":"hello"}}"#);
        Ok(())
    }
}

/// Returns the text `key` of the first object in the array `list` of a result.
fn first_of<'b>(result: Raw<'b>, list: &str, key: &str) -> Option<Str<'b>> {
    let first = result.object()?.get(list)?.array()?.elements().next();
    first
        .and_then(Raw::object)
        .and_then(|object: Object<'b>| object.get(key))
        .and_then(Raw::string)
}

/// Writes a text and a line feed to the standard error of the emulator.
fn print(text: Str<'_>) {
    for part in text.chars().chain(['\n']) {
        for byte in part.encode_utf8(&mut [0; 4]).bytes() {
            sys_writec(byte);
        }
    }
}
