//! Tasks. Changed by operations like everything else ([`Op::Task`](super::Op::Task)); read here.

use crate::model::{Task, TaskId, TaskVersion};

use super::Stored;

/// Tasks.
pub trait Tasks {
    /// All tasks, whatever their status, the latest changed first.
    fn tasks(&self) -> Stored<Vec<Task>>;
    /// Tasks that were done and left something in the archive, the latest first.
    fn done_tasks(&self, limit: usize) -> Stored<Vec<Task>>;
    /// Tasks that were done and left something in the archive, whose titles share two or more of these words
    /// ([`distinct_words`](crate::recall::distinct_words)): those that share most of their title first, then the latest.
    fn done_tasks_sharing(&self, words: &[String], limit: usize) -> Stored<Vec<Task>>;
    /// One task.
    fn task(&self, id: &TaskId) -> Stored<Option<Task>>;
    /// All versions of a task, oldest first.
    fn task_versions(&self, id: &TaskId) -> Stored<Vec<TaskVersion>>;
}
