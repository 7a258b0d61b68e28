//! One exchange with a model over HTTP: a request goes out, events come in, under exact time limits.
//!
//! Each exchange has a runtime and a connection of its own. What is spawned on a runtime is only run while somebody
//! blocks on it: with a shared one, the connection of a cancelled reply would stay open until the next call. Making
//! one takes microseconds; a reply takes seconds.

pub(crate) mod address;
mod events;
mod failure;
mod plain;

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, Url};
use serde_json::Value;
use throughline_core::ports::{Brief, ModelError, Reply};
use tokio::time::{Instant, timeout_at};

use crate::ask::Ask;
use crate::settings::{HttpSettings, Secret, SettingsError, Timeouts};
use crate::wire::{Answer, Form, Framing, Trouble, Wire};
use events::{Broken, Events};

/// How often a sink is asked whether to go on while nothing arrives.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// How long the usage is waited for after the text has ended.
const AFTERTHOUGHT: Duration = Duration::from_secs(2);

type Sink<'a> = dyn FnMut(&str) -> bool + 'a;

/// How a wire sends its key, and what else it wants in every head.
pub(crate) struct Auth {
    pub(crate) header: &'static str,
    pub(crate) scheme: &'static str,
    pub(crate) extra: &'static [(&'static str, &'static str)],
}

pub(crate) struct Http {
    provider: &'static str,
    base: Url,
    model: String,
    key: Option<Secret>,
    headers: HeaderMap,
    timeouts: Timeouts,
    client: OnceLock<Client>,
    /// What this server turned out to understand.
    form: Mutex<Form>,
    /// What the model can see at once, once somebody asked.
    window: OnceLock<Option<usize>>,
}

/// The base URL may hold a password.
impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Http");
        shown.field("base", &address::shown(&self.base)).field("model", &self.model).field("key", &self.key);
        shown.finish_non_exhaustive()
    }
}

impl Http {
    /// `superfluous` are the ends of a base URL that the wire's paths begin with.
    pub(crate) fn new(
        provider: &'static str,
        default_base: &str,
        superfluous: &[&str],
        auth: &Auth,
        settings: HttpSettings,
    ) -> Result<Self, SettingsError> {
        let base = settings.base_url.as_deref().filter(|url| !url.trim().is_empty()).unwrap_or(default_base);
        let base = address::parse(base, superfluous).ok_or(SettingsError::BaseUrl { provider })?;
        let key = settings.key.filter(|key| !key.reveal().is_empty());
        let headers = headers(provider, auth, key.as_ref())?;
        let (model, timeouts) = (settings.model, settings.timeouts);
        let (client, form, window) = (OnceLock::new(), Mutex::default(), OnceLock::new());
        Ok(Self { provider, base, model, key, headers, timeouts, client, form, window })
    }

    /// The address without user, password and query: it can be asked, and may be kept.
    pub(crate) fn base_without_secrets(&self) -> String {
        format!("{}{}", address::shown(&self.base), self.base.path().trim_end_matches('/'))
    }

    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// One attempt; a request that the server finds bad is repeated without what it does not understand.
    pub(crate) fn complete(&self, wire: &dyn Wire, brief: &Brief, sink: &mut Sink<'_>) -> Result<Reply, ModelError> {
        let mut form = *self.form.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let ask = Ask::of(brief, form.tools);
            let result = self.exchange(wire, &ask, form, sink);
            let simpler = match &result {
                Err(ModelError::Refused { status, why, .. }) => simpler(wire, &ask, form, *status, why),
                _ => None,
            };
            match simpler {
                Some(simpler) => form = simpler,
                None => {
                    if result.is_ok() {
                        *self.form.lock().unwrap_or_else(PoisonError::into_inner) = form;
                    }
                    return result;
                }
            }
        }
    }

    /// What `ask` finds out about the model's window; asked once.
    pub(crate) fn window(&self, ask: impl FnOnce(&Self) -> Option<usize>) -> Option<usize> {
        *self.window.get_or_init(|| ask(self))
    }

    /// What a server tells anybody who asks, within a short time; nothing if anything is amiss.
    pub(crate) fn look_up(&self, path: &str, body: Option<&Value>, limit: Duration) -> Option<Value> {
        let client = self.client().ok()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        let asking = async {
            let url = address::below(&self.base, path);
            let request = match body {
                Some(body) => client.post(url).body(body.to_string()),
                None => client.get(url),
            };
            let mut response = request.headers(self.headers.clone()).send().await.ok()?;
            let mut events = Events::new(Framing::Whole);
            while let Some(bytes) = response.chunk().await.ok()?.filter(|_| response.status().is_success()) {
                events.push(&bytes).ok()?;
            }
            events.end().ok()?;
            serde_json::from_str(&events.next()?).ok()
        };
        let found = runtime.block_on(async { tokio::time::timeout(limit, asking).await.ok().flatten() });
        runtime.shutdown_background();
        found
    }

    fn exchange(&self, wire: &dyn Wire, ask: &Ask, form: Form, sink: &mut Sink<'_>) -> Result<Reply, ModelError> {
        let client = self.client()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| self.unreachable(&error.to_string()))?;
        let body = wire.body(&self.model, ask, form).to_string();
        let result = runtime.block_on(Exchange { http: self, wire, ask }.run(&client, body, sink));
        // Closes the connection; does not wait for a name server that is still being asked.
        runtime.shutdown_background();
        result
    }

    fn client(&self) -> Result<Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let client = address::client(&self.base, self.timeouts.connect);
        let client = client.map_err(|error| self.unreachable(&failure::innermost(&error)))?;
        Ok(self.client.get_or_init(|| client).clone())
    }

    fn unreachable(&self, why: &str) -> ModelError {
        let why = format!("{}: {}", address::shown(&self.base), failure::safe(why, self.key.as_ref()));
        ModelError::Unreachable { provider: self.provider, why }
    }

    fn malformed(&self, why: &str) -> ModelError {
        ModelError::Malformed { provider: self.provider, why: failure::safe(why, self.key.as_ref()) }
    }

    fn refused(&self, status: u16, why: &str, retry_after: Option<Duration>) -> ModelError {
        let why = failure::safe(why, self.key.as_ref());
        ModelError::Refused { provider: self.provider, status, why, retry_after }
    }
}

/// What to leave out after a refusal; nothing if that would not help.
fn simpler(wire: &dyn Wire, ask: &Ask, form: Form, status: u16, why: &str) -> Option<Form> {
    if !ask.tools.is_empty() && refuses_tools(status, why) {
        return Some(Form { tools: false, ..form });
    }
    matches!(status, 400 | 422).then(|| wire.simpler(ask, form, why)).flatten()
}

/// Ollama: "… does not support tools"; OpenRouter: 404, "no endpoints … support tool use"; vLLM: "\"auto\" tool choice
/// requires …"; llama.cpp: 500, "tools param requires --jinja flag".
fn refuses_tools(status: u16, why: &str) -> bool {
    let why = why.to_lowercase();
    match status {
        400 | 404 | 422 | 501 => why.contains("tool") || why.contains("function call"),
        500 => why.contains("tool") && why.contains("--jinja"),
        _ => false,
    }
}

fn headers(provider: &'static str, auth: &Auth, key: Option<&Secret>) -> Result<HeaderMap, SettingsError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/x-ndjson, application/json"));
    for (name, value) in auth.extra {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = key {
        let value = HeaderValue::from_str(&format!("{}{}", auth.scheme, key.reveal()));
        let mut value = value.map_err(|_| SettingsError::Key { provider })?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(auth.header), value);
    }
    Ok(headers)
}

/// One request and its reply.
struct Exchange<'a> {
    http: &'a Http,
    wire: &'a dyn Wire,
    ask: &'a Ask,
}

impl Exchange<'_> {
    async fn run(&self, client: &Client, body: String, sink: &mut Sink<'_>) -> Result<Reply, ModelError> {
        let Timeouts { first_byte, whole, .. } = self.http.timeouts;
        let end = Instant::now() + whole;
        let url = address::below(&self.http.base, self.wire.path());
        let sending = client.post(url).headers(self.http.headers.clone()).body(body).send();
        let sent = self.wait(sending, end.min(Instant::now() + first_byte), sink).await?;
        let response = sent.map_err(|error| self.not_sent(&error))?;
        if !response.status().is_success() {
            return Err(self.refusal(response, end, sink).await?);
        }
        let framing = self.framing(&response)?;
        let answer = self.receive(response, framing, end, sink).await?;
        answer.finished(self.http.provider, self.ask)
    }

    /// Waits, and asks the sink meanwhile whether to go on.
    async fn wait<T>(
        &self,
        what: impl Future<Output = T>,
        until: Instant,
        sink: &mut Sink<'_>,
    ) -> Result<T, ModelError> {
        let mut what = pin!(what);
        loop {
            let now = Instant::now();
            if let Ok(done) = timeout_at(until.min(now + ASK_EVERY), what.as_mut()).await {
                return Ok(done);
            }
            if !sink("") {
                return Err(ModelError::Cancelled);
            }
            if Instant::now() >= until {
                return Err(ModelError::TimedOut { provider: self.http.provider });
            }
        }
    }

    fn not_sent(&self, error: &reqwest::Error) -> ModelError {
        if error.is_timeout() {
            return self.http.unreachable(&format!("no connection within {:?}", self.http.timeouts.connect));
        }
        self.http.unreachable(&failure::innermost(error))
    }

    /// The error that the server answered with.
    async fn refusal(
        &self,
        mut response: Response,
        end: Instant,
        sink: &mut Sink<'_>,
    ) -> Result<ModelError, ModelError> {
        let status = response.status();
        if status.is_redirection() {
            return Ok(self.http.refused(status.as_u16(), "a redirect, which is not followed", None));
        }
        let retry_after = failure::retry_after(response.headers());
        let mut body = Vec::new();
        while body.len() < failure::MAX_BODY {
            let until = end.min(Instant::now() + self.http.timeouts.between);
            match self.wait(response.chunk(), until, sink).await {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Err(ModelError::Cancelled) => return Err(ModelError::Cancelled),
                // The status says enough, even if the words about it never come.
                _ => break,
            }
        }
        body.truncate(failure::MAX_BODY);
        Ok(self.http.refused(status.as_u16(), &failure::message(&body), retry_after))
    }

    /// How this reply is framed, by what it says it is.
    fn framing(&self, response: &Response) -> Result<Framing, ModelError> {
        let Some(value) = response.headers().get(CONTENT_TYPE) else { return Ok(self.wire.framing()) };
        let value = value.to_str().unwrap_or_default();
        let kind = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match (self.wire.framing(), kind.as_str()) {
            (Framing::Sse, "text/event-stream") => Ok(Framing::Sse),
            (Framing::Sse, "application/json") => Ok(Framing::Whole),
            (Framing::Lines, "application/x-ndjson" | "application/jsonl" | "application/json") => Ok(Framing::Lines),
            _ => Err(self.http.malformed(&format!("a reply of the type `{kind}`"))),
        }
    }

    async fn receive(
        &self,
        mut response: Response,
        framing: Framing,
        end: Instant,
        sink: &mut Sink<'_>,
    ) -> Result<Answer, ModelError> {
        let (mut answer, mut events) = (Answer::to(self.ask), Events::new(framing));
        let broken = |Broken(why)| self.http.malformed(why);
        let mut patience = self.http.timeouts.first_byte;
        while !answer.is_over {
            let chunk = self.wait(response.chunk(), end.min(Instant::now() + patience), sink).await;
            match chunk {
                Ok(Ok(Some(bytes))) => events.push(&bytes).map_err(broken)?,
                Ok(Ok(None)) => {
                    events.end().map_err(broken)?;
                    self.read(&mut events, &mut answer, sink)?;
                    break;
                }
                // Whoever has said how the reply ended has said it all.
                Ok(Err(_)) | Err(ModelError::TimedOut { .. }) if answer.finish.is_some() => break,
                Ok(Err(error)) => {
                    return Err(self.http.malformed(&format!("the reply breaks off: {}", failure::innermost(&error))));
                }
                Err(error) => return Err(error),
            }
            self.read(&mut events, &mut answer, sink)?;
            let between = self.http.timeouts.between;
            patience = if answer.finish.is_some() { between.min(AFTERTHOUGHT) } else { between };
        }
        answer.end();
        self.pass_on(&mut answer, sink)?;
        Ok(answer)
    }

    /// Takes in every event that is whole.
    fn read(&self, events: &mut Events, answer: &mut Answer, sink: &mut Sink<'_>) -> Result<(), ModelError> {
        while let Some(data) = events.next().filter(|_| !answer.is_over) {
            if data.trim() == "[DONE]" {
                answer.is_over = true;
                break;
            }
            let event = serde_json::from_str(&data).map_err(|_| self.http.malformed("an event that is not JSON"))?;
            self.wire.read(&event, answer).map_err(|trouble| match trouble {
                Trouble::Refused { status, why } => self.http.refused(status, &why, None),
                Trouble::Malformed(why) => self.http.malformed(&why),
            })?;
            self.pass_on(answer, sink)?;
        }
        Ok(())
    }

    fn pass_on(&self, answer: &mut Answer, sink: &mut Sink<'_>) -> Result<(), ModelError> {
        if answer.is_too_long() {
            return Err(self.http.malformed("the reply is longer than 1 MiB"));
        }
        let fresh = answer.take_fresh();
        if fresh.is_empty() || sink(&fresh) { Ok(()) } else { Err(ModelError::Cancelled) }
    }
}
