//! What stands in the way of a sound database, and what can be done about it: that it can only be read, that another process
//! holds its write lock, that its log grows because another process reads an old state.

use std::time::Duration;

use rusqlite::Connection;
use throughline_core::ports::StoreError;

use crate::Stored;
use crate::erase;
use crate::files::Files;
use crate::open::BUSY_TIMEOUT;
use crate::pool::Pool;
use crate::watch::{MOST_FRAMES, log_length, log_state};

/// How long the write lock is waited for before somebody is said to hold it.
const PATIENCE: Duration = Duration::from_secs(2);

/// A log that was not copied at its usual length is twice as long when somebody stands in the way for longer.
const LONG_LOG: u64 = 2 * MOST_FRAMES;

/// Where SQLite's locks are in the index of a log: the writer's, and those of readers, each of a state that it still needs.
const WRITER: u64 = 120;
const READERS: std::ops::RangeInclusive<u64> = 123..=127;

/// Everything that stands in the way, in words.
pub(crate) fn found(pool: &Pool) -> Vec<String> {
    if let Some(why) = pool.read_only() {
        let hint = StoreError::ReadOnly { why }.hint().unwrap_or_default();
        return vec![format!("the memory can only be read: {why} ({hint})")];
    }
    [locked(pool), long_log(pool)].into_iter().flatten().collect()
}

/// Whether another process holds the write lock.
fn locked(pool: &Pool) -> Option<String> {
    let tried = pool.read(
        |connection| {
            connection.busy_timeout(PATIENCE)?;
            let tried = connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK");
            connection.busy_timeout(BUSY_TIMEOUT)?;
            tried
        },
        "try to write",
    );
    let who = || holders(pool.files(), WRITER..=WRITER);
    matches!(tried, Err(StoreError::Busy))
        .then(|| format!("{} holds the write lock: nothing can be stored until it ends; reading goes on", who()))
}

/// Who reads a state of the database, as words.
pub(crate) fn readers(files: &Files) -> String {
    holders(files, READERS)
}

/// Whether the log is long because somebody reads an old state, and what is not written because of that.
fn long_log(pool: &Pool) -> Option<String> {
    let look = |connection: &Connection| {
        let page_size: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        Ok((log_state(connection)?, u64::try_from(page_size).unwrap_or(0)))
    };
    let (log, page_size) = pool.read(look, "look at the log").ok()?;
    let frames = u64::try_from(log.frames).unwrap_or(0);
    let length = log_length(frames, page_size);
    if log.frames == log.copied || length < log_length(LONG_LOG, page_size).min(pool.bounds.noting) {
        return None;
    }
    let (megabytes, who) = (length >> 20, readers(pool.files()));
    let until_then = match length {
        length if length >= pool.bounds.storing => {
            "; until then nothing is stored: forgetting and erasing work, and reading goes on"
        }
        length if length >= pool.bounds.noting => {
            "; until then recalls, and what conversations were given, are not noted"
        }
        _ => "",
    };
    Some(format!(
        "the write-ahead log takes {megabytes} MB and cannot be shortened: {who} reads an old state; it is shortened when that \
         ends{until_then}"
    ))
}

/// Shortens the log and sweeps up after erasing, as far as nobody stands in the way; says what was done.
pub(crate) fn removed(pool: &Pool) -> Stored<Vec<String>> {
    if let Some(why) = pool.read_only() {
        return Err(StoreError::ReadOnly { why });
    }
    pool.read(
        |connection| {
            let mut done = Vec::new();
            if erase::is_unswept(connection)? && erase::sweep(connection) {
                done.push("traces of what was erased were swept away".to_owned());
            }
            let frames = log_state(connection)?.frames;
            let is_kept: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
            if frames > 0 && !is_kept {
                done.push("the write-ahead log was copied into the database and emptied".to_owned());
            }
            Ok(done)
        },
        "tidy",
    )
}

/// Which processes hold one of these locks, as words.
fn holders(files: &Files, bytes: std::ops::RangeInclusive<u64>) -> String {
    let all = processes(files, &bytes);
    let own = std::process::id();
    let others: Vec<u32> = all.iter().copied().filter(|process| *process != own).collect();
    match others.as_slice() {
        [] if all.contains(&own) => format!("this process, {own},"),
        [] => "another process".to_owned(),
        [one] => format!("the process {one}"),
        many => format!("one of the processes {}", many.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// What Linux tells about locks.
#[cfg(target_os = "linux")]
fn processes(files: &Files, bytes: &std::ops::RangeInclusive<u64>) -> Vec<u32> {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(index) = std::fs::symlink_metadata(&files.index) else { return Vec::new() };
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let mut found: Vec<u32> = locks.lines().filter_map(|line| holder(line, index.ino(), bytes)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(not(target_os = "linux"))]
fn processes(_: &Files, _: &std::ops::RangeInclusive<u64>) -> Vec<u32> {
    Vec::new()
}

/// Whose lock a line is about, if it is on one of these bytes of this file: `1: POSIX  ADVISORY  READ 71 fe:00:4242 124 124`.
#[cfg(any(target_os = "linux", test))]
fn holder(line: &str, file: u64, bytes: &std::ops::RangeInclusive<u64>) -> Option<u32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    // Somebody who waits has an arrow in front.
    let [_, "POSIX", _, _, process, place, first, last] = words[..] else { return None };
    let is_file = place.rsplit(':').next()?.parse() == Ok(file);
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().unwrap_or(u64::MAX));
    (is_file && first <= *bytes.end() && last >= *bytes.start()).then(|| process.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_told_by_its_file_and_its_bytes() {
        let check = |line: &str, expected: Option<u32>| assert_eq!(holder(line, 4242, &READERS), expected, "{line}");
        check("1: POSIX  ADVISORY  READ 71 fe:00:4242 124 124", Some(71));
        check("2: POSIX  ADVISORY  READ 71 fe:00:4242 120 EOF", Some(71));
        check("3: POSIX  ADVISORY  READ 71 fe:00:4242 122 122", None);
        check("4: POSIX  ADVISORY  READ 71 fe:00:4243 124 124", None);
        check("5: -> POSIX  ADVISORY  WRITE 71 fe:00:4242 124 124", None);
        check("6: FLOCK  ADVISORY  WRITE 71 fe:00:4242 0 EOF", None);
        check("", None);
    }
}
