//! What it costs to compile a schema, and to check a value by it.
//!
//! Nothing here recurses, and every loop pays for its rounds out of a limit.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;
use serde_json::map;

use super::error::SchemaError;
use super::graph::{Graph, Node, parts};
use super::limits::SchemaLimits;

/// A schema that can be compiled, with its subschemas in such an order that on one value each
/// leads only to later ones.
#[derive(Debug)]
pub(super) struct Plan {
    nodes: Vec<Node>,
    root: u32,
}

impl Plan {
    /// Orders the subschemas, and finds out what the compiler would do.
    pub(super) fn new(graph: Graph, limits: &SchemaLimits) -> Result<Self, SchemaError> {
        let ranks = ranks(&graph)?;
        let plan = Self {
            root: rank(&ranks, 0),
            nodes: ordered(graph, &ranks),
        };
        plan.check_chains(limits)?;
        plan.check_compilation(limits)?;
        Ok(plan)
    }

    /// What it costs to check a value.
    pub(super) fn cost(&self, value: &Value, limits: &SchemaLimits) -> Result<Cost, &'static str> {
        let mut walk = Walk {
            plan: self,
            limits,
            cost: Cost::default(),
            pending: BTreeMap::new(),
        };
        walk.add(
            self.root,
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

    fn node(&self, number: u32) -> Option<&Node> {
        self.nodes.get(usize::try_from(number).ok()?)
    }

    /// Bounds what one value can meet, whatever it is.
    fn check_chains(&self, limits: &SchemaLimits) -> Result<(), SchemaError> {
        // The most that each of them leads to, and the longest way through it; later ones first.
        let mut costs = vec![(0u64, 0usize); self.nodes.len()];
        let mut sum = 0u64;
        for (place, node) in self.nodes.iter().enumerate().rev() {
            let mut most = 1u64;
            let mut longest = 0;
            for next in node.in_place() {
                let (evaluations, chain) = at(&costs, next);
                most = most.saturating_add(evaluations);
                longest = longest.max(chain);
            }
            sum = sum.saturating_add(most);
            if let Some(cost) = costs.get_mut(place) {
                *cost = (most, longest + 1);
            }
            if longest >= limits.chained {
                return Err(SchemaError::Limit("chained"));
            }
        }
        if sum > limits.evaluations {
            return Err(SchemaError::Limit("evaluations"));
        }
        Ok(())
    }

    /// Does what the compiler does, but for the work. It keeps the subschemas that references
    /// lead to, once for each chain of bases that it came through; it compiles the arms of what
    /// asks for unevaluated parts a second time.
    fn check_compilation(&self, limits: &SchemaLimits) -> Result<(), SchemaError> {
        let mut left = limits.subschemas;
        let mut scopes = Scopes::default();
        let mut done = HashSet::new();
        let mut open = HashSet::new();
        let mut marking = HashSet::new();
        let mut steps = vec![Step::Compile(self.root, 0)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Compile(number, scope) => {
                    left = left
                        .checked_sub(1)
                        .ok_or(SchemaError::Limit("subschemas"))?;
                    let Some(node) = self.node(number) else {
                        continue;
                    };
                    let inline = node.arms.iter().chain(&node.children);
                    steps.extend(inline.map(|child| Step::Compile(*child, scope)));
                    for target in &node.references {
                        let scope = self.scope(&mut scopes, scope, node, *target);
                        steps.push(Step::Refer(*target, scope));
                    }
                    if node.marks() {
                        steps.push(Step::Mark(number, scope));
                    }
                }
                Step::Refer(number, scope) => {
                    if !open.contains(&number) && done.insert((number, scope)) {
                        open.insert(number);
                        steps.push(Step::Leave(number));
                        steps.push(Step::Compile(number, scope));
                    }
                }
                Step::Leave(number) => {
                    open.remove(&number);
                }
                Step::Mark(number, scope) => {
                    left = left
                        .checked_sub(1)
                        .ok_or(SchemaError::Limit("subschemas"))?;
                    let Some(node) = self.node(number) else {
                        continue;
                    };
                    if !marking.insert(number) {
                        continue;
                    }
                    steps.push(Step::Marked(number));
                    for arm in &node.arms {
                        steps.push(Step::Compile(*arm, scope));
                        steps.push(Step::Mark(*arm, scope));
                    }
                    for target in &node.references {
                        let scope = self.scope(&mut scopes, scope, node, *target);
                        steps.push(Step::Mark(*target, scope));
                    }
                    let unevaluated = [node.unevaluated_members, node.unevaluated_items];
                    let unevaluated = unevaluated.into_iter().flatten();
                    steps.extend(unevaluated.map(|child| Step::Compile(child, scope)));
                }
                Step::Marked(number) => {
                    marking.remove(&number);
                }
            }
        }
        Ok(())
    }

    /// The chain of bases behind a reference.
    fn scope(&self, scopes: &mut Scopes, scope: u32, from: &Node, target: u32) -> u32 {
        let changes = self
            .node(target)
            .is_none_or(|target| target.base != from.base);
        if scope == 0 || changes {
            scopes.push(scope, from.base)
        } else {
            scope
        }
    }
}

/// What a check costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// The schemas checked against values.
    pub(super) evaluations: u64,
    /// Them, and everything else, in the time that they take.
    pub(super) total: u64,
}

/// One thing that the compiler does.
enum Step {
    Compile(u32, u32),
    Refer(u32, u32),
    Leave(u32),
    Mark(u32, u32),
    Marked(u32),
}

/// Chains of bases, as numbers; 0 is the empty one.
#[derive(Default)]
struct Scopes(HashMap<(u32, u32), u32>);

impl Scopes {
    fn push(&mut self, scope: u32, base: u32) -> u32 {
        let next = u32::try_from(self.0.len()).map_or(u32::MAX, |len| len.saturating_add(1));
        *self.0.entry((scope, base)).or_insert(next)
    }
}

/// How often a subschema meets a value, and how many are open then.
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
    /// What meets the present part, in the order of the plan. Behind each subschema comes what
    /// it does to mark the parts that were evaluated.
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

/// What one subschema does with a part by itself, in evaluations.
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

/// The place of each node in an order in which nodes lead on the same value only to later ones.
fn ranks(graph: &Graph) -> Result<Vec<u32>, SchemaError> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        New,
        Open,
        Done,
    }
    let count = graph.nodes.len();
    let mut visits = vec![Visit::New; count];
    let mut ranks = vec![0u32; count];
    let mut next = u32::try_from(count).map_err(|_| SchemaError::Limit("subschemas"))?;
    for start in 0..count {
        let mut steps = vec![(start, false)];
        while let Some((place, leave)) = steps.pop() {
            let (Some(visit), Some(node)) = (visits.get_mut(place), graph.nodes.get(place)) else {
                continue;
            };
            if leave {
                *visit = Visit::Done;
                next = next.saturating_sub(1);
                if let Some(rank) = ranks.get_mut(place) {
                    *rank = next;
                }
                continue;
            }
            match *visit {
                Visit::Done => continue,
                // On the way back from itself.
                Visit::Open => return Err(SchemaError::Circle),
                Visit::New => *visit = Visit::Open,
            }
            steps.push((place, true));
            for target in node.in_place() {
                let target = usize::try_from(target).unwrap_or(usize::MAX);
                match visits.get(target) {
                    Some(Visit::Open) => return Err(SchemaError::Circle),
                    Some(Visit::New) => steps.push((target, false)),
                    _ => {}
                }
            }
        }
    }
    Ok(ranks)
}

/// The nodes in the order of their ranks, and with these for names.
fn ordered(graph: Graph, ranks: &[u32]) -> Vec<Node> {
    let mut nodes: Vec<(u32, Node)> = graph
        .nodes
        .into_iter()
        .zip(ranks)
        .map(|(node, rank)| (*rank, node))
        .collect();
    nodes.sort_by_key(|(rank, _)| *rank);
    let rename = |number: &mut u32| *number = rank(ranks, *number);
    let mut ordered = Vec::with_capacity(nodes.len());
    for (_, mut node) in nodes {
        let lists = [
            &mut node.arms,
            &mut node.references,
            &mut node.children,
            &mut node.prefix,
        ];
        lists.into_iter().flatten().for_each(rename);
        node.properties.values_mut().for_each(rename);
        node.patterns
            .iter_mut()
            .for_each(|(_, number)| rename(number));
        let singles = [
            &mut node.additional,
            &mut node.names,
            &mut node.unevaluated_members,
            &mut node.items,
            &mut node.contains,
            &mut node.unevaluated_items,
        ];
        singles.into_iter().flatten().for_each(rename);
        ordered.push(node);
    }
    ordered
}

fn rank(ranks: &[u32], number: u32) -> u32 {
    let place = usize::try_from(number).ok();
    place
        .and_then(|place| ranks.get(place))
        .copied()
        .unwrap_or(u32::MAX)
}

fn at(costs: &[(u64, usize)], number: u32) -> (u64, usize) {
    let place = usize::try_from(number).ok();
    place
        .and_then(|place| costs.get(place))
        .copied()
        .unwrap_or_default()
}
