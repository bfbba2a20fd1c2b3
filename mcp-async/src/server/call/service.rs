//! The service that answers the calls of a connection.

use core::fmt;
use core::future::Future;
use std::sync::Arc;

use mcp_proto::json::{Object, Raw, RawBuf};
use mcp_proto::rpc::Method;
use mcp_proto::server::{Initialize, RequestContext as Request};

use super::answering::Answering;
use super::context::CallContext;
use super::listen::Listen;
use super::reply::Reply;
use crate::connection::Progress;
use crate::connection::{Frame, Job, keep};
use crate::server::caller::lookup::Lookup;
use crate::server::caller::peer::Peer;

/// The service of one connection, whatever layers are around it.
pub type BoxService = Box<dyn Service>;

/// Puts a layer around what serves a connection.
pub(in crate::server) type Wrap = Arc<dyn Fn(BoxService) -> BoxService + Send + Sync>;

/// Answers calls: the low-level seam on which routers of typed handlers stand.
///
/// The connection calls these methods one at a time and without any lock held. A panic in one
/// of them, or in a job, is caught and answered as an internal error (-32603) that tells
/// nothing of it.
///
/// ```
/// use mcp_async::ErrorReply;
/// use mcp_async::Job;
/// use mcp_async::server::{Call, Service};
/// use mcp_async::Method;
///
/// struct Echo;
///
/// impl Service for Echo {
///     fn call(&self, call: Call<'_>) -> Job {
///         match call.method {
///             // What the future needs is copied out here; it outlives the message.
///             Method::ToolsCall => {
///                 let arguments = mcp_proto::json::RawBuf::from(call.params.as_raw());
///                 call.answer(async move { Ok(arguments) })
///             }
///             _ => call.refuse(ErrorReply::method_not_found()),
///         }
///     }
/// }
/// ```
pub trait Service: Send + 'static {
    /// Begins a call. Decode what is needed from the borrowed parameters here, and return the
    /// rest as a future.
    fn call(&self, call: Call<'_>) -> Job;

    /// A legacy session was opened by this `initialize`, which is answered: what the client said
    /// of itself. The server itself may speak from [`listening`](Self::listening) on.
    fn handshake(&self, peer: &Peer, opened: &Initialize<'_>) {
        let _ = (peer, opened);
    }

    /// Returns true if the service makes and checks its request states of 2026-07-28 by itself, in
    /// [`Settled::Input`](crate::server::Settled::Input). By default it does not: then every `requestState`
    /// has to be one that [`CallContext`]'s questions made, sealed for this very call, and anything
    /// else is refused before [`call`](Self::call). With states of its own a service cannot
    /// ask by those questions in 2026-07-28.
    ///
    /// Asked once, when a connection begins.
    fn seals_state(&self) -> bool {
        false
    }

    /// The client said that its legacy session is open, or opened a modern subscription; from
    /// now on list changes and resource updates reach it.
    fn listening(&self, peer: &Peer) {
        let _ = peer;
    }

    /// A client opens a subscription whose filter has keys of the application, which are declared
    /// by [`ServerConfig::filters`](mcp_proto::server::ServerConfig::filters). By default none of
    /// their values is accepted.
    fn listen(&self, listen: Listen<'_>) -> Job {
        listen.answer(core::future::ready(Ok(Vec::new())))
    }

    /// A notification that is not the protocol layer's own business.
    fn notified(&self, peer: &Peer, method: Method<'_>, params: Object<'_>) {
        let _ = (peer, method, params);
    }

    /// The client tells how far a question of ours is, the one with this
    /// [tag](crate::server::Ask::tag).
    fn progress(&self, peer: &Peer, tag: u64, progress: Progress<'_>) {
        let _ = (peer, tag, progress);
    }

    /// The client left so many of our regular pings in a row unanswered. At the limit
    /// the connection ends.
    fn ping_missed(&self, peer: &Peer, misses: u32, limit: u32) {
        let _ = (peer, misses, limit);
    }
}

/// Implements [`Service`] for pointers to one.
macro_rules! pointers {
    ($($pointer:ident: $($bound:ident)*;)*) => {$(
        impl<S: Service $(+ $bound)* + ?Sized> Service for $pointer<S> {
            fn call(&self, call: Call<'_>) -> Job {
                (**self).call(call)
            }

            fn seals_state(&self) -> bool {
                (**self).seals_state()
            }

            fn handshake(&self, peer: &Peer, opened: &Initialize<'_>) {
                (**self).handshake(peer, opened);
            }

            fn listening(&self, peer: &Peer) {
                (**self).listening(peer);
            }

            fn listen(&self, listen: Listen<'_>) -> Job {
                (**self).listen(listen)
            }

            fn notified(&self, peer: &Peer, method: Method<'_>, params: Object<'_>) {
                (**self).notified(peer, method, params);
            }

            fn progress(&self, peer: &Peer, tag: u64, progress: Progress<'_>) {
                (**self).progress(peer, tag, progress);
            }

            fn ping_missed(&self, peer: &Peer, misses: u32, limit: u32) {
                (**self).ping_missed(peer, misses, limit);
            }
        }
    )*};
}

pointers! {
    Arc: Sync;
    Box: ;
}

/// A [`Service`] made of one function.
pub const fn service_fn<F>(function: F) -> ServiceFn<F>
where
    F: Fn(Call<'_>) -> Job + Send + 'static,
{
    ServiceFn(function)
}

/// The service that [`service_fn`] makes.
#[derive(Clone, Copy)]
pub struct ServiceFn<F>(F);

impl<F> fmt::Debug for ServiceFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServiceFn")
    }
}

impl<F: Fn(Call<'_>) -> Job + Send + 'static> Service for ServiceFn<F> {
    fn call(&self, call: Call<'_>) -> Job {
        (self.0)(call)
    }
}

/// A request to be answered. It borrows from the input, so it lives only for this call.
pub struct Call<'b> {
    /// The method.
    pub method: Method<'b>,
    /// The parameters; the empty object if it has none.
    pub params: Object<'b>,
    /// The parts of the request that the protocol layer has read. A layer that replaces the parameters
    /// replaces these, too, in a copy:
    ///
    /// ```
    /// use mcp_async::server::layers::around;
    ///
    /// let without_logs = around(|call, service| {
    ///     let mut request = *call.request;
    ///     request.log_level = None;
    ///     let mut call = call;
    ///     call.request = &request;
    ///     service.call(call)
    /// });
    /// # let _ = mcp_async::Server::builder("demo", "1.0").layer(without_logs);
    /// ```
    pub request: &'b Request<'b>,
    /// The context of the call, which its job takes.
    pub(in crate::server) context: &'b mut CallContext,
    pub(in crate::server) frame: Frame<'b>,
    /// The lookup of the tool or method that the call names, for layers that ask for it.
    pub(in crate::server) lookup: Option<&'b dyn Lookup>,
}

/// Without parameters, which are not for logs.
impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

impl Call<'_> {
    /// An own copy of a part of the message, for a future that outlives it. From 64 KiB on
    /// nothing is copied: the part keeps the bytes that were read.
    ///
    /// ```
    /// use mcp_async::server::service_fn;
    ///
    /// let echo = service_fn(|call| {
    ///     let arguments = call.keep(call.params.get("arguments").unwrap_or_default());
    ///     call.answer(async move { Ok(arguments) })
    /// });
    /// # let _ = echo;
    /// ```
    pub fn keep(&self, part: Raw<'_>) -> RawBuf {
        keep(part, self.frame)
    }

    /// The handle of this call: progress, logs, questions. Clone it into the future.
    pub const fn context(&self) -> &CallContext {
        self.context
    }

    /// Adds a value for the handler, which finds it by
    /// [`CallContext::extension`]; it takes the place of one of the same type.
    ///
    /// ```
    /// use mcp_async::server::layers::around;
    ///
    /// struct Tenant(u32);
    ///
    /// let tenants = around(|mut call, service| {
    ///     call.set_extension(Tenant(7));
    ///     service.call(call)
    /// });
    /// # let _ = mcp_async::Server::builder("demo", "1.0").layer(tenants);
    /// ```
    pub fn set_extension<T: Send + Sync + 'static>(&mut self, value: T) {
        self.context.extensions.insert(value);
    }

    /// Answers with the output of the future.
    pub fn answer<R: Reply>(self, future: impl Future<Output = R> + Send + 'static) -> Job {
        Job::from_future(Answering::new(self.context.begin(), future))
    }

    /// Answers with this.
    pub fn ready<R: Reply>(self, reply: R) -> Job {
        self.answer(core::future::ready(reply)).ready()
    }

    /// Answers with an error.
    pub fn refuse(self, error: crate::error::ErrorReply) -> Job {
        self.ready(Err::<(), _>(error))
    }
}
