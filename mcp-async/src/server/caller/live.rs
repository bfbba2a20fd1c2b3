//! The open connections.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use super::peer::WeakPeer;
use crate::server::Peer;
use crate::shrink::shrink;

/// Connections in the order in which they began, each once. Those that say so are taken out when
/// they end; the others are looked for now and then.
#[derive(Default)]
pub(crate) struct Live {
    peers: BTreeMap<u64, WeakPeer>,
    /// By address, which is unique as long as it is registered.
    known: HashMap<usize, u64>,
    next: u64,
    sweep_at: usize,
}

impl Live {
    pub(crate) fn add(&mut self, peer: &Peer) {
        if self.peers.len() >= self.sweep_at {
            self.peers.retain(|_, peer| peer.is_alive());
            let peers = &self.peers;
            self.known.retain(|_, number| peers.contains_key(number));
            // Then room for as many again: what a sweep costs, each of them shares.
            self.sweep_at = self.peers.len().saturating_mul(2).max(16);
        }
        let peer = peer.downgrade();
        let number = self.next;
        if let Entry::Vacant(place) = self.known.entry(peer.address()) {
            place.insert(number);
            self.peers.insert(number, peer);
            self.next = self.next.saturating_add(1);
        }
    }

    /// It has ended.
    pub(crate) fn remove(&mut self, peer: &Peer) {
        if let Some(number) = self.known.remove(&peer.downgrade().address()) {
            self.peers.remove(&number);
        }
        shrink(&mut self.known);
        self.sweep_at = self
            .sweep_at
            .min(self.peers.len().saturating_mul(2).max(16));
    }

    pub(crate) fn peers(&self) -> Vec<Peer> {
        self.peers.values().filter_map(WeakPeer::upgrade).collect()
    }
}
