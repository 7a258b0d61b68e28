//! What importing an export of our own would do.

use serde::Serialize;

use crate::ports::StoreError;

use super::super::transfer::Incoming;
use super::super::{Done, Engine, Export, Imported};

/// What an import would do; nothing was changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ImportPreview {
    /// Always true.
    pub dry_run: bool,
    /// The receipt as the import would give it, its fields at the same level.
    #[serde(flatten)]
    pub imported: Imported,
}

impl Engine {
    /// Says what [`Engine::import`] would do: the store takes the export in and rolls back. No document is written.
    pub fn preview_import(&self, export: &Export) -> Done<ImportPreview> {
        let Incoming { change, bundle, mut imported, .. } = self.incoming(export)?;
        let rolled_back = self.store.adopt(&change, &bundle, &mut |adopted| {
            imported.adopted = adopted.clone();
            false
        });
        match rolled_back {
            Ok(_) | Err(StoreError::TakenBack) => Ok(ImportPreview { dry_run: true, imported }),
            Err(error) => Err(error.into()),
        }
    }
}
