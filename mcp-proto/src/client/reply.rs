//! Answers that the client gives without its application.

use crate::json::Writer;
use crate::rpc::{ErrorObject, Id, code, envelope};
use crate::token::MachineId;

/// An answer of the core to a question of a legacy server; opaque, for
/// [`reply`](crate::Machine::reply) of the machine that returned it. Another machine writes nothing.
#[derive(Clone, Copy, Debug)]
#[must_use = "a question whose reply is dropped is never answered"]
pub struct Reply<'b> {
    /// The machine that returned it.
    pub(super) machine: MachineId,
    pub(super) said: Said<'b>,
    /// True if the answer goes into the array of answers that is gathered.
    pub(super) batched: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Said<'b> {
    Pong(Id<'b>),
    Error(Id<'b>, i64, &'static str),
}

impl Said<'_> {
    /// Writes it, in at most [`reserve`] bytes; an id of more than `echo` bytes is left out.
    pub(super) fn write(self, echo: usize, writer: &mut Writer<'_>) {
        let (id, error) = match self {
            Self::Pong(id) => (id, None),
            Self::Error(id, code, message) => (id, Some((code, message))),
        };
        // A request whose id does not fit is answered without it, so that the answer never depends
        // on how full the buffer is.
        let echoed = Some(id).filter(|id| {
            let mut length = Writer::counting();
            id.write(&mut length);
            length.len() <= echo
        });
        match (error, echoed) {
            (None, Some(id)) => {
                let _ = envelope::result(writer, id, |writer| {
                    writer.literal("{}");
                    Ok::<_, core::convert::Infallible>(())
                });
            }
            (error, id) => {
                let (code, message) = match id {
                    Some(_) => error,
                    None => None,
                }
                .unwrap_or((code::INVALID_REQUEST, "the id is too long"));
                envelope::error(writer, id, &ErrorObject::new(code, message));
            }
        }
    }
}

/// The most that an answer of the core takes: an error with the longest message and id that are
/// written. `notifications/initialized`, which leaves unasked, is shorter.
pub(super) const fn reserve(echo: usize) -> usize {
    echo + 160
}
