//! A model that answers from a script.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use throughline_core::ports::{Brief, Cost, Model, ModelError, Reply, SummaryOf};

type Meanwhile = Box<dyn FnMut(&Brief) + Send>;

/// Answers what it was told to, in order, and remembers what it was asked. A call that the script does not foresee
/// panics: a model that should be left alone is one without a script.
pub struct ScriptedModel {
    cost: Cost,
    script: Mutex<VecDeque<Result<Reply, ModelError>>>,
    asked: Mutex<Vec<Brief>>,
    meanwhile: Mutex<Option<Meanwhile>>,
    window: Option<usize>,
}

impl Default for ScriptedModel {
    fn default() -> Self {
        Self {
            cost: Cost::Tokens,
            script: Mutex::default(),
            asked: Mutex::default(),
            meanwhile: Mutex::default(),
            window: None,
        }
    }
}

/// A whole reply, for ten tokens in and five out.
pub fn reply(text: impl Into<String>) -> Reply {
    Reply { tokens_in: 10, tokens_out: 5, ..Reply::said(text) }
}

impl ScriptedModel {
    /// Answers these, in order.
    pub fn giving(outcomes: impl IntoIterator<Item = Result<Reply, ModelError>>) -> Self {
        Self { script: Mutex::new(outcomes.into_iter().collect()), ..Self::default() }
    }

    /// Says these texts, in order.
    pub fn saying<const N: usize>(texts: [&str; N]) -> Self {
        Self::giving(texts.map(|text| Ok(reply(text))))
    }

    /// The same, and its calls cost nothing.
    pub fn for_free(self) -> Self {
        Self { cost: Cost::Free, ..self }
    }

    /// The same, and it can see so many tokens at once.
    pub fn with_window(self, tokens: usize) -> Self {
        Self { window: Some(tokens), ..self }
    }

    /// The same, and this happens during every call, before it answers.
    pub fn meanwhile(self, happens: impl FnMut(&Brief) + Send + 'static) -> Self {
        Self { meanwhile: Mutex::new(Some(Box::new(happens))), ..self }
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Brief> {
        lock(&self.asked).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Model for ScriptedModel {
    fn provider(&self) -> &'static str {
        "scripted"
    }

    fn name(&self) -> &str {
        "script"
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn summarises(&self) -> SummaryOf {
        SummaryOf::NewTurns
    }

    fn can_chat(&self) -> bool {
        true
    }

    fn context_window(&self) -> Option<usize> {
        self.window
    }

    fn complete(&self, brief: &Brief, sink: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        lock(&self.asked).push(brief.clone());
        if let Some(happens) = lock(&self.meanwhile).as_mut() {
            happens(brief);
        }
        let next = lock(&self.script).pop_front();
        let outcome = next.unwrap_or_else(|| panic!("the script has no answer to {brief:?}"));
        match outcome {
            Ok(reply) if !sink(&reply.text) => Err(ModelError::Cancelled),
            outcome => outcome,
        }
    }
}
