//! The order in which subschemas meet one value, and what it costs to compile them.
//!
//! Nothing here recurses, and every loop pays for its rounds out of a limit.

use std::collections::{HashMap, HashSet};

use super::graph::{Graph, Node};
use super::limits::SchemaLimits;
use crate::schema::error::SchemaError;

/// A schema that can be compiled, with its subschemas in such an order that on one value each
/// leads only to later ones.
#[derive(Debug)]
pub(super) struct Plan {
    nodes: Vec<Node>,
    pub(super) root: u32,
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
        plan.check_recursion()?;
        plan.check_compilation(limits)?;
        Ok(plan)
    }

    pub(super) fn node(&self, number: u32) -> Option<&Node> {
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

    /// Bounds the recursion of the compiler, which goes down the levels of the schema, and from
    /// a reference on those of its target, eight times before it puts a target off.
    fn check_recursion(&self) -> Result<(), SchemaError> {
        let mut targets: HashSet<u32> = HashSet::new();
        let mut inner: HashSet<u32> = HashSet::new();
        for node in &self.nodes {
            targets.extend(&node.references);
            inner.extend(node.arms.iter().chain(&node.children));
        }
        let mut longest = 0;
        let mut rest: Vec<(u32, usize)> = (0u32..)
            .take(self.nodes.len())
            .filter(|number| !inner.contains(number))
            .map(|number| (number, 1))
            .collect();
        // A subschema is nested in one other subschema at most, so each is seen once.
        while let Some((number, level)) = rest.pop() {
            longest = longest.max(level);
            if let Some(node) = self.node(number) {
                let inline = node.arms.iter().chain(&node.children);
                rest.extend(inline.map(|child| (*child, level + 1)));
            }
        }
        let levels = longest.saturating_mul(targets.len().min(NESTED_TARGETS) + 1);
        if levels > LEVELS {
            return Err(SchemaError::Limit("levels"));
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

/// The targets that the compiler goes into from one another.
const NESTED_TARGETS: usize = 8;

/// The levels that it goes down; without optimisation each takes some seven kilobytes of stack, and more on Windows.
const LEVELS: usize = 128;
