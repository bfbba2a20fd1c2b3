//! Names of the command line that the server does not list, and suggestions for them.

use strsim::levenshtein;

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

/// Returns a question for the nearest of these names, whatever the case of its letters, if one is near.
pub(crate) fn hint<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    let most = name.chars().count().div_ceil(3);
    let name = name.to_lowercase();
    let near = names.map(|other| (levenshtein(&name, &other.to_lowercase()), other));
    let nearest = near.filter(|(distance, _)| *distance <= most).min();
    nearest.map_or_else(String::new, |(_, nearest)| {
        format!("; did you mean `{nearest}`?")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name() {
        let check = |name: &str, expected: &str| {
            let names = ["add", "Echo", "get-sum"];
            assert_eq!(hint(name, names.into_iter()), expected, "{name}");
        };
        check("ech", "; did you mean `Echo`?");
        check("EHCO", "; did you mean `Echo`?");
        check("get_sum", "; did you mean `get-sum`?");
        check("frobnicate", "");
        check("x", "");
    }
}
