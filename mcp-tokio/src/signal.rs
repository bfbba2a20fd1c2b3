use core::future::{pending, poll_fn};
use core::task::Poll;
use std::io;

/// Waits until the program is asked to end: by SIGINT or SIGTERM, by Ctrl-C and the console's other
/// events on Windows.
///
/// Servers that run by themselves ([`Server::serve`](mcp_async::Server::serve),
/// [`Http::serve`](mcp_async::http::Http::serve)) wait for it already. It is for services
/// that a program mounts in another server.
///
/// From the first poll on, the signals do not end the process by themselves. Where signals cannot be
/// received, the future never completes.
pub async fn interrupted() {
    if tokio::runtime::Handle::try_current().is_err() || wait().await.is_err() {
        pending::<()>().await;
    }
}

#[cfg(unix)]
async fn wait() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    poll_fn(|cx| match interrupt.poll_recv(cx) {
        Poll::Ready(_) => Poll::Ready(()),
        Poll::Pending => terminate.poll_recv(cx).map(|_| ()),
    })
    .await;
    Ok(())
}

#[cfg(windows)]
async fn wait() -> io::Result<()> {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};

    let mut keys = (ctrl_c()?, ctrl_break()?);
    let mut ends = (ctrl_close()?, ctrl_shutdown()?);
    poll_fn(|cx| {
        let polls = [
            keys.0.poll_recv(cx),
            keys.1.poll_recv(cx),
            ends.0.poll_recv(cx),
            ends.1.poll_recv(cx),
        ];
        if polls.iter().any(Poll::is_ready) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    Ok(())
}

#[cfg(not(any(unix, windows)))]
async fn wait() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}
