//! Storage for data that a transport keeps with a client.

use core::any::Any;
use std::sync::OnceLock;

/// A value of a type that the client does not know, made when it is first asked for.
#[derive(Default)]
pub(crate) struct TransportData(OnceLock<Box<dyn Any + Send + Sync>>);

impl TransportData {
    /// The value, shared; `None` if the value that is here is of another type.
    pub(crate) fn get<T: Default + Any + Send + Sync>(&self) -> Option<&T> {
        self.0.get_or_init(|| Box::<T>::default()).downcast_ref()
    }

    /// The value, to be changed; `None` if the value that is here is of another type.
    pub(crate) fn get_mut<T: Default + Any + Send + Sync>(&mut self) -> Option<&mut T> {
        self.get::<T>();
        self.0.get_mut()?.downcast_mut()
    }
}
