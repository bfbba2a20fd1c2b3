use super::atom::{Named, Run};
use super::operator::Operator;
use super::parse::{Modifier, Variable};
use super::percent::Unit;

/// A URI, each position of it read once.
pub(super) struct Text<'u> {
    pub(super) uri: &'u str,
    /// The unit that starts at each byte.
    units: Vec<Unit>,
    /// The end of the run of plain units from each byte.
    plain_ends: Vec<usize>,
    /// The end of the run of plain units and encoded path separators from each byte.
    encoded_ends: Vec<usize>,
}

/// A name with its value within a URI.
pub(super) struct Pair<'n, 'u> {
    pub(super) variable: &'n Variable,
    pub(super) key: &'u str,
    pub(super) value: &'u str,
    pub(super) end: usize,
}

impl<'u> Text<'u> {
    pub(super) fn new(uri: &'u str) -> Self {
        let bytes = uri.as_bytes();
        let units: Vec<_> = (0..bytes.len())
            .map(|at| Unit::read(bytes.get(at..).unwrap_or_default()))
            .collect();
        let ends = |takes: fn(Unit) -> Option<usize>| {
            let mut ends: Vec<_> = (0..=bytes.len()).collect();
            for (at, unit) in units.iter().enumerate().rev() {
                if let Some(length) = takes(*unit) {
                    let end = ends.get(at + length).copied().unwrap_or(at);
                    if let Some(slot) = ends.get_mut(at) {
                        *slot = end;
                    }
                }
            }
            ends
        };
        let plain_ends = ends(Unit::plain);
        let encoded_ends = ends(Unit::encoded);
        Self {
            uri,
            units,
            plain_ends,
            encoded_ends,
        }
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.uri.as_bytes().get(at).copied()
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> Option<&'u str> {
        self.uri.get(from..to)
    }

    /// Returns the end of the unit at `at`, if the run takes it.
    pub(super) fn step(&self, run: &Run, at: usize) -> Option<usize> {
        match self.units.get(at)? {
            Unit::Plain(length) => Some(at + length),
            Unit::Reserved(length) if run.operator.reserved() => Some(at + length),
            Unit::Reserved(1) if run.exploded() => {
                let byte = self.byte(at)?;
                (byte == b'=' || byte == run.operator.separator()).then_some(at + 1)
            }
            Unit::Reserved(_) | Unit::Invalid => None,
        }
    }

    /// The pair at `at`, if one of the variables takes it.
    pub(super) fn pair<'n>(&self, named: &'n Named, at: usize) -> Option<Pair<'n, 'u>> {
        let key_end = self.plain_end(at);
        let key = self.slice(at, key_end).filter(|key| !key.is_empty())?;
        let exploded = |variable: &&Variable| variable.modifier == Modifier::Explode;
        let variable = (named.variables.iter().find(|variable| variable.name == key))
            .or_else(|| named.variables.iter().find(exploded))?;
        let keeps_equals = named.operator.equals_when_empty();
        let (value, end) = if self.byte(key_end) == Some(b'=') {
            let end = self.value_end(named, key_end + 1);
            let value = self.slice(key_end + 1, end)?;
            (keeps_equals || !value.is_empty()).then_some((value, end))?
        } else {
            (!keeps_equals).then_some(("", key_end))?
        };
        if let Modifier::Prefix(limit) = variable.modifier {
            let mut from = end - value.len();
            for _ in 0..limit {
                match self.units.get(from).and_then(|unit| unit.encoded()) {
                    Some(length) if from < end => from += length,
                    _ => break,
                }
            }
            (from == end).then_some(())?;
        }
        Some(Pair {
            variable,
            key,
            value,
            end,
        })
    }

    /// Returns the end of the value of a pair. A `/` separates nothing in a query, so that encoded it
    /// is a character like others there.
    fn value_end(&self, named: &Named, at: usize) -> usize {
        let ends = match named.operator {
            Operator::Query | Operator::Continuation => &self.encoded_ends,
            _ => &self.plain_ends,
        };
        ends.get(at).copied().unwrap_or(at)
    }

    fn plain_end(&self, at: usize) -> usize {
        self.plain_ends.get(at).copied().unwrap_or(at)
    }
}
