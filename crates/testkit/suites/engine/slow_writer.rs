//! A writer that is slow between its steps, and somebody who looks at the file meanwhile.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use throughline_core::model::{Document, Layer};
use throughline_core::ports::DocumentError;

use super::*;

/// Nobody waits longer for the other.
const PATIENCE: Duration = Duration::from_secs(20);

/// Documents whose next write tells that it is there, and whose change settles when it is told to.
struct Slow {
    inner: FileDocuments,
    written: Mutex<Option<(Sender<()>, Receiver<()>)>>,
    settles: Mutex<Option<Receiver<()>>>,
    looked: Mutex<Option<Sender<()>>>,
}

impl Documents for Slow {
    fn read(&self, name: &DocumentName) -> Result<Option<Document>, DocumentError> {
        self.inner.read(name)
    }
    fn write(&self, name: &DocumentName, text: &str, expected: &ContentHash) -> Result<(), DocumentError> {
        self.inner.write(name, text, expected)?;
        if let Some((written, looked)) = self.written.lock().unwrap().take() {
            written.send(()).unwrap();
            looked.recv_timeout(PATIENCE).unwrap();
            // The reader reaches the lock of the store now.
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
    fn remove(&self, name: &DocumentName, expected: &ContentHash) -> Result<(), DocumentError> {
        self.inner.remove(name, expected)
    }
    fn keep_beside(&self, name: &DocumentName, text: &str, stamp: &str) -> Result<String, DocumentError> {
        self.inner.keep_beside(name, text, stamp)
    }
    fn kept_beside(&self, name: &DocumentName) -> Result<Vec<String>, DocumentError> {
        self.inner.kept_beside(name)
    }
    fn list(&self, namespace: &Name) -> Result<Vec<DocumentName>, DocumentError> {
        self.inner.list(namespace)
    }
    fn stamp(&self, name: &DocumentName) -> Result<Option<String>, DocumentError> {
        self.inner.stamp(name)
    }
    fn announce(&self, name: &DocumentName, hash: &ContentHash) -> Result<(), DocumentError> {
        self.inner.announce(name, hash)
    }
    fn announced(&self, name: &DocumentName) -> Option<ContentHash> {
        let announced = self.inner.announced(name);
        if let Some(looked) = self.looked.lock().unwrap().take() {
            looked.send(()).unwrap();
        }
        announced
    }
    fn settle(&self, name: &DocumentName) {
        let settles = self.settles.lock().unwrap().take();
        if let Some(settles) = settles {
            settles.recv_timeout(PATIENCE).unwrap();
        }
        self.inner.settle(name);
    }
}

#[test]
fn what_a_slow_writer_has_committed_is_never_taken_back() {
    let mut slow = None;
    let place = place_with_files(|inner, _| {
        let documents = Arc::new(Slow { inner, written: None.into(), settles: None.into(), looked: None.into() });
        slow = Some(Arc::clone(&documents));
        documents
    });
    let (world, slow) = (&place.world, slow.unwrap());
    world.engine.documents().write(&document("user/profile"), "- Ada\n", None).unwrap();
    let ((written, is_written), (looked, is_looked), (done, is_done)) = (channel(), channel(), channel());
    *slow.written.lock().unwrap() = Some((written, is_looked));
    *slow.settles.lock().unwrap() = Some(is_done);
    *slow.looked.lock().unwrap() = Some(looked);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let profile = document("user/profile");
            world.engine.documents().write(&profile, "- Ada\n- lives in Lisbon\n", None).unwrap();
        });
        is_written.recv_timeout(PATIENCE).unwrap();
        let chess = NewMemory { layer: Layer::Identity, ..NewMemory::fact("plays chess") };
        world.engine.memories().remember(&chess).unwrap();
        done.send(()).unwrap();
        writer.join().unwrap();
    });
    assert_eq!(text_of(world, "user/profile").as_deref(), Some("- Ada\n- lives in Lisbon\n- plays chess\n"));
    assert_eq!(recalled(world, "Lisbon"), ["lives in Lisbon"]);
}
