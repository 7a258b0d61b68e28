//! A question with one answer: JSON goes out, JSON comes in, all within one time limit.

use std::time::Duration;

use reqwest::Response;
use throughline_core::ports::ModelError;
use tokio::time::timeout;

use super::{Http, address, failure};

/// The longest answer: a batch of long vectors, written out.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

impl Http {
    /// Asks once.
    pub(crate) fn post(&self, path: &str, body: String, limit: Duration) -> Result<Vec<u8>, ModelError> {
        let client = self.client()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| self.unreachable(&error.to_string()))?;
        let asking = async {
            let url = address::below(&self.base, path);
            let sent = client.post(url).headers(self.headers.clone()).body(body).send().await;
            self.answer(sent.map_err(|error| self.unreachable(&failure::innermost(&error)))?).await
        };
        let answered = runtime.block_on(async { timeout(limit, asking).await });
        // Closes the connection; does not wait for a name server that is still being asked.
        runtime.shutdown_background();
        answered.unwrap_or(Err(ModelError::TimedOut { provider: self.provider }))
    }

    async fn answer(&self, mut response: Response) -> Result<Vec<u8>, ModelError> {
        let status = response.status();
        let most = if status.is_success() { MAX_ANSWER } else { failure::MAX_BODY };
        let mut bytes = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Ok(None) => break,
                Err(_) if !status.is_success() => break,
                Err(error) => {
                    return Err(self.malformed(&format!("the reply breaks off: {}", failure::innermost(&error))));
                }
            }
            if bytes.len() > most && status.is_success() {
                return Err(self.malformed("the reply has no end"));
            }
            if bytes.len() > most {
                break;
            }
        }
        if status.is_success() {
            return Ok(bytes);
        }
        if status.is_redirection() {
            return Err(self.refused(status.as_u16(), "a redirect, which is not followed", None));
        }
        bytes.truncate(most);
        let retry_after = failure::retry_after(response.headers());
        Err(self.refused(status.as_u16(), &failure::message(&bytes), retry_after))
    }

    /// What came is not what was asked for.
    pub(crate) fn not_understood(&self, why: &str) -> ModelError {
        self.malformed(why)
    }
}
