//! Whether a daemon runs on this home, and where: one file that it keeps locked while it lives, and one that says where it
//! listens. Some systems let nobody read a file that is locked.

use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::exports::write_private;
use crate::lock_file;
use crate::world::Home;

/// A daemon that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Running {
    /// Its process.
    pub(crate) process: u32,
    /// Where the person finds it.
    pub(crate) url: String,
    /// Where this machine reaches it, whatever its name leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<SocketAddr>,
    /// The digest of its certificate, where it speaks TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) certificate: Option<String>,
}

/// The right to be the daemon of this home; ends with the process.
pub(crate) struct Claim {
    /// Locked.
    _lock: File,
    said: PathBuf,
}

impl Claim {
    /// Takes the right, or gives who has it.
    pub(crate) fn take(home: &Home) -> std::io::Result<Result<Self, Option<Running>>> {
        let lock = lock_file::take(&lock_of(home))?;
        Ok(lock.map(|lock| Self { _lock: lock, said: home.daemon() }).ok_or_else(|| said(home)))
    }

    /// Says where the daemon listens.
    pub(crate) fn announce(&self, running: &Running) -> std::io::Result<()> {
        write_private(&self.said, &serde_json::to_string(running).unwrap_or_default())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.said);
    }
}

/// Whether a daemon runs on this home.
pub(crate) fn is_running(home: &Home) -> bool {
    lock_file::is_held(&lock_of(home))
}

/// The daemon that runs on this home and has said where, if one does.
pub(crate) fn find(home: &Home) -> Option<Running> {
    is_running(home).then(|| said(home)).flatten()
}

/// What was last said: true only while the lock is held.
fn said(home: &Home) -> Option<Running> {
    serde_json::from_str(&std::fs::read_to_string(home.daemon()).ok()?).ok()
}

fn lock_of(home: &Home) -> PathBuf {
    home.daemon().with_extension("lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_daemon_at_a_time_and_none_after_its_end() {
        let place = tempfile::tempdir().unwrap();
        let home = Home { config: place.path().to_owned(), data: place.path().to_owned() };
        assert_eq!((is_running(&home), find(&home)), (false, None));
        let claim = Claim::take(&home).unwrap().ok().unwrap();
        assert_eq!((is_running(&home), find(&home)), (true, None), "it has not said where yet");
        let url = "http://127.0.0.1:7077".to_owned();
        let running = Running { process: 7, url, address: None, certificate: None };
        claim.announce(&running).unwrap();
        assert_eq!(find(&home), Some(running.clone()));
        assert_eq!(Claim::take(&home).unwrap().err(), Some(Some(running.clone())));
        drop(claim);
        assert_eq!((is_running(&home), find(&home)), (false, None));
        // Killed, it leaves a file that says something and a lock that nobody holds.
        write_private(&home.daemon(), &serde_json::to_string(&running).unwrap()).unwrap();
        assert_eq!(find(&home), None);
        assert!(Claim::take(&home).unwrap().is_ok());
    }
}
