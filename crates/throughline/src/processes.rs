//! Which process this is, and which other processes of this host are gone.
//!
//! A number alone says little: it is given again when its process ends, it means something else on another host or in
//! another container, and all of them start over when the machine does. So a holder of a lease names its host, its process
//! and when that started, and is judged by its own host alone.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use throughline_core::ports::Holder;

/// The namespace of processes that a Linux machine starts with; containers have others.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// What a host says about a process number.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Process {
    /// No process has it, or one that has ended.
    Gone,
    /// A process that started then.
    Started(String),
    /// The host does not tell.
    Unknown,
}

/// A worker of this process. No other worker is equal to it, not even one of this process.
pub fn holder() -> Holder {
    static WORKERS: AtomicU32 = AtomicU32::new(0);
    static STARTED: OnceLock<String> = OnceLock::new();
    let process = std::process::id();
    let started = STARTED.get_or_init(|| match look(process) {
        Process::Started(started) => started,
        Process::Gone | Process::Unknown => String::new(),
    });
    let worker = WORKERS.fetch_add(1, Ordering::Relaxed);
    Holder { host: host().to_owned(), process, started: started.clone(), worker }
}

/// Whether a holder is known to be gone. Of another host, nothing is known.
pub fn is_gone(holder: &Holder) -> bool {
    holder.host == host() && is_over(holder, &look(holder.process))
}

/// Whether the process that has a holder's number now is not the holder's.
fn is_over(holder: &Holder, now: &Process) -> bool {
    match now {
        Process::Gone => true,
        Process::Started(started) => !holder.started.is_empty() && *started != holder.started,
        Process::Unknown => false,
    }
}

/// This host's name; in a container, with the number of its namespace: its processes are numbered by themselves.
fn host() -> &'static str {
    static HOST: OnceLock<String> = OnceLock::new();
    HOST.get_or_init(|| {
        let name = host_name();
        match std::fs::read_link("/proc/self/ns/pid") {
            Ok(namespace) if namespace != Path::new(FIRST_NAMESPACE) => format!("{name} {}", namespace.display()),
            _ => name,
        }
    })
}

#[cfg(unix)]
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
pub(crate) fn host_name() -> String {
    "localhost".to_owned()
}

/// What this host says about a process number.
fn look(process: u32) -> Process {
    if !Path::new("/proc/self").exists() {
        return Process::Unknown;
    }
    match std::fs::read_to_string(format!("/proc/{process}/stat")) {
        Ok(line) => started(&line).map_or(Process::Gone, |ticks| Process::Started(format!("{}:{ticks}", boot()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Process::Gone,
        Err(_) => Process::Unknown,
    }
}

/// When a process started, in ticks since the machine did; nothing where it has ended and was only not asked for its end
/// yet. The name in front of the fields may hold anything, parentheses included.
fn started(stat: &str) -> Option<&str> {
    let mut fields = stat.rsplit(')').next()?.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") { None } else { fields.nth(18) }
}

/// Names the time since the machine started: ticks begin again with the next.
fn boot() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        id.trim().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "4711 (a (b) c) S 1 4711 4711 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3";

    #[test]
    fn this_process_is_there_and_each_worker_is_another() {
        let (one, two) = (holder(), holder());
        assert_ne!(one, two);
        assert!(!is_gone(&one) && !is_gone(&two));
        assert!(!one.host.is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_ended_is_gone_and_its_number_may_be_anothers() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let Process::Started(started) = look(std::process::id()) else { panic!("this process runs") };
        let mut ended = Holder { process: child.id(), ..holder() };
        child.wait().unwrap();
        assert!(is_gone(&ended));
        ended.host.push_str(" elsewhere");
        assert!(!is_gone(&ended), "another host's processes are not told from here");
        let reused = Holder { started: "earlier".to_owned(), ..holder() };
        assert!(is_gone(&reused), "the process of this number began later");
        assert_eq!(holder().started, started);
    }

    #[test]
    fn a_holder_is_judged_by_what_its_number_means_now() {
        let holder = Holder { started: "b:1".to_owned(), ..holder() };
        assert!(is_over(&holder, &Process::Gone));
        assert!(!is_over(&holder, &Process::Started("b:1".to_owned())));
        assert!(is_over(&holder, &Process::Started("b:2".to_owned())));
        assert!(is_over(&holder, &Process::Started("c:1".to_owned())), "the machine was started anew");
        assert!(!is_over(&holder, &Process::Unknown));
        let timeless = Holder { started: String::new(), ..holder };
        assert!(!is_over(&timeless, &Process::Started("b:2".to_owned())));
    }

    #[test]
    fn the_start_is_found_behind_any_name() {
        assert_eq!(started(STAT), Some("987654"));
        assert_eq!(started(&STAT.replace(") S", ") Z")), None, "it has ended");
        assert_eq!(started(""), None);
        assert_eq!(started("1 (x"), None);
    }
}
