//! What there is, and whether it is well.

use serde::Serialize;

use crate::ports::StoreStats;

use super::documents::IdentityUsage;
use super::{Done, Engine};

/// What the memory holds, at a glance.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Overview {
    /// Counts, its fields at the same level.
    #[serde(flatten)]
    pub store: StoreStats,
    /// How full identity is, where there is one.
    pub identity: Option<IdentityUsage>,
    /// When working memory expires, where it is fresh.
    pub working_expires_at: Option<jiff::Timestamp>,
}

/// What is wrong, and what only deserves attention.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Health {
    /// Damage: the memory cannot be trusted until it is mended.
    pub problems: Vec<String>,
    /// Worth knowing.
    pub remarks: Vec<String>,
}

impl Engine {
    /// What the memory holds.
    pub fn overview(&self) -> Done<Overview> {
        self.notice_all()?;
        let identity = self.profile()?.map(|(_, usage)| usage);
        let working_expires_at = self.working()?.map(|working| working.expires_at);
        Ok(Overview { store: self.store.stats()?, identity, working_expires_at })
    }

    /// What a quick look finds: documents that cannot be read, identity over its limit. The store is not checked.
    pub fn quick_health(&self) -> Done<Health> {
        let mut health = Health { problems: self.notice_each()?, remarks: Vec::new() };
        self.remark_identity(&mut health);
        Ok(health)
    }

    fn remark_identity(&self, health: &mut Health) {
        if let Ok(Some((_, usage))) = self.profile()
            && usage.is_over()
        {
            health.remarks.push(format!("the profile is over its limit {usage}: assistants can no longer add to it"));
        }
    }

    /// Whether store, index and documents are sound.
    pub fn health(&self) -> Health {
        let mut health = Health::default();
        match self.store.check() {
            Ok(problems) => health.problems.extend(problems),
            Err(error) => health.problems.push(format!("the store cannot be checked: {}", chain(&error))),
        }
        match self.notice_each() {
            Ok(problems) => health.problems.extend(problems),
            Err(error) => health.problems.push(format!("the documents cannot be read: {}", chain(&error))),
        }
        self.remark_identity(&mut health);
        health
    }

    /// Rebuilds the index from the rows and the documents.
    pub fn reindex(&self, progress: &mut dyn FnMut(u64, u64)) -> Done<u64> {
        let count = self.store.rebuild(progress)?;
        self.notice_all()?;
        Ok(count)
    }
}

/// An error with all its causes, on one line; a cause that only repeats what was said is left out.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        source = cause.source();
    }
    text
}
