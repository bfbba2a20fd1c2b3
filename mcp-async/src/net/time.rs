//! The timers and the tasks of a runtime for hyper.

use core::future::Future;
use core::pin::Pin;
use core::time::Duration;

use mcp_proto::Instant;

use crate::runtime::{RuntimeHandle, Sleep};

/// A runtime in the form that hyper uses.
#[derive(Clone)]
pub(crate) struct Hyper(pub(crate) RuntimeHandle);

impl Hyper {
    /// The moment on the clock of the runtime, which counts whole milliseconds: never before it.
    fn moment(&self, moment: std::time::Instant) -> Instant {
        let ahead = moment.saturating_duration_since(std::time::Instant::now());
        self.0.now() + ahead + Duration::from_millis(1)
    }
}

impl hyper::rt::Timer for Hyper {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(Sleep::after(&self.0, duration))
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(Sleep::until(&self.0, self.moment(deadline)))
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn hyper::rt::Sleep>>, deadline: std::time::Instant) {
        match sleep.as_mut().downcast_mut_pin::<Sleep>() {
            Some(sleep) => sleep.get_mut().reset(self.moment(deadline)),
            None => *sleep = self.sleep_until(deadline),
        }
    }
}

impl hyper::rt::Sleep for Sleep {}

impl<F> hyper::rt::Executor<F> for Hyper
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, task: F) {
        self.0.spawn(Box::pin(task));
    }
}
