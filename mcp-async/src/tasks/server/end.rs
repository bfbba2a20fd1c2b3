//! The end of tasks with their server.

use core::sync::atomic::Ordering;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use super::engine::Engine;
use crate::runtime::RuntimeHandle;
use crate::server::background::Background;

impl Background for Engine {
    fn attach(&self) {
        self.runs.attach();
    }

    fn serve_on(&self, runtime: &RuntimeHandle) {
        self.set_runtime(runtime);
    }

    fn start(self: Arc<Self>) {
        self.begin_to_look();
    }

    fn begin_shutdown(&self, grace: Duration) {
        let end = self.now() + grace;
        self.runs.end_server(end);
    }

    fn stop(&self) {
        self.runs.stop();
    }

    fn running(&self) -> usize {
        self.runs.running()
    }

    fn kept_in_exchange(&self) -> u64 {
        self.kept_in_exchange.load(Ordering::Relaxed)
    }

    fn poll_stopped(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.runs.poll_empty(cx)
    }

    fn resume(&self) {
        self.runs.reopen();
    }

    fn detach(&self) {
        self.runs.detach();
    }
}
