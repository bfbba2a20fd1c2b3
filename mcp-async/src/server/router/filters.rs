//! Judges the keys of a filter.

use super::Router;
use crate::connection::Job;
use crate::server::call::listen::Listen;

impl Router {
    /// Acknowledges a subscription with what the extensions accept of it, or refuses it with the
    /// first error.
    pub(super) fn judge(&self, listen: Listen<'_>) -> Job {
        let filters = self.settings.filters.iter();
        let judging: Vec<_> = filters
            .filter_map(|filter| {
                let value = listen.filter.get(&filter.key)?;
                Some((filter.key.clone(), filter.begin(value, listen.subscriber())))
            })
            .collect();
        listen.answer(async move {
            let mut accepted = Vec::new();
            for (key, judged) in judging {
                match judged.await {
                    Ok(Some(value)) => accepted.push((key, value)),
                    Ok(None) => {}
                    Err(error) => return Err(error.settle(None).into_reply()),
                }
            }
            Ok(accepted)
        })
    }
}
