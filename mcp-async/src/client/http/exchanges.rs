//! The exchanges that run: futures in the connection's own.

use core::panic::AssertUnwindSafe;
use core::task::{Context, Waker};
use std::panic::catch_unwind;
use std::sync::Arc;

use super::carry::carry;
use super::link::{Link, Order, Start};
use crate::alarm::JobWaker;
use crate::clock::Clock;
use crate::job::discard;
use crate::runtime::Task;

pub(super) struct Exchanges<C> {
    link: Arc<Link>,
    clock: Arc<C>,
    places: Vec<Place>,
    free: Vec<usize>,
    woken: Vec<u32>,
    /// Somebody waits until nothing runs any more.
    closing: bool,
}

struct Place {
    running: Option<Running>,
    arm: Arc<JobWaker>,
    waker: Waker,
}

struct Running {
    future: Task,
    id: Option<u64>,
    epoch: u64,
    /// Whether it is worth waiting for at the end.
    stays: bool,
}

impl<C: Clock> Exchanges<C> {
    pub(super) const fn new(link: Arc<Link>, clock: Arc<C>) -> Self {
        Self {
            link,
            clock,
            places: Vec::new(),
            free: Vec::new(),
            woken: Vec::new(),
            closing: false,
        }
    }

    /// Does what there is to do; says whether there was anything.
    pub(super) fn work(&mut self) -> bool {
        let orders = self.link.take_orders();
        let mut worked = !orders.is_empty();
        for order in orders {
            self.obey(order);
        }
        self.link.alarm.take_woken(&mut self.woken);
        worked |= !self.woken.is_empty();
        for index in core::mem::take(&mut self.woken) {
            self.poll(usize::try_from(index).unwrap_or(usize::MAX));
        }
        if self.closing && self.free.len() == self.places.len() {
            self.closing = false;
            self.link.closed();
        }
        worked
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Start(start) => self.start(*start),
            Order::Drop(id) => self.drop_if(|running| running.id == Some(id)),
            Order::Renew(epoch) => {
                self.drop_if(|running| running.epoch < epoch && !running.stays);
            }
            Order::Close(end) => {
                self.drop_if(|running| !running.stays);
                if let Some(end) = end {
                    self.start(*end);
                }
                self.closing = true;
            }
        }
    }

    fn start(&mut self, start: Start) {
        let index = self.free.pop().unwrap_or_else(|| {
            let index = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
            let arm = JobWaker::new(&self.link.alarm, index);
            self.places.push(Place {
                running: None,
                waker: Waker::from(Arc::clone(&arm)),
                arm,
            });
            self.places.len() - 1
        });
        let Some(place) = self.places.get_mut(index) else {
            return;
        };
        let (id, epoch, stays) = (start.exchange.id(), start.exchange.epoch(), start.stays);
        let carried = carry(Arc::clone(&self.link), Arc::clone(&self.clock), start);
        place.running = Some(Running {
            future: Box::pin(carried),
            id,
            epoch,
            stays,
        });
        self.poll(index);
    }

    fn drop_if(&mut self, unwanted: impl Fn(&Running) -> bool) {
        for (index, place) in self.places.iter_mut().enumerate() {
            if let Some(running) = place.running.take_if(|running| unwanted(running)) {
                discard(running.future);
                self.free.push(index);
            }
        }
    }

    fn poll(&mut self, index: usize) {
        let Some(place) = self.places.get_mut(index) else {
            return;
        };
        place.arm.rearm();
        let Some(running) = &mut place.running else {
            return;
        };
        let cx = &mut Context::from_waker(&place.waker);
        let future = &mut running.future;
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
        let over = match polled {
            Ok(polled) => polled.is_ready(),
            // A carrier of the application's own; its call is not left waiting.
            Err(panic) => {
                discard(panic);
                if let Some(id) = running.id {
                    self.link.fail(id, mcp_proto::client::Failure::Broken);
                }
                true
            }
        };
        if over {
            place.running = None;
            self.free.push(index);
        }
    }
}
