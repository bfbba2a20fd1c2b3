//! Names of the command line that the server does not list, and suggestions for them.

use super::exit::Failure;
use super::plain::line;

/// Returns the failure that the server lists no item of this name.
pub(crate) fn unknown<'n>(what: &str, name: &str, names: impl Iterator<Item = &'n str>) -> Failure {
    let hint = hint(name, names);
    Failure::usage(line(&format!("the server has no {what} `{name}`{hint}")))
}

/// Returns the failure that the arguments of a tool or prompt are wrong. The names of a server in it
/// keep no line breaks.
pub(crate) fn wrong(name: &str, why: &str) -> Failure {
    Failure::usage(line(&format!("{name}: {why}")))
}

/// Returns a question for the nearest of these names, if one is near.
pub(crate) fn hint<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    let most = name.chars().count().div_ceil(3);
    let near = names.map(|other| (distance(name, other), other));
    let nearest = near.filter(|(distance, _)| *distance <= most).min();
    nearest.map_or_else(String::new, |(_, nearest)| {
        format!("; did you mean `{nearest}`?")
    })
}

/// The number of letters to insert, remove or replace (Levenshtein), whatever their case.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for letter in one.to_lowercase().chars() {
        let mut diagonal = 0;
        let mut left = None;
        for (at, above) in row.iter_mut().enumerate() {
            let replaced = at.checked_sub(1).and_then(|at| other.get(at));
            let replaced = diagonal + usize::from(replaced != Some(&letter));
            diagonal = *above;
            *above = match left {
                None => *above + 1,
                Some(left) => replaced.min(*above + 1).min(left + 1),
            };
            left = Some(*above);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let check = |one: &str, other: &str, expected: usize| {
            assert_eq!(distance(one, other), expected, "{one} {other}");
            assert_eq!(distance(other, one), expected, "{other} {one}");
        };
        check("", "", 0);
        check("echo", "Echo", 0);
        check("ech", "echo", 1);
        check("ehco", "echo", 2);
        check("kitten", "sitting", 3);
        check("", "abc", 3);
    }

    #[test]
    fn the_nearest_name() {
        let check = |name: &str, expected: &str| {
            let names = ["add", "echo", "get-sum"];
            assert_eq!(hint(name, names.into_iter()), expected, "{name}");
        };
        check("ech", "; did you mean `echo`?");
        check("get_sum", "; did you mean `get-sum`?");
        check("frobnicate", "");
        check("x", "");
    }
}
