//! What importing an export of our own would do.

use crate::error::Done;
use crate::transfer::TransferService;
use crate::transfer::{Export, Imported};
use serde::Serialize;

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
    /// Says what [`Engine::import`] would do.
    pub fn preview_import(&self, export: &Export) -> Done<ImportPreview> {
        let incoming = self.incoming(export)?;
        let adopted = self.foretold(&incoming.bundle)?;
        Ok(ImportPreview { dry_run: true, imported: Imported { adopted, ..incoming.imported } })
    }
}
