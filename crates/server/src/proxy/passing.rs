//! A reply on its way to the client: each piece goes on as it comes, and a reference to it is kept for the recording. When the
//! client goes away, the body is dropped, and with it the connection to the server.

use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::sync::oneshot;

/// As much of a reply as is kept for the recording, in bytes.
const MOST_KEPT: usize = 16 << 20;

/// A reply that breaks off is broken off for the client this much later: an error discards what is not sent yet.
const LINGER: Duration = Duration::from_millis(20);

/// What has passed.
#[derive(Debug, Default)]
pub(super) struct Passed {
    pub(super) pieces: Vec<Bytes>,
    /// Whether the server sent all that it had to.
    pub(super) is_whole: bool,
}

impl Passed {
    /// All of it in one piece; nothing where it was too long to be kept.
    pub(super) fn body(&self) -> Option<Vec<u8>> {
        let size: usize = self.pieces.iter().map(Bytes::len).sum();
        (size <= MOST_KEPT).then(|| self.pieces.concat())
    }
}

/// A body that passes through; whoever waits for `done` gets what has passed when it ends, in whatever way.
pub(super) fn body(response: reqwest::Response, done: oneshot::Sender<Passed>) -> Body {
    let left = response.content_length();
    let passing = Passing { response, left, is_over: false, size: 0, passed: Passed::default(), done: Some(done) };
    Body::from_stream(stream::unfold(passing, |mut passing| async move {
        let piece = passing.next().await?;
        Some((piece, passing))
    }))
}

struct Passing {
    response: reqwest::Response,
    /// What is still to come, where the server said how much there is.
    left: Option<u64>,
    is_over: bool,
    size: usize,
    passed: Passed,
    done: Option<oneshot::Sender<Passed>>,
}

impl Passing {
    async fn next(&mut self) -> Option<Result<Bytes, reqwest::Error>> {
        if self.is_over {
            return None;
        }
        match self.response.chunk().await {
            Ok(Some(piece)) => {
                self.keep(&piece);
                Some(Ok(piece))
            }
            Ok(None) => {
                (self.is_over, self.passed.is_whole) = (true, true);
                None
            }
            Err(error) => {
                self.is_over = true;
                tokio::time::sleep(LINGER).await;
                Some(Err(error))
            }
        }
    }

    fn keep(&mut self, piece: &Bytes) {
        self.left = self.left.map(|left| left.saturating_sub(piece.len() as u64));
        // A body of a known length is not asked for more than that.
        self.passed.is_whole = self.left == Some(0);
        self.size += piece.len();
        if self.size <= MOST_KEPT || self.passed.pieces.is_empty() {
            self.passed.pieces.push(piece.clone());
        }
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            let mut passed = std::mem::take(&mut self.passed);
            if self.size > MOST_KEPT {
                passed.pieces.clear();
            }
            // Nobody waits where nothing is recorded.
            let _ = done.send(passed);
        }
    }
}
