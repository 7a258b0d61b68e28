//! The moments at which something goes wrong.

use std::panic::resume_unwind;
use std::sync::Mutex;

use throughline_core::ports::StoreError;
use throughline_testkit::simulated::Around;

use super::steps::Refusal;

/// A process that dies inside a verb, as far as a test can tell.
pub(crate) struct Death;

/// Something that another process, or the person, does.
pub(crate) type Meanwhile = Box<dyn FnOnce() + Send>;

/// What goes wrong, and at which call from now on.
pub(crate) enum Armed {
    Refused(usize, Refusal),
    Unconfirmed(usize),
    Dies(usize),
    Meanwhile(usize, Meanwhile),
    Saved(Meanwhile),
}

/// Calls after which something is stored.
const WRITES: [&str; 4] = ["apply", "append_to", "erase", "adopt"];

/// What became of the moments of one act.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// Whether what was armed happened.
    pub(crate) happened: bool,
    /// Whether something was written before a call failed, so that the act may be done although it failed.
    pub(crate) wrote: bool,
}

/// Around the store and the documents of every process.
#[derive(Default)]
pub(crate) struct Moments {
    armed: Mutex<Option<Armed>>,
    passed: Mutex<Passed>,
}

impl Moments {
    /// Arms something for the act that begins.
    pub(crate) fn arm(&self, armed: Option<Armed>) {
        *self.armed.lock().unwrap() = armed;
        *self.passed.lock().unwrap() = Passed::default();
    }

    /// Ends the act.
    pub(crate) fn disarm(&self) {
        *self.armed.lock().unwrap() = None;
    }

    /// What became of the moments so far.
    pub(crate) fn passed(&self) -> Passed {
        *self.passed.lock().unwrap()
    }

    /// Takes what is due now, and counts down otherwise.
    fn due(&self, is_due: impl Fn(&Armed) -> bool) -> Option<Armed> {
        let mut armed = self.armed.lock().unwrap();
        let (Armed::Refused(left, _) | Armed::Dies(left) | Armed::Meanwhile(left, _)) = armed.as_mut()? else {
            return None;
        };
        if *left > 0 {
            *left -= 1;
            return None;
        }
        let due = armed.take_if(|armed| is_due(armed));
        self.passed.lock().unwrap().happened |= due.is_some();
        due
    }
}

impl Around for Moments {
    fn before(&self, _: &'static str) -> Result<(), StoreError> {
        match self.due(|_| true) {
            Some(Armed::Refused(_, Refusal::Busy)) => Err(StoreError::Busy),
            Some(Armed::Refused(_, Refusal::Full)) => Err(StoreError::Full),
            Some(Armed::Refused(_, Refusal::Broken)) => {
                Err(StoreError::Failed { doing: "read the disk", source: "input/output error".into() })
            }
            Some(Armed::Dies(_)) => resume_unwind(Box::new(Death)),
            Some(Armed::Meanwhile(_, act)) => {
                let passed = *self.passed.lock().unwrap();
                act();
                // What the other process wrote is not this one's.
                *self.passed.lock().unwrap() = passed;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn after(&self, call: &'static str) -> Result<(), StoreError> {
        let is_write = WRITES.contains(&call);
        self.passed.lock().unwrap().wrote |= is_write;
        let mut armed = self.armed.lock().unwrap();
        match armed.as_mut() {
            Some(Armed::Unconfirmed(left)) if is_write && *left == 0 => {
                *armed = None;
                self.passed.lock().unwrap().happened = true;
                Err(StoreError::Busy)
            }
            Some(Armed::Unconfirmed(left)) => {
                *left = left.saturating_sub(1);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A transaction is open here: no other process can do anything, but a person can, and a process can die.
    fn before_write(&self) {
        if let Some(Armed::Dies(_)) = self.due(|armed| matches!(armed, Armed::Dies(_))) {
            resume_unwind(Box::new(Death));
        }
        let saved = self.armed.lock().unwrap().take_if(|armed| matches!(armed, Armed::Saved(_)));
        if let Some(Armed::Saved(save)) = saved {
            self.passed.lock().unwrap().happened = true;
            save();
        }
    }
}
