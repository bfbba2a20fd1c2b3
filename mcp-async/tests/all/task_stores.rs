//! Stores of tasks: the rules of the trait, and the file over restarts.

use core::future::poll_fn;
use core::task::Poll;
use core::time::Duration;
use std::thread;

use mcp_async::tasks::store::{MemoryTaskStore, TaskStore, check};

use crate::block_on::block_on;
use crate::test_file::TestFile;
use crate::texts::has;

#[test]
fn the_store_in_memory_keeps_the_rules() {
    block_on(check(&MemoryTaskStore::new())).unwrap();
}

mod disk {
    use std::{env, fs};

    use mcp_async::tasks::store::{DiskTaskStore, TaskRecord};

    use super::*;

    #[test]
    fn the_file_keeps_the_rules() {
        let file = TestFile::new("rules");
        block_on(check(&store_in(&file))).unwrap();
        block_on(check(&store_in(&file))).unwrap();
    }

    #[test]
    fn records_survive_a_restart_in_their_last_version() {
        let file = TestFile::new("restart");
        let done = TaskRecord::new("done", "boot-1", 1_000)
            .with_owner(Some("ada"))
            .with_ttl(Some(500));
        let open = TaskRecord::new("open", "boot-1", 2_000).with_owner(Some("ada"));
        let store = store_in(&file);
        block_on(async {
            assert!(store.create(&done).await.unwrap());
            assert!(store.create(&open).await.unwrap());
            assert!(store.replace(&done.failed("late")).await.unwrap());
            store
                .renew("boot-1", 0, Duration::from_secs(6))
                .await
                .unwrap();
            assert!(store.orphaned(9).await.unwrap().is_empty());
        });
        drop(store);

        let store = store_in(&file);
        block_on(async {
            assert_eq!(store.load("done").await.unwrap(), Some(done.failed("late")));
            assert_eq!(store.list("ada", None, 9).await.unwrap().len(), 2);
            let expired = store.expired(1_500, 9).await.unwrap();
            assert_eq!(ids(&expired), ["done"]);
            // The process of that boot has ended, whatever it promised.
            assert!(!store.is_alive("boot-1").await.unwrap());
            assert_eq!(ids(&store.orphaned(9).await.unwrap()), ["open"]);

            store.remove("done").await.unwrap();
            assert!(store.expired(u64::MAX, 9).await.unwrap().is_empty());
            assert_eq!(ids(&store.list("ada", None, 9).await.unwrap()), ["open"]);
        });
    }

    /// TK-60
    #[test]
    fn removed_records_leave_their_room_to_others() {
        let file = TestFile::new("room");
        let store = store_in(&file);
        let mut sizes = Vec::new();
        let reason = "late".repeat(500);
        for round in 0..6 {
            let ids: Vec<String> = (0..400).map(|number| format!("{round}-{number}")).collect();
            let records = ids.iter().map(|id| {
                let record = TaskRecord::new(id, "boot", 1_000).with_ttl(Some(10));
                record.with_owner(Some("ada"))
            });
            let records: Vec<_> = records.collect();
            // Those that wait at the same time are written together.
            let created = together(records.iter().map(|record| store.create(record)));
            assert!(created.into_iter().all(Result::unwrap));
            let ended: Vec<_> = records
                .iter()
                .map(|record| record.failed(&reason))
                .collect();
            let ended = together(ended.iter().map(|record| store.replace(record)));
            assert!(ended.into_iter().all(Result::unwrap));
            let removed = together(ids.iter().map(|id| store.remove(id)));
            removed.into_iter().for_each(Result::unwrap);
            sizes.push(fs::metadata(&file.0).unwrap().len());
        }
        assert!(block_on(store.expired(u64::MAX, 9)).unwrap().is_empty());
        // How many are written together differs from run to run, and so does the room in between.
        assert!(sizes.iter().all(|size| *size < 4 * sizes[0]), "{sizes:?}");
    }

    #[test]
    fn a_file_belongs_to_one_process_and_to_its_owner() {
        let file = TestFile::new("owner");
        let store = store_in(&file);
        let Err(error) = DiskTaskStore::open(&file.0) else {
            panic!("the file was opened twice");
        };
        has(
            &core::error::Error::source(&error).unwrap().to_string(),
            ["already open"],
        );
        #[cfg(unix)]
        {
            let mode = fs::metadata(&file.0).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::mode(&mode.permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
        drop(store.clone());
        drop(store);
        // The last clone has closed it.
        store_in(&file);
    }

    #[test]
    fn what_is_no_store_is_refused_and_kept() {
        let file = TestFile::new("foreign");
        fs::write(&file.0, "a letter").unwrap();
        assert!(DiskTaskStore::open(&file.0).is_err());
        assert_eq!(fs::read(&file.0).unwrap(), b"a letter");
        let missing = file.0.join("no such folder").join("tasks");
        assert!(DiskTaskStore::open(missing).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_other_users_and_a_link_are_refused() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let (file, link) = (TestFile::new("others"), TestFile::new("link"));
        store_in(&file);
        symlink(&file.0, &link.0).unwrap();
        assert!(DiskTaskStore::open(&link.0).is_err());
        for (mode, is_refused) in [(0o640, true), (0o602, true), (0o600, false)] {
            fs::set_permissions(&file.0, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(
                DiskTaskStore::open(&file.0).is_err(),
                is_refused,
                "{mode:o}"
            );
        }
        assert!(DiskTaskStore::open(env::temp_dir()).is_err());
    }

    #[test]
    fn one_of_many_writers_of_a_version_succeeds() {
        let file = TestFile::new("writers");
        let store = store_in(&file);
        let record = TaskRecord::new("one", "boot-1", 1);
        assert!(block_on(store.create(&record)).unwrap());
        let next = record.failed("x");
        let won: usize = thread::scope(|scope| {
            let writers: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| usize::from(block_on(store.replace(&next)).unwrap())))
                .collect();
            writers.into_iter().map(|it| it.join().unwrap()).sum()
        });
        assert_eq!(won, 1);
    }

    fn ids(records: &[TaskRecord]) -> Vec<&str> {
        records.iter().map(TaskRecord::id).collect()
    }

    fn store_in(file: &TestFile) -> DiskTaskStore {
        DiskTaskStore::open(&file.0).unwrap()
    }
}

/// Runs the futures at the same time.
fn together<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut futures: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    block_on(poll_fn(|cx| {
        for (future, value) in &mut futures {
            if value.is_none()
                && let Poll::Ready(ready) = future.as_mut().poll(cx)
            {
                *value = Some(ready);
            }
        }
        match futures.iter().all(|(_, value)| value.is_some()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }));
    futures.into_iter().filter_map(|(_, value)| value).collect()
}
