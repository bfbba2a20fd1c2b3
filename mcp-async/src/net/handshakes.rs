//! Refuses new connections while those that the system has accepted are taken from it.

use std::net::TcpListener;

/// A second handle of a listening socket that no other process has. The refusal would hold for all processes.
///
/// Closing a listening socket resets the connections that wait in its queue. So their number has to be zero, and no
/// connection may join them between the last look and the end.
pub(crate) struct Handshakes(Option<TcpListener>);

impl Handshakes {
    pub(crate) fn of(socket: &TcpListener) -> Self {
        Self(socket.try_clone().ok())
    }

    /// Ignores the first packet of further handshakes; those that have begun are completed.
    ///
    /// A client repeats that packet after about one second, and is refused then if the socket is closed. Only Linux can do
    /// this; elsewhere, and where the system does not allow it, a connection that is accepted at the moment of the end is
    /// reset.
    pub(crate) fn refuse(&self) {
        if let Some(socket) = &self.0 {
            ignore(socket);
        }
    }
}

#[cfg(target_os = "linux")]
fn ignore(socket: &TcpListener) {
    use socket2::{SockFilter, SockRef};

    // Instructions of the classic packet filter; the packet begins at the header of TCP.
    let filter = [
        // The byte with the flags.
        SockFilter::new(0x30, 0, 0, 13),
        // SYN goes to the next instruction, all else to the one after it.
        SockFilter::new(0x45, 0, 1, 0x02),
        // Nothing of the packet passes.
        SockFilter::new(0x06, 0, 0, 0),
        // All of it does.
        SockFilter::new(0x06, 0, 0, u32::MAX),
    ];
    // A system that does not allow it continues as the others do.
    let _allowed = SockRef::from(socket).attach_filter(&filter);
}

#[cfg(not(target_os = "linux"))]
fn ignore(_socket: &TcpListener) {}
