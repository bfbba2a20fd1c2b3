//! One poll of a task that other tasks give work to.

use core::task::{Context, Poll};

/// The work that a task does whenever it is woken.
pub(crate) trait Work {
    type Output;

    /// A poll begins: what leaves work for the task need not wake it.
    fn begin(&mut self, cx: &Context<'_>);

    /// From now on what leaves work for the task has to wake it.
    fn rest(&mut self);

    /// Does what there is to do now.
    fn work(&mut self, cx: &mut Context<'_>) -> Worked<Self::Output>;

    /// Waits for time to pass, when there is nothing to do and work that is left from now on wakes
    /// the task. Ready when the time has come already.
    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}

/// The outcome of a turn of work.
pub(crate) enum Worked<T> {
    /// Some was done: there may be more by now.
    Some,
    /// There is none.
    None,
    /// There is more, but other tasks of the thread have waited long enough.
    Enough,
    /// There will be none any more.
    Over(T),
}

/// Works until there is nothing to do, and makes sure that the task is woken when there is.
///
/// The order matters: work that is left before [`Work::rest`] does not wake the task, so it is
/// looked for once more after it.
pub(crate) fn poll_work<W: Work>(task: &mut W, cx: &mut Context<'_>) -> Poll<W::Output> {
    task.begin(cx);
    let mut resting = false;
    loop {
        match task.work(cx) {
            Worked::Some => {}
            Worked::None if !resting => {
                task.rest();
                resting = true;
            }
            Worked::None => {
                if task.poll_rest(cx).is_pending() {
                    return Poll::Pending;
                }
            }
            Worked::Enough => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Worked::Over(output) => return Poll::Ready(output),
        }
    }
}
