extern crate std;

use super::*;
use crate::store::Store;
use std::collections::BTreeMap;
use std::vec::Vec;

type Fixed = Slots<u32, Arrays<u32, 4>>;

fn fixed() -> Fixed {
    Slots::new(arrays(), 100)
}

#[test]
fn a_token_of_the_past_names_nobody() {
    let mut slots = fixed();
    let a = slots.insert(7, 70).unwrap();
    assert_eq!(slots.remove(a), Some(70));
    let b = slots.insert(7, 71).unwrap();
    assert_eq!(slots.get(a), None);
    assert_eq!(slots.remove(a), None);
    assert_eq!(slots.get(b), Some(&71));
    assert_eq!(slots.find(7, |v| *v == 71), Some(b));
}

#[test]
fn full_is_said_and_leaves_no_trace() {
    let mut slots = fixed();
    let tokens: Vec<_> = (0..4).map(|n| slots.insert(n, n).unwrap()).collect();
    assert_eq!(slots.insert(9, 9), Err(Full));
    slots.remove(tokens[2]);
    assert!(slots.insert(9, 9).is_ok());
    assert_eq!(slots.len(), 4);
}

#[test]
fn the_limit_binds_also_where_the_storage_is_longer() {
    let mut slots = Slots::<u32, _>::new(arrays::<_, 4>(), 2);
    assert!(slots.insert(0, 0).is_ok());
    assert!(slots.insert(1, 1).is_ok());
    assert_eq!(slots.insert(2, 2), Err(Full));
}

#[test]
fn queues_keep_their_order_and_forget_what_is_removed() {
    let mut slots = fixed();
    let [a, b, c] = [0, 1, 2].map(|n| slots.insert(n, n).unwrap());
    for token in [b, a, c, b] {
        slots.mark(Queue::Transmit, token);
    }
    slots.mark(Queue::Event, c);
    slots.remove(a);
    assert_eq!(slots.first(Queue::Transmit), Some(b));
    slots.unmark(Queue::Transmit, b);
    assert_eq!(slots.first(Queue::Transmit), Some(c));
    slots.remove(c);
    assert_eq!(slots.first(Queue::Transmit), None);
    assert_eq!(slots.first(Queue::Event), None);
}

#[derive(Clone, Debug)]
enum Operation {
    Insert(u32),
    Remove(usize),
    Arm(usize, u64),
    Disarm(usize),
    Due(u64),
    Rename(usize, u32),
}

/// The table beside an ordered map, under the same operations.
fn check(operations: &[Operation]) {
    let mut slots = Slots::new((Growing(Vec::new()), Growing(Vec::new())), 50);
    let mut model: BTreeMap<u32, (Key, u32, Option<Instant>)> = BTreeMap::new();
    let mut counter = 0;
    for operation in operations {
        let nth = |n: usize| model.keys().nth(n.checked_rem(model.len())?).copied();
        match *operation {
            Operation::Insert(hash) => match slots.insert(hash, counter) {
                Ok(token) => {
                    model.insert(counter, (token, hash, None));
                    counter += 1;
                }
                Err(Full) => assert_eq!(model.len(), 50),
            },
            Operation::Remove(n) => {
                let Some(key) = nth(n) else { continue };
                let (token, ..) = model.remove(&key).unwrap();
                assert_eq!(slots.remove(token), Some(key));
            }
            Operation::Arm(n, at) => {
                let Some(key) = nth(n) else { continue };
                let entry = model.get_mut(&key).unwrap();
                entry.2 = Some(Instant::from_millis(at));
                slots.arm(entry.0, entry.2);
            }
            Operation::Disarm(n) => {
                let Some(key) = nth(n) else { continue };
                let entry = model.get_mut(&key).unwrap();
                entry.2 = None;
                slots.arm(entry.0, None);
            }
            Operation::Due(now) => {
                let now = Instant::from_millis(now);
                while let Some(token) = slots.pop_due(now) {
                    let key = *slots.get(token).unwrap();
                    let armed = model.get_mut(&key).unwrap().2.take();
                    assert!(armed.unwrap() <= now);
                }
                assert!(
                    model
                        .values()
                        .all(|(.., armed)| armed.is_none_or(|at| at > now))
                );
            }
            Operation::Rename(n, hash) => {
                let Some(key) = nth(n) else { continue };
                let entry = model.get_mut(&key).unwrap();
                entry.1 = hash;
                slots.rename(entry.0, hash);
            }
        }
        assert_eq!(slots.len(), model.len());
        assert_eq!(
            slots.next_deadline(),
            model.values().filter_map(|entry| entry.2).min()
        );
        for (key, (token, hash, deadline)) in &model {
            assert_eq!(slots.find(*hash, |value| value == key), Some(*token));
            assert_eq!(slots.deadline(*token), *deadline);
        }
    }
}

/// A storage that grows, as `Vec` does with feature `alloc`.
struct Growing<T>(Vec<T>);

impl<T> AsRef<[T]> for Growing<T> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T> AsMut<[T]> for Growing<T> {
    fn as_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Default> Store<T> for Growing<T> {
    fn grow(&mut self, len: usize) -> bool {
        self.0.resize_with(len.max(self.0.len()), T::default);
        true
    }

    fn max_len(&self) -> usize {
        usize::MAX
    }
}

proptest::proptest! {
    #[test]
    fn behaves_like_an_ordered_map(operations in operations()) {
        check(&operations);
    }
}

fn operations() -> impl proptest::strategy::Strategy<Value = Vec<Operation>> {
    use proptest::prelude::*;
    let one = prop_oneof![
        4 => (0..40u32).prop_map(Operation::Insert),
        2 => any::<usize>().prop_map(Operation::Remove),
        3 => (any::<usize>(), 0..100u64).prop_map(|(n, at)| Operation::Arm(n, at)),
        1 => any::<usize>().prop_map(Operation::Disarm),
        1 => (0..100u64).prop_map(Operation::Due),
        1 => (any::<usize>(), 0..40u32).prop_map(|(n, hash)| Operation::Rename(n, hash)),
    ];
    proptest::collection::vec(one, 0..200)
}
