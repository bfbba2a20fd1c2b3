use std::collections::HashSet;

use super::atom::{Atom, Named, Run};
use super::captures::Captures;
use super::parse::Modifier;
use super::percent;
use super::text::Text;
use super::value::Value;

/// The longest URI that [`UriTemplate::matches`](super::UriTemplate::matches) looks at, in bytes.
pub const MAX_URI_LENGTH: usize = 65_536;

/// Matches without backtracking: once backwards, which step can start where and reach the end;
/// then once forwards, where each variable ends as early as the rest can still match.
pub(super) fn matches(atoms: &[Atom], uri: &str) -> Option<Captures> {
    if uri.len() > MAX_URI_LENGTH {
        return None;
    }
    if let Some(Atom::Literal(literal)) = atoms.first() {
        uri.strip_prefix(literal.as_str())?;
    }
    let text = Text::new(uri);
    let mut rows = vec![Row::default(); atoms.len()];
    let mut end = Row::new(uri.len());
    end.enter.set(uri.len());
    rows.push(end);
    for (index, atom) in atoms.iter().enumerate().rev() {
        let row = Row::fill(atom, &text, rows.get(index + 1)?, |index| rows.get(index));
        *rows.get_mut(index)? = row;
    }
    rows.first()?.enter.has(0).then_some(())?;
    collect(atoms, &text, &rows)
}

/// Walks forwards along what is known to reach the end.
fn collect(atoms: &[Atom], text: &Text<'_>, rows: &[Row]) -> Option<Captures> {
    let mut captures = Captures::default();
    let (mut index, mut at) = (0, 0);
    while let Some(atom) = atoms.get(index) {
        let next = rows.get(index + 1)?;
        index += 1;
        match atom {
            Atom::Literal(literal) => at += literal.len(),
            Atom::Optional { byte, otherwise } => {
                if text.byte(at) == Some(*byte) && next.enter.has(at + 1) {
                    at += 1;
                } else {
                    index = *otherwise;
                }
            }
            Atom::Run(run) => {
                let from = at;
                if !run.may_be_empty() {
                    at = text.step(run, at)?;
                }
                while !next.enter.has(at) {
                    at = text.step(run, at)?;
                }
                capture(&mut captures, run, text.slice(from, at)?)?;
            }
            Atom::Named(named) => {
                let pairs = &rows.get(index - 1)?.pairs;
                if text.byte(at) == Some(named.first) && pairs.has(at + 1) {
                    at = capture_named(&mut captures, named, text, pairs, at + 1)?;
                }
            }
        }
    }
    Some(captures)
}

fn capture(captures: &mut Captures, run: &Run, text: &str) -> Option<()> {
    let reserved = run.operator.reserved();
    let name = &run.variable.name;
    let limit = match run.variable.modifier {
        Modifier::None => None,
        Modifier::Prefix(limit) => Some(usize::from(limit)),
        Modifier::Explode => {
            let separator = char::from(run.operator.separator());
            let value = if text.split(separator).any(|item| item.contains('=')) {
                let pairs = text.split(separator).map(|item| item.split_once('='));
                map(pairs, reserved)?
            } else {
                list(text.split(separator), reserved)?
            };
            return captures.add(name, value, None);
        }
    };
    captures.add(name, Value::String(decode(text, reserved)?), limit)
}

/// Captures the pairs from `at` on and tells where they end.
fn capture_named(
    captures: &mut Captures,
    named: &Named,
    text: &Text<'_>,
    pairs: &Bits,
    mut at: usize,
) -> Option<usize> {
    let mut found = Vec::new();
    loop {
        let pair = text.pair(named, at)?;
        at = pair.end;
        found.push(pair);
        if text.byte(at) == Some(named.operator.separator()) && pairs.has(at + 1) {
            at += 1;
        } else {
            break;
        }
    }
    for variable in &named.variables {
        let own = || {
            found
                .iter()
                .filter(|pair| core::ptr::eq(pair.variable, variable))
        };
        let limit = match variable.modifier {
            Modifier::None => None,
            Modifier::Prefix(limit) => Some(usize::from(limit)),
            Modifier::Explode if own().next().is_none() => continue,
            Modifier::Explode => {
                let value = if own().all(|pair| pair.key == variable.name) {
                    list(own().map(|pair| pair.value), false)?
                } else {
                    map(own().map(|pair| Some((pair.key, pair.value))), false)?
                };
                captures.add(&variable.name, value, None)?;
                continue;
            }
        };
        let mut own = own();
        if let Some(pair) = own.next() {
            captures.add(
                &variable.name,
                Value::String(decode(pair.value, false)?),
                limit,
            )?;
        }
        own.next().is_none().then_some(())?;
    }
    Some(at)
}

fn list<'t>(items: impl Iterator<Item = &'t str>, reserved: bool) -> Option<Value> {
    items
        .map(|item| decode(item, reserved))
        .collect::<Option<_>>()
        .map(Value::List)
}

/// A map of pairs that all have a name, each another one.
fn map<'t>(
    pairs: impl Iterator<Item = Option<(&'t str, &'t str)>>,
    reserved: bool,
) -> Option<Value> {
    let mut names = HashSet::new();
    let mut members = Vec::new();
    for pair in pairs {
        let (key, value) = pair?;
        if !reserved && value.contains('=') {
            return None;
        }
        let (key, value) = (decode(key, reserved)?, decode(value, reserved)?);
        if key.is_empty() || !names.insert(key.clone()) {
            return None;
        }
        members.push((key, value));
    }
    Some(Value::Map(members))
}

/// The decoded text, unless a segment of it leads elsewhere in a path, or a NUL would end it early
/// wherever names are C strings.
fn decode(text: &str, reserved: bool) -> Option<String> {
    let leads_elsewhere = |text: &String| {
        let mut segments = text.split(['/', '\\']);
        segments.any(|segment| matches!(segment, "." | ".."))
    };
    percent::decode(text)
        .filter(|text| !text.contains('\0') && (reserved || !leads_elsewhere(text)))
}

/// From which bytes of the URI a step reaches the end.
#[derive(Clone, Debug, Default)]
struct Row {
    enter: Bits,
    /// The bytes from which the pairs of a named expression reach the end.
    pairs: Bits,
}

impl Row {
    fn new(length: usize) -> Self {
        Self {
            enter: Bits::new(length),
            pairs: Bits::default(),
        }
    }

    fn fill<'r>(
        atom: &Atom,
        text: &Text<'_>,
        next: &Self,
        row: impl Fn(usize) -> Option<&'r Self>,
    ) -> Self {
        let length = text.uri.len();
        let mut this = Self::new(length);
        match atom {
            Atom::Literal(literal) => {
                let (bytes, literal) = (text.uri.as_bytes(), literal.as_bytes());
                for at in 0..=length {
                    if next.enter.has(at + literal.len())
                        && bytes
                            .get(at..)
                            .is_some_and(|rest| rest.starts_with(literal))
                    {
                        this.enter.set(at);
                    }
                }
            }
            Atom::Optional { byte, otherwise } => {
                let otherwise = row(*otherwise);
                for at in 0..=length {
                    let taken = text.byte(at) == Some(*byte) && next.enter.has(at + 1);
                    if taken || otherwise.is_some_and(|row| row.enter.has(at)) {
                        this.enter.set(at);
                    }
                }
            }
            Atom::Run(run) => this.fill_run(run, text, next),
            Atom::Named(named) => this.fill_named(named, text, next),
        }
        this
    }

    fn fill_run(&mut self, run: &Run, text: &Text<'_>, next: &Self) {
        let limit = match run.variable.modifier {
            Modifier::Prefix(limit) => usize::from(limit),
            Modifier::None | Modifier::Explode => MAX_URI_LENGTH,
        };
        // The number of units between each byte and the nearest place to continue from.
        let mut distances = vec![None; text.uri.len() + 1];
        for at in (0..=text.uri.len()).rev() {
            let further = text
                .step(run, at)
                .and_then(|end| distances.get(end).copied().flatten())
                .map(|distance: usize| distance + 1);
            let distance = if next.enter.has(at) { Some(0) } else { further };
            let entered = if run.may_be_empty() {
                distance
            } else {
                further
            };
            if entered.is_some_and(|distance| distance <= limit) {
                self.enter.set(at);
            }
            if let Some(slot) = distances.get_mut(at) {
                *slot = distance;
            }
        }
    }

    fn fill_named(&mut self, named: &Named, text: &Text<'_>, next: &Self) {
        let length = text.uri.len();
        let separator = named.operator.separator();
        self.pairs = Bits::new(length);
        for at in (0..=length).rev() {
            let first = text.byte(at) == Some(named.first);
            if first || text.byte(at) == Some(separator) {
                let reaches = text.pair(named, at + 1).is_some_and(|pair| {
                    let goes_on =
                        text.byte(pair.end) == Some(separator) && self.pairs.has(pair.end + 1);
                    goes_on || next.enter.has(pair.end)
                });
                if reaches {
                    self.pairs.set(at + 1);
                }
            }
            if next.enter.has(at) || first && self.pairs.has(at + 1) {
                self.enter.set(at);
            }
        }
    }
}

/// A set of positions.
#[derive(Clone, Debug, Default)]
struct Bits {
    words: Vec<u64>,
}

impl Bits {
    fn new(last: usize) -> Self {
        Self {
            words: vec![0; last / 64 + 1],
        }
    }

    fn has(&self, at: usize) -> bool {
        self.words
            .get(at / 64)
            .is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn set(&mut self, at: usize) {
        if let Some(word) = self.words.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }
}
