//! Values of any type, one of each.

use core::any::Any;
use std::sync::Arc;

/// Values by their types. Empty, it takes one word and no allocation; a clone shares the values.
#[derive(Clone, Default)]
pub(crate) struct Values(Option<Arc<Vec<Value>>>);

type Value = Arc<dyn Any + Send + Sync>;

impl Values {
    /// Adds a value, in place of one of the same type.
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.insert_shared(Arc::new(value));
    }

    /// Adds a value that is shared, in place of one of the same type.
    pub(crate) fn insert_shared<T: Send + Sync + 'static>(&mut self, value: Arc<T>) {
        let values = Arc::make_mut(self.0.get_or_insert_default());
        let value: Value = value;
        match values.iter_mut().find(|known| known.is::<T>()) {
            Some(place) => *place = value,
            None => values.push(value),
        }
    }

    /// Returns a handle of the value of this type.
    pub(crate) fn get_shared<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let mut values = self.0.as_ref()?.iter();
        values.find_map(|value| Arc::clone(value).downcast().ok())
    }

    /// Returns how many values there are.
    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |values| values.len())
    }

    /// Returns the value of this type.
    pub(crate) fn get<T: 'static>(&self) -> Option<&T> {
        let mut values = self.0.as_ref()?.iter();
        values.find_map(|value| value.downcast_ref())
    }
}
