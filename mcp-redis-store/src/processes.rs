//! The leases of processes, and the sessions that they own.

use core::time::Duration;
use std::time::Instant;

use redis::Value;

use crate::error::Failure;
use crate::scripts::LAYOUT;
use crate::sessions::epoch_of;
use crate::{RedisStore, bytes, decimal, list, milliseconds, number, parts, scripts, text};
use mcp_async::http::{Announced, Claim, LiveProcess, Owner, StoreError};

impl RedisStore {
    pub(crate) fn processes(&self) -> String {
        self.key("processes", LAYOUT)
    }

    pub(crate) async fn renew_lease(
        &self,
        process: &str,
        last: u64,
        announcement: &[u8],
        lease: Duration,
    ) -> Result<Announced, StoreError> {
        let arguments: [&[u8]; 4] = [
            process.as_bytes(),
            &decimal(last),
            announcement,
            &milliseconds(lease),
        ];
        let key = self.processes();
        let reply = self.run(&scripts::ANNOUNCE, &key, &arguments).await?;
        let [own, others] = parts(reply)?;
        let lease = number(&own)?;
        let mut processes = vec![LiveProcess {
            owner: Owner::new(process, lease),
            announcement: announcement.to_vec(),
        }];
        let mut others = list(others)?.into_iter();
        while let (Some(process), Some(lease), Some(said)) =
            (others.next(), others.next(), others.next())
        {
            processes.push(LiveProcess {
                owner: Owner::new(text(process)?, number(&lease)?),
                announcement: bytes(said)?,
            });
        }
        Ok(Announced { lease, processes })
    }

    /// Sessions and leases may be on different nodes, so the leases are read first, and then the owner is replaced
    /// if it is still the one whose lease was read.
    pub(crate) async fn claim_session(
        &self,
        id: &str,
        claimant: &Owner,
        displaces: bool,
    ) -> Result<Claim, Failure> {
        let deadline = self.link.deadline();
        for _ in 0..MAX_CLAIMS {
            let found = self.owner_of(id, deadline).await?;
            let owner = found.as_ref().map_or("", |(_, process, _)| process);
            let names = [&*claimant.process, owner];
            let [claims, owns] = self.leases_of(&self.processes(), names, deadline).await?;
            if claims != Some(claimant.lease) {
                return Ok(Claim::Unannounced);
            }
            let Some((epoch, process, lease)) = &found else {
                return Ok(Claim::Unknown);
            };
            if !process.is_empty() && **process != *claimant.process {
                match owns {
                    Some(lease) => return Ok(Claim::Other(Owner::new(process.as_str(), lease))),
                    None if !displaces => return Ok(Claim::Dead),
                    None => {}
                }
            }
            let number = decimal(claimant.lease);
            if **process == *claimant.process && *lease == number {
                return Ok(Claim::Own(*epoch));
            }
            let arguments: [&[u8]; 4] = [
                process.as_bytes(),
                lease,
                claimant.process.as_bytes(),
                &number,
            ];
            match self
                .run_until(&scripts::CLAIM, &self.session(id), &arguments, deadline)
                .await?
            {
                Value::BulkString(said) if said == b"changed" => {}
                Value::BulkString(said) if said == b"gone" => return Ok(Claim::Unknown),
                epoch => return Ok(Claim::Own(epoch_of(&epoch)?)),
            }
        }
        Err(Failure::Contended)
    }

    /// The epoch of a session, its owner and the number of its lease; both are empty if there is no owner.
    async fn owner_of(
        &self,
        id: &str,
        deadline: Instant,
    ) -> Result<Option<(u32, String, Vec<u8>)>, Failure> {
        match self
            .run_until(&scripts::OWNER, &self.session(id), &[], deadline)
            .await?
        {
            Value::Nil => Ok(None),
            found => {
                let [epoch, process, lease] = parts(found)?;
                Ok(Some((epoch_of(&epoch)?, text(process)?, bytes(lease)?)))
            }
        }
    }

    /// The leases of processes that live, by the key that has them.
    pub(crate) async fn leases_of<const N: usize>(
        &self,
        key: &str,
        names: [&str; N],
        deadline: Instant,
    ) -> Result<[Option<u64>; N], Failure> {
        let arguments = names.map(str::as_bytes);
        let found: [Value; N] = parts(
            self.run_until(&scripts::LEASES, key, &arguments, deadline)
                .await?,
        )?;
        let mut leases = [None; N];
        for (lease, found) in leases.iter_mut().zip(&found) {
            *lease = match found {
                Value::BulkString(none) if none.is_empty() => None,
                number_of => Some(number(number_of)?),
            };
        }
        Ok(leases)
    }
}

/// Attempts of a claim, which begins again if the owner has changed meanwhile.
const MAX_CLAIMS: usize = 5;
