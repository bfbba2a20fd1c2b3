//! The client over HTTP against a server that says what a script tells it to, exchange by
//! exchange, on a clock that moves when nothing else does.

mod batches;
mod draft;
mod hostile;
mod interplay;
mod legacy;
mod modern;
mod nonsense;
mod observed;
mod openings;
mod sessions;
mod streams;
