//! The cost of checking a value.
//!
//! Nothing here recurses, and every loop pays for its rounds out of a limit.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::map;

use super::graph::{Node, parts};
use super::limits::SchemaLimits;
use super::plan::Plan;

/// The cost of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// The schemas checked against values.
    pub(super) evaluations: u64,
    /// Them, and everything else, in the time that they take.
    pub(super) total: u64,
}

impl Cost {
    /// Returns the cost of checking a value.
    ///
    /// Walks through the value with the number of times that each subschema meets each part.
    /// A part that a validator would check again is only counted again, so that a value that would
    /// take the validator years takes the walk no longer than any other.
    pub(super) fn of(
        plan: &Plan,
        value: &Value,
        limits: &SchemaLimits,
    ) -> Result<Self, &'static str> {
        let mut walk = Walk {
            plan,
            limits,
            cost: Self::default(),
            pending: BTreeMap::new(),
        };
        walk.add(
            plan.root,
            false,
            Share {
                count: 1,
                height: 1,
            },
        );
        let mut open: Vec<Frame<'_>> = walk.enter(Part::Value(value))?.into_iter().collect();
        while let Some(frame) = open.last_mut() {
            let Some(part) = frame.next() else {
                open.pop();
                continue;
            };
            if let Some(name) = part.name {
                walk.enter_name(frame, name)?;
            }
            walk.lead(frame, &part);
            open.extend(walk.enter(Part::Value(part.value))?);
        }
        Ok(walk.cost)
    }
}

/// The number of times that a subschema is checked against a part, and the number of subschemas
/// that are open then.
#[derive(Clone, Copy)]
struct Share {
    count: u64,
    height: u32,
}

/// A part of a value that subschemas are checked against.
#[derive(Clone, Copy)]
enum Part<'v> {
    Value(&'v Value),
    Name(&'v str),
}

/// A member or an element, with what leads to it.
struct Inner<'v> {
    value: &'v Value,
    name: Option<&'v str>,
    index: usize,
}

/// A subschema that looks inside a container.
struct Looking {
    number: u32,
    /// Only for parts that nothing else has evaluated.
    marking: bool,
    share: Share,
}

/// A container that is being walked through, and the subschemas that look inside.
struct Frame<'v> {
    parts: Parts<'v>,
    looking: Vec<Looking>,
    names: bool,
}

enum Parts<'v> {
    Members(map::Iter<'v>),
    Elements(core::iter::Enumerate<core::slice::Iter<'v, Value>>),
}

impl<'v> Frame<'v> {
    fn next(&mut self) -> Option<Inner<'v>> {
        match &mut self.parts {
            Parts::Members(members) => members.next().map(|(name, value)| Inner {
                value,
                name: Some(name),
                index: 0,
            }),
            Parts::Elements(elements) => elements.next().map(|(index, value)| Inner {
                value,
                name: None,
                index,
            }),
        }
    }
}

/// A walk through a value.
struct Walk<'p> {
    plan: &'p Plan,
    limits: &'p SchemaLimits,
    cost: Cost,
    /// The subschemas that are checked against the present part, in the order of the plan. After
    /// each subschema comes its second run, which marks the parts that were evaluated.
    pending: BTreeMap<(u32, bool), Share>,
}

impl Walk<'_> {
    fn add(&mut self, number: u32, marking: bool, share: Share) {
        let known = self.pending.entry((number, marking)).or_insert(Share {
            count: 0,
            height: 0,
        });
        known.count = known.count.saturating_add(share.count);
        known.height = known.height.max(share.height);
    }

    /// Counts what meets a part, and everything that this leads to on the same part.
    fn enter<'v>(&mut self, part: Part<'v>) -> Result<Option<Frame<'v>>, &'static str> {
        let mut looking = Vec::new();
        let mut names = false;
        while let Some(((number, marking), share)) = self.pending.pop_first() {
            let Some(node) = self.plan.node(number) else {
                continue;
            };
            let own = own_cost(node, part, self.limits.evaluations);
            self.cost.evaluations = self.cost.evaluations.saturating_add(share.count);
            self.cost.total = self
                .cost
                .total
                .saturating_add(share.count.saturating_mul(own));
            if self.cost.total > self.limits.evaluations {
                return Err("evaluations");
            }
            if share.height > self.limits.nested {
                return Err("nested");
            }
            let next = Share {
                height: share.height.saturating_add(1),
                ..share
            };
            for number in node.in_place() {
                self.add(number, false, next);
                if marking {
                    self.add(number, true, next);
                }
            }
            if !marking && node.marks() {
                self.add(number, true, next);
            }
            let looks = if marking {
                node.marks()
            } else {
                node.looks_inside()
            };
            if looks {
                names |= !marking && node.names.is_some();
                looking.push(Looking {
                    number,
                    marking,
                    share: next,
                });
            }
        }
        let parts = match part {
            Part::Value(Value::Object(members)) => Parts::Members(members.iter()),
            Part::Value(Value::Array(elements)) => Parts::Elements(elements.iter().enumerate()),
            _ => return Ok(None),
        };
        Ok((!looking.is_empty()).then_some(Frame {
            parts,
            looking,
            names,
        }))
    }

    /// Counts what meets the name of a member.
    fn enter_name(&mut self, frame: &Frame<'_>, name: &str) -> Result<(), &'static str> {
        if !frame.names {
            return Ok(());
        }
        for looking in frame.looking.iter().filter(|looking| !looking.marking) {
            let node = self.plan.node(looking.number);
            if let Some(names) = node.and_then(|node| node.names) {
                self.add(names, false, looking.share);
            }
        }
        self.enter(Part::Name(name)).map(drop)
    }

    /// Finds what meets a member or an element.
    fn lead(&mut self, frame: &Frame<'_>, part: &Inner<'_>) {
        for looking in &frame.looking {
            let Some(node) = self.plan.node(looking.number) else {
                continue;
            };
            let mut add = |number: Option<u32>| {
                if let Some(number) = number {
                    self.add(number, false, looking.share);
                }
            };
            if part.name.is_some() {
                add(node.unevaluated_members);
            } else {
                add(node.unevaluated_items);
            }
            if looking.marking {
                continue;
            }
            if let Some(name) = part.name {
                let property = node.properties.get(name).copied();
                add(property.or(node.additional));
                for (_, property) in &node.patterns {
                    add(Some(*property));
                }
            } else {
                add(node.prefix.get(part.index).copied().or(node.items));
                add(node.contains);
            }
        }
    }
}

/// Returns the cost of checking a part against one subschema without its inner ones, in
/// evaluations.
fn own_cost(node: &Node, part: Part<'_>, most: u64) -> u64 {
    let mut cost = 1u64.saturating_add(node.compared / 16);
    let mut add = |more: u64| cost = cost.saturating_add(more);
    match part {
        Part::Name(text) => add(text_cost(node, text)),
        Part::Value(Value::String(text)) => add(text_cost(node, text)),
        Part::Value(value @ Value::Array(elements)) => {
            add(elements.len() as u64 / 16);
            if node.unique {
                // Short lists are compared each with each.
                add(parts(value).min(most).saturating_mul(2));
            }
        }
        Part::Value(Value::Object(members)) => {
            add(members.len() as u64 / 16);
            for (matching, _) in &node.patterns {
                for name in members.keys() {
                    add(matching.cost(name));
                }
            }
        }
        Part::Value(_) => {}
    }
    cost
}

fn text_cost(node: &Node, text: &str) -> u64 {
    let bytes = text.len() as u64;
    let matched = node.pattern.map_or(0, |matching| matching.cost(text));
    let read = if node.reads_text {
        bytes / 16
    } else {
        bytes / 1024
    };
    matched.saturating_add(read)
}
