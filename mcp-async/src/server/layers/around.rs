//! A layer made of a function.

use core::fmt;

use tower_layer::Layer;

use super::{Around, Layered};
use crate::connection::Job;
use crate::server::{Call, Service};

/// A layer that hands each call to this function, together with the service that would have
/// had it.
///
/// ```
/// use mcp_async::ErrorReply;
/// use mcp_async::server::{layers, service_fn};
/// use mcp_async::Revision;
/// use tower_layer::Layer;
///
/// let recent = layers::around(|call, service| {
///     if call.request.revision == Revision::V2024_11_05 {
///         return call.refuse(ErrorReply::new(-1, "please update"));
///     }
///     service.call(call)
/// });
/// let service = recent.layer(service_fn(|call| call.ready(Ok(()))));
/// # let _ = service;
/// ```
pub const fn around<F>(function: F) -> AroundFn<F>
where
    F: Fn(Call<'_>, &dyn Service) -> Job + Clone + Send + 'static,
{
    AroundFn(function)
}

/// The layer that [`around`] makes.
#[derive(Clone, Copy)]
pub struct AroundFn<F>(F);

impl<F> Around for AroundFn<F>
where
    F: Fn(Call<'_>, &dyn Service) -> Job + Send + 'static,
{
    fn call(&self, call: Call<'_>, service: &dyn Service) -> Job {
        (self.0)(call, service)
    }
}

impl<F: Clone, S> Layer<S> for AroundFn<F> {
    type Service = Layered<Self, S>;

    fn layer(&self, inner: S) -> Self::Service {
        Layered::new(self.clone(), inner)
    }
}

impl<F> fmt::Debug for AroundFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AroundFn")
    }
}
