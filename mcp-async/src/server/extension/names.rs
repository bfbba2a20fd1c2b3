//! Names that belong to the protocol or to an official extension.

use core::fmt;

use mcp_proto::rpc;

/// Checks the name of a method or notification. `extension` is the extension that has it, if one
/// does.
pub(in crate::server) fn check_method(
    extension: Option<&str>,
    name: &str,
) -> Result<(), ReservedName> {
    let owner = match name {
        "" => return Err(ReservedName::Empty),
        "resources/directory/read" => Some(SKILLS),
        name if name.starts_with("tasks/") => Some(TASKS),
        name if name.starts_with("notifications/tasks") => Some(TASKS),
        name if name.starts_with("skills/") => Some(SKILLS),
        _ => None,
    };
    match owner {
        Some(owner) if extension == Some(owner) => Ok(()),
        Some(owner) => Err(ReservedName::Extension(owner)),
        None if matches!(rpc::Method::from(name), rpc::Method::Other(_)) => Ok(()),
        None => Err(ReservedName::Protocol),
    }
}

/// Checks a key of the filter of `subscriptions/listen`.
pub(super) fn check_filter(extension: &str, key: &str) -> Result<(), ReservedName> {
    match key {
        "" => Err(ReservedName::Empty),
        "toolsListChanged"
        | "promptsListChanged"
        | "resourcesListChanged"
        | "resourceSubscriptions" => Err(ReservedName::Protocol),
        "taskIds" if extension != TASKS => Err(ReservedName::Extension(TASKS)),
        _ => Ok(()),
    }
}

/// Reasons for which an extension cannot use a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum ReservedName {
    Empty,
    Protocol,
    Extension(&'static str),
}

impl fmt::Display for ReservedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("its name is empty"),
            Self::Protocol => f.write_str("the protocol defines this name"),
            Self::Extension(owner) => write!(f, "the name is reserved for `{owner}`"),
        }
    }
}

const TASKS: &str = "io.modelcontextprotocol/tasks";
const SKILLS: &str = "io.modelcontextprotocol/skills";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserved_name_belongs_to_its_extension() {
        for (name, owner) in [
            ("tasks/get", TASKS),
            ("tasks/own", TASKS),
            ("notifications/tasks", TASKS),
            ("notifications/tasks/status", TASKS),
            ("skills/list", SKILLS),
            ("resources/directory/read", SKILLS),
        ] {
            assert_eq!(check_method(Some(owner), name), Ok(()), "{name}");
            let refused = Err(ReservedName::Extension(owner));
            assert_eq!(check_method(Some("com.example/x"), name), refused, "{name}");
            assert_eq!(check_method(None, name), refused, "{name}");
        }
    }

    #[test]
    fn names_of_the_protocol_belong_to_no_extension() {
        for name in [
            "tools/call",
            "ping",
            "notifications/cancelled",
            "initialize",
        ] {
            assert_eq!(
                check_method(Some(TASKS), name),
                Err(ReservedName::Protocol),
                "{name}"
            );
        }
        assert_eq!(check_method(None, ""), Err(ReservedName::Empty));
        assert_eq!(check_method(None, "events/stream"), Ok(()));
    }

    #[test]
    fn filters_have_reserved_keys_too() {
        assert_eq!(check_filter(TASKS, "taskIds"), Ok(()));
        assert_eq!(
            check_filter("a.b/c", "taskIds"),
            Err(ReservedName::Extension(TASKS))
        );
        assert_eq!(
            check_filter(TASKS, "toolsListChanged"),
            Err(ReservedName::Protocol)
        );
        assert_eq!(check_filter("a.b/c", "events"), Ok(()));
    }
}
