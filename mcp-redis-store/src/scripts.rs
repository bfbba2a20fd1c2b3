//! The scripts that run in the store, each in one atomic step on one key.

use std::sync::LazyLock;

use redis::{Cmd, Script, cmd};

/// A script and its hash, by which a store that has it already is asked.
pub(crate) struct StoredScript(LazyLock<(Script, &'static str)>);

impl StoredScript {
    /// The command that runs it on this key.
    pub(crate) fn by_hash(&self, key: &str, arguments: &[&[u8]]) -> Cmd {
        Self::command("EVALSHA", self.0.0.get_hash(), key, arguments)
    }

    /// The command for a store that does not have it yet.
    pub(crate) fn by_text(&self, key: &str, arguments: &[&[u8]]) -> Cmd {
        Self::command("EVAL", self.0.1, key, arguments)
    }

    fn command(name: &str, script: &str, key: &str, arguments: &[&[u8]]) -> Cmd {
        let mut command = cmd(name);
        command.arg(script).arg(1).arg(key);
        for argument in arguments {
            command.arg(*argument);
        }
        command
    }
}

/// The scripts, each after those that it begins with.
macro_rules! scripts {
    ($($name:ident $($file:literal)*;)*) => {
        $(pub(crate) static $name: StoredScript = StoredScript(LazyLock::new(|| {
            let text = concat!($(include_str!(concat!("lua/", $file, ".lua"))),*);
            (Script::new(text), text)
        }));)*
    };
}

scripts! {
    ANNOUNCE "lease" "announce";
    APPEND "session_layout" "layout" "append";
    BOOTS_DEAD "lease" "boots_dead";
    BOOT_FORGET "lease" "boot_forget";
    BOOT_NOTE "lease" "boot_note";
    BOOT_RENEW "lease" "boot_renew";
    CLAIM "session_layout" "layout" "claim";
    CREATE "session_layout" "layout" "create";
    LEASES "lease" "leases";
    OWNER "session_layout" "layout" "owner";
    RELEASE "session_layout" "layout" "release";
    REMOVE "session_layout" "layout" "remove";
    REPLAY "session_layout" "layout" "replay";
    SAVE "session_layout" "layout" "save";
    TAKE_OVER "session_layout" "layout" "take_over";
    TASK_CREATE "task_layout" "layout" "task_create";
    TASK_REMOVE "task_layout" "layout" "task_remove";
    TASK_REPLACE "task_layout" "layout" "task_replace";
    WITHDRAW "withdraw";
}

/// The version of the layout of sessions: the field `v` of each, and a part of the other names.
pub(crate) const LAYOUT: &str = "1";

/// The version of the layout of tasks.
pub(crate) const TASK_LAYOUT: &str = "2";
