//! The future of a callback.

use core::future::Future;
use core::pin::Pin;

/// The boxed future that a callback returns.
pub(crate) type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;
