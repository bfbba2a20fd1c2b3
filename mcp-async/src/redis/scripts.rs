//! The scripts that run in the store, each in one atomic step.

use std::sync::LazyLock;

use redis::{Cmd, Script, cmd};

/// A script and its hash, by which a store that has it already is asked.
pub(super) struct StoredScript(LazyLock<(Script, &'static str)>);

impl StoredScript {
    /// The command that runs it with these keys; arguments are added to it.
    pub(super) fn by_hash(&self, keys: &[&str]) -> Cmd {
        Self::begin("EVALSHA", self.0.0.get_hash(), keys)
    }

    /// The same for a store that does not have it yet.
    pub(super) fn by_text(&self, keys: &[&str]) -> Cmd {
        Self::begin("EVAL", self.0.1, keys)
    }

    fn begin(name: &str, script: &str, keys: &[&str]) -> Cmd {
        let mut command = cmd(name);
        command.arg(script).arg(keys.len());
        for key in keys {
            command.arg(*key);
        }
        command
    }
}

macro_rules! scripts {
    ($($name:ident $file:literal)*) => {
        $(pub(super) static $name: StoredScript = StoredScript(LazyLock::new(|| {
            let text = include_str!(concat!("lua/", $file, ".lua"));
            (Script::new(text), text)
        }));)*
    };
}

scripts! {
    ANNOUNCE "announce"
    APPEND "append"
    BEGIN_EPOCH "begin_epoch"
    CLAIM "claim"
    CREATE "create"
    REMOVE "remove"
    REPLAY "replay"
    SAVE "save"
    SEND "send"
    TAKE_OVER "take_over"
    TASK_CREATE "task_create"
    TASK_EXPIRED "task_expired"
    TASK_LIST "task_list"
    TASK_ORPHANED "task_orphaned"
    TASK_REMOVE "task_remove"
    TASK_REPLACE "task_replace"
}
