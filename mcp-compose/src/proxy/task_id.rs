//! Ids of tasks that name the server and belong to one caller.

use core::fmt;
use std::sync::Arc;

use hmac_sha256::HMAC;
use mcp_async::model::{Base64, ClientFeatures};
use mcp_async::server::Principal;

use super::capabilities::RELAYED;

/// A task of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerTask {
    pub(super) server: Arc<str>,
    /// The capabilities that the session declares in which the task was made.
    pub(super) features: ClientFeatures,
    /// Its id there.
    pub(super) id: String,
}

/// The key that seals ids of tasks.
pub(super) struct TaskKey([u8; 32]);

impl TaskKey {
    pub(super) const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// Draws a key that lasts as long as this process; `None` if the operating system has no randomness.
    pub(super) fn random() -> Option<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).ok()?;
        Some(Self(key))
    }

    /// Returns the id of a task for this caller.
    pub(super) fn seal(&self, task: &ServerTask, owner: Option<&Principal>) -> String {
        let named = task.named();
        let mut sealed = self.tag(&named, owner).to_vec();
        sealed.extend(named);
        Base64::encode(&sealed).as_str().to_owned()
    }

    /// Returns the task of an id; `None` if the id is not one of this key and caller.
    pub(super) fn open(&self, sealed: &str, owner: Option<&Principal>) -> Option<ServerTask> {
        let bytes = Base64::from(sealed).decode().ok()?;
        let (tag, named) = bytes.split_first_chunk::<TAG>()?;
        let expected = self.tag(named, owner);
        let differences = expected
            .iter()
            .zip(tag)
            .fold(0, |differences, (a, b)| differences | (a ^ b));
        (differences == 0).then(|| ServerTask::read(named))?
    }

    fn tag(&self, named: &[u8], owner: Option<&Principal>) -> [u8; TAG] {
        let mut mac = HMAC::new(self.0);
        let owner = owner.map(Principal::name);
        // No owner differs from an owner with an empty name.
        mac.update([u8::from(owner.is_some())]);
        mac.update((named.len() as u64).to_le_bytes());
        mac.update(named);
        mac.update(owner.unwrap_or_default().as_bytes());
        let mut tag = [0; TAG];
        for (place, byte) in tag.iter_mut().zip(mac.finalize()) {
            *place = byte;
        }
        tag
    }
}

impl ServerTask {
    /// Returns the task as bytes: its features, the name of the server, a zero, the id.
    fn named(&self) -> Vec<u8> {
        let features = RELAYED.iter().enumerate();
        let bits = features.fold(0, |bits, (at, feature)| {
            bits | u8::from(self.features.contains(*feature)) << at
        });
        // Names of servers are the program's own, and have no such character.
        let server = self.server.replace('\0', "");
        let mut named = vec![bits];
        named.extend(format!("{server}\0{}", self.id).into_bytes());
        named
    }

    fn read(named: &[u8]) -> Option<Self> {
        let (bits, names) = named.split_first()?;
        let (server, id) = core::str::from_utf8(names).ok()?.split_once('\0')?;
        let set = RELAYED
            .iter()
            .enumerate()
            .filter(|(at, _)| bits >> at & 1 == 1);
        Some(Self {
            server: server.into(),
            features: set.fold(ClientFeatures::NONE, |all, (_, feature)| all.with(*feature)),
            id: id.to_owned(),
        })
    }
}

impl fmt::Debug for TaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskKey")
    }
}

/// The bytes of a tag.
const TAG: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_belong_to_one_caller_and_one_key() {
        let (ada, bob) = (Principal::new("ada"), Principal::new("bob"));
        let key = TaskKey::new([7; 32]);
        let task = ServerTask {
            server: "git".into(),
            features: ClientFeatures::SAMPLING.with(ClientFeatures::ROOTS),
            id: "task 1".to_owned(),
        };
        let sealed = key.seal(&task, Some(&ada));
        assert_eq!(key.open(&sealed, Some(&ada)), Some(task.clone()));
        let again = TaskKey::new([7; 32]);
        assert_eq!(again.open(&sealed, Some(&ada)), Some(task.clone()));
        for (key, sealed, owner) in [
            (&key, sealed.clone(), Some(&bob)),
            (&key, sealed.clone(), None),
            (&TaskKey::new([8; 32]), sealed.clone(), Some(&ada)),
            (&key, sealed.replacen(&sealed[30..31], "_", 1), Some(&ada)),
            (&key, String::new(), Some(&ada)),
            (&key, "task 1".to_owned(), Some(&ada)),
        ] {
            assert_eq!(key.open(&sealed, owner), None, "{sealed} {owner:?}");
        }
        let nobody = key.seal(&task, None);
        assert_eq!(key.open(&nobody, Some(&Principal::new(""))), None);
    }
}
