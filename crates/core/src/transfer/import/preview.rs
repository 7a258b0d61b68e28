//! What importing an export of our own would do.

use serde::Serialize;

use crate::error::Done;
use crate::model::Verb;
use crate::ports::StoreError;
use crate::transfer::incoming::Incoming;
use crate::transfer::{Export, Imported, TransferService};

/// What an import would do; nothing was changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ImportPreview {
    /// Always true.
    pub dry_run: bool,
    /// The receipt as the import would give it, its fields at the same level.
    #[serde(flatten)]
    pub imported: Imported,
}

impl TransferService<'_> {
    /// Says what [`TransferService::import`] would do: the store takes the export in and rolls back. No document is written.
    pub fn preview_import(&self, export: &Export) -> Done<ImportPreview> {
        let change = self.kernel.change(Verb::Import);
        self.kernel.unless_erased(|since| {
            let (export, withheld) = self.without_withdrawn(export)?;
            let Incoming { bundle, mut imported, .. } = self.incoming(&change, &export)?;
            imported.withheld = withheld;
            let rolled_back = self.bundles.adopt(&change, &bundle, since, &mut |adopted| {
                imported.adopted = adopted.clone();
                false
            });
            match rolled_back {
                Ok(_) | Err(StoreError::TakenBack) => Ok(ImportPreview { dry_run: true, imported }),
                Err(error) => Err(error.into()),
            }
        })
    }
}
