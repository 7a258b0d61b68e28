//! `throughline copy`

use clap::Args;
use serde_json::json;
use throughline_core::engine::chain;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, keep, style};
use crate::config;
use crate::world::{CopyFailure, Home, Place, secret};

/// Copy a whole memory to another store
#[derive(Args)]
pub(super) struct Copy {
    /// The memory to copy: sqlite://PATH or postgres://USER@HOST/DATABASE?space=NAME
    #[arg(long, value_name = "URL")]
    from: String,
    /// Where to: a file that does not exist, or an empty space; what an interrupted copy left is completed
    #[arg(long, value_name = "URL")]
    to: String,
    /// The variable with the password of the server to copy from; `store.password_env` of the config without it
    #[arg(long, value_name = "VARIABLE")]
    from_password_env: Option<String>,
    /// The variable with the password of the server to copy to; `store.password_env` of the config without it
    #[arg(long, value_name = "VARIABLE")]
    to_password_env: Option<String>,
}

impl Copy {
    pub(super) fn run(self) -> Answer {
        let from =
            Place::parse(&self.from, password(self.from_password_env)?.as_deref()).map_err(|error| failed(&error))?;
        let to = Place::parse(&self.to, password(self.to_password_env)?.as_deref()).map_err(|error| failed(&error))?;
        let bar = keep::bar("rows");
        let copied = from.copy_to(&to, &mut |done, of| {
            bar.set_length(of);
            bar.set_position(done);
        });
        bar.finish_and_clear();
        let copied = copied.map_err(|error| failed(&error))?;
        let rows = style::count(copied.rows, "row", "rows");
        let mut told = format!("copied {rows} from {from}\n  to {to}\n");
        if copied.resumed > 0 {
            let earlier = style::count(copied.resumed, "row was", "rows were");
            told.push_str(&format!("{earlier} there from an earlier run\n"));
        }
        told.push_str(&format!("compared, and the same: {}\n", copied.digest));
        told.push_str(match to {
            Place::Server(_) => "to use it, set `url` under `[store]` in the config file\n",
            Place::File(_) => "to use it, leave `[store] url` out of the config file beside it\n",
        });
        let body = json!({
            "from": from.to_string(), "to": to.to_string(), "rows": copied.rows, "resumed": copied.resumed,
            "digest": copied.digest, "tables": copied.tables.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        });
        Ok(Reply::new(&body, told))
    }
}

/// A password: in the variable that is named, or in that of the config.
fn password(variable: Option<String>) -> Result<Option<String>, Failure> {
    let Some(variable) = variable else {
        let loaded = config::load(&Home::find()?.config)?;
        return Ok(loaded.config.store.password_env.as_deref().and_then(secret));
    };
    let unset =
        || Failure::new(format!("the variable `{variable}` is not set"), "set it to the password, and export it");
    secret(&variable).map(Some).ok_or_else(unset)
}

fn failed(error: &CopyFailure) -> Failure {
    Failure::new(chain(error), error.hint().unwrap_or_else(|| "`throughline doctor` looks for the cause".to_owned()))
}
