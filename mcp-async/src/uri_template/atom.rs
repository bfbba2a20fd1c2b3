use super::operator::Operator;
use super::parse::{Modifier, Part, Variable};

/// One step of matching; steps follow each other, and only [`Optional`](Self::Optional) skips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Atom {
    /// Exactly this text.
    Literal(String),
    /// This byte, or on with the step at `otherwise`.
    Optional { byte: u8, otherwise: usize },
    /// The text of a variable without its name.
    Run(Run),
    /// Nothing, or named variables in any order.
    Named(Named),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) variable: Variable,
    pub(super) operator: Operator,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) variables: Vec<Variable>,
    pub(super) first: u8,
    pub(super) operator: Operator,
}

impl Run {
    pub(super) fn exploded(&self) -> bool {
        self.variable.modifier == Modifier::Explode
    }

    /// Returns true if the text may be empty: only where the operator leaves a sign of it.
    pub(super) const fn may_be_empty(&self) -> bool {
        self.operator.first().is_some()
    }
}

/// Lays the parts of a template out as steps.
pub(super) fn compile(parts: &[Part]) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for part in parts {
        match part {
            Part::Literal(literal) => atoms.push(Atom::Literal(literal.clone())),
            Part::Expression(operator, variables) => expression(&mut atoms, *operator, variables),
        }
    }
    atoms
}

fn expression(atoms: &mut Vec<Atom>, operator: Operator, variables: &[Variable]) {
    let first = operator.first();
    if let (true, Some(first)) = (operator.named(), first) {
        atoms.push(Atom::Named(Named {
            variables: variables.to_vec(),
            first,
            operator,
        }));
        return;
    }
    // Each variable is one run and, but for the first of a few operators, one byte before it.
    let otherwise = atoms.len() + variables.len() * 2 - usize::from(first.is_none());
    let mut byte = first;
    for variable in variables {
        atoms.extend(byte.map(|byte| Atom::Optional { byte, otherwise }));
        atoms.push(Atom::Run(Run {
            variable: variable.clone(),
            operator,
        }));
        byte = Some(operator.separator());
    }
}
