//! The future of a callback.

use core::future::Future;
use core::pin::Pin;

/// What a callback returns, in a box.
pub(crate) type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;
