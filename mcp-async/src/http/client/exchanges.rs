//! The running exchanges: futures inside the future of the connection.

use core::future::poll_fn;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::panic::catch_unwind;
use std::sync::Arc;

use mcp_proto::Instant;
use mcp_proto::client::Failure;

use super::link::{Link, Order, Start};
use super::run_exchange::{HEAD_START, run_exchange};
use super::stream::LINGER;
use crate::connection::{JobWaker, discard};
use crate::runtime::{Sleep, Task};

pub(super) struct Exchanges {
    link: Arc<Link>,
    places: Vec<Place>,
    free: Vec<usize>,
    woken: Vec<u32>,
    /// The time at which [`end_answered`](Exchanges::end_answered) looks at the exchanges of requests, if there are any.
    look: Option<Instant>,
    /// A task waits until nothing runs.
    closing: bool,
    /// The session was lost, with these calls of exchanges that have ended, which the server had begun to answer.
    lost: Option<Vec<u64>>,
}

struct Place {
    running: Option<Running>,
    arm: Arc<JobWaker>,
    waker: Waker,
}

struct Running {
    future: Task,
    /// The request whose answer the application awaits.
    id: Option<u64>,
    /// The other requests of an array.
    others: Vec<u64>,
    epoch: u64,
    /// True if the end of the connection waits for the exchange.
    stays: bool,
    /// The head of its reply has come and refuses nothing, so the server has read the request.
    responded: Arc<AtomicBool>,
    began: Instant,
    /// None of its answers was awaited when it was looked at last.
    answered: bool,
}

impl Running {
    fn ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.id.into_iter().chain(self.others.iter().copied())
    }
}

impl Exchanges {
    pub(super) const fn new(link: Arc<Link>) -> Self {
        Self {
            link,
            places: Vec::new(),
            free: Vec::new(),
            woken: Vec::new(),
            look: None,
            closing: false,
            lost: None,
        }
    }

    /// Does what there is to do; says whether there was anything.
    pub(super) fn work(&mut self) -> bool {
        let mut worked = self.execute_orders();
        self.link.driver_waker.take_woken(&mut self.woken);
        worked |= !self.woken.is_empty();
        for index in core::mem::take(&mut self.woken) {
            self.poll(usize::try_from(index).unwrap_or(usize::MAX));
        }
        worked |= self.execute_orders();
        if self.closing && self.free.len() == self.places.len() {
            self.closing = false;
            self.link.closed();
        }
        worked
    }

    /// SC-10: lets the machine know that the session was lost, before anything else is sent and after all that was received. The calls
    /// that the server has begun to answer end; the others are made again.
    pub(super) fn renew(&mut self) -> bool {
        let Some(mut begun) = self.lost.take() else {
            return false;
        };
        let link = Arc::clone(&self.link);
        let epoch = link.origin(|origin| origin.epoch());
        self.drop_if(|running| {
            let is_lost = running.epoch < epoch && !running.stays;
            if is_lost && running.responded.load(Ordering::Relaxed) {
                begun.extend(running.ids());
            }
            is_lost
        });
        begun.iter().for_each(|id| link.fail(*id, Failure::Broken));
        link.lose_session();
        true
    }

    /// SC-30: ends the exchanges whose answers are not awaited since the last look, because they may have come in other
    /// streams, and this one may stay open for ever. Returns true if it looked.
    pub(super) fn end_answered(&mut self, now: Instant) -> bool {
        if self.look.is_none_or(|look| now < look) {
            return false;
        }
        let (link, mut is_needed) = (Arc::clone(&self.link), false);
        self.drop_if(|running| {
            let has_requests = running.ids().next().is_some();
            let answered = has_requests && !running.ids().any(|id| link.awaits(id));
            let is_over = answered && core::mem::replace(&mut running.answered, answered);
            is_needed |= has_requests && !is_over;
            is_over
        });
        self.look = is_needed.then(|| now + LINGER);
        true
    }

    /// The time at which there is something to do without a wake.
    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.look
    }

    fn execute_orders(&mut self) -> bool {
        let mut worked = false;
        loop {
            let orders = self.link.take_orders();
            if orders.is_empty() {
                return worked;
            }
            worked = true;
            orders.into_iter().for_each(|order| self.execute(order));
        }
    }

    fn execute(&mut self, order: Order) {
        match order {
            Order::Start(start) => self.start(*start),
            Order::Detach(id) => {
                let running = self.places.iter_mut().filter_map(|it| it.running.as_mut());
                for running in running.filter(|running| running.id == Some(id)) {
                    running.id = None;
                }
            }
            Order::Drop(id) => self.drop_if(|running| running.id == Some(id)),
            Order::Cancel(id, told) => self.cancel(id, *told),
            Order::Renew(begun) => self.lost.get_or_insert_default().extend(begun),
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
        let responded = Arc::new(AtomicBool::new(false));
        let (epoch, stays) = (start.exchange.epoch(), start.stays);
        let mut ids = start.exchange.ids();
        let (id, others) = (ids.next(), ids.collect());
        let (link, began) = (Arc::clone(&self.link), self.link.now());
        if id.is_some() {
            self.look.get_or_insert(began + LINGER);
        }
        let carried = run_exchange(link, start, Arc::clone(&responded));
        self.run(Running {
            future: Box::pin(carried),
            id,
            others,
            epoch,
            stays,
            responded,
            began,
            answered: false,
        });
    }

    /// Takes a request back, and lets the server know when it can know of the request.
    fn cancel(&mut self, id: u64, told: Start) {
        let is_carried = |running: &Running| running.ids().any(|own| own == id);
        let carries = |place: &Place| place.running.as_ref().is_some_and(is_carried);
        let index = self.places.iter().position(carries);
        let Some((index, place)) = index.and_then(|at| Some((at, self.places.get_mut(at)?))) else {
            return self.start(told);
        };
        let Some(running) = &place.running else {
            return;
        };
        let (epoch, responded) = (told.exchange.epoch(), Arc::clone(&running.responded));
        let (link, began) = (Arc::clone(&self.link), running.began);
        // The exchange of an array ends with the last request that is awaited.
        let awaits = running.ids().any(|own| self.link.awaits(own));
        let request = place.running.take_if(|_| !awaits);
        if request.is_some() {
            self.free.push(index);
        }
        let request = request.map(|request| request.future);
        let took = take_back(link, request, (began, Arc::clone(&responded)), told);
        self.run(Running {
            future: Box::pin(took),
            id: None,
            others: Vec::new(),
            epoch,
            stays: true,
            responded,
            began: self.link.now(),
            answered: false,
        });
    }

    fn run(&mut self, running: Running) {
        let index = self.free.pop().unwrap_or_else(|| {
            let index = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
            let arm = JobWaker::new(&self.link.driver_waker, index);
            self.places.push(Place {
                running: None,
                waker: Waker::from(Arc::clone(&arm)),
                arm,
            });
            self.places.len() - 1
        });
        if let Some(place) = self.places.get_mut(index) {
            place.running = Some(running);
            self.poll(index);
        }
    }

    fn drop_if(&mut self, mut unwanted: impl FnMut(&mut Running) -> bool) {
        for (index, place) in self.places.iter_mut().enumerate() {
            if let Some(running) = place.running.take_if(&mut unwanted) {
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
                for id in running.ids() {
                    self.link.fail(id, Failure::Broken);
                }
                true
            }
        };
        if over {
            // It is a part of the application as well.
            discard(place.running.take());
            self.free.push(index);
        }
    }
}

/// SC-14, CN-07: exchanges do not wait for each other, and a server that receives a cancellation
/// before the request ignores it. So the request continues until the head of its reply has
/// arrived, or for as long as a request needs to arrive anywhere: some servers send no head
/// before the answer.
async fn take_back(
    link: Arc<Link>,
    mut request: Option<Task>,
    (began, responded): (Instant, Arc<AtomicBool>),
    told: Start,
) {
    let mut start = Sleep::until(link.runtime(), began + HEAD_START);
    poll_fn(|cx| {
        let responded = || responded.load(Ordering::Relaxed);
        let mut is_over = || {
            request
                .as_mut()
                .is_some_and(|request| request.as_mut().poll(cx).is_ready())
        };
        if responded() || is_over() || responded() {
            return Poll::Ready(());
        }
        start.poll_done(cx)
    })
    .await;
    discard(request);
    // A session that is gone knows of no request.
    if told.exchange.epoch() == link.origin(|origin| origin.epoch()) {
        run_exchange(link, told, responded).await;
    }
}
