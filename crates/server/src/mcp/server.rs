//! One connection: every request parses, calls one verb of the engine on a thread that may block, and answers.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use throughline_core::engine::{Engine, Settings};
use throughline_core::ports::ToolCall;
use throughline_core::tools::{self as core_tools, Tool};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use super::conversation::{Caller, Conversation};
use super::logging::{self, Log};
use super::roots::Roots;
use super::sampling::SamplingPeer;
use super::{Keeper, prompts, resources, tools};
use crate::problem::{Code, Problem};

const OFF: &str = "The person has switched this memory off: no tools, resources or prompts are offered, and nothing is \
                   remembered. `enabled = true` under `[memory]` in the config file of Throughline switches it on.";

/// Calls that are worked on at once.
pub(super) const CALLS_AT_ONCE: usize = 32;

/// How a client reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// One process for each client.
    Stdio,
    /// One process for all.
    Http,
}

/// The server of one connection.
#[derive(Clone)]
pub(super) struct Server {
    keeper: Arc<dyn Keeper>,
    way: Way,
    /// As it was when the client came; tools that are offered do not change under it.
    settings: Result<Arc<Settings>, Problem>,
    conversation: Arc<Conversation>,
    roots: Arc<Roots>,
    log: Arc<Log>,
    /// Room for calls: each holds a thread until it is done, also where its client has gone.
    places: Arc<Semaphore>,
    work: TaskTracker,
}

impl Server {
    pub(super) fn new(keeper: Arc<dyn Keeper>, way: Way, places: Arc<Semaphore>) -> Self {
        let settings = keeper.settings().map(Arc::new);
        let (conversation, roots, log) = (Arc::default(), Arc::default(), Arc::default());
        Self { keeper, way, settings, conversation, roots, log, places, work: TaskTracker::new() }
    }

    /// What is being done: whoever ends the process waits for it.
    pub(super) fn work(&self) -> TaskTracker {
        self.work.clone()
    }

    /// The tools that are offered. Where the settings cannot be read these are the usual ones: they say what is wrong.
    fn offered(&self) -> &[Tool] {
        self.settings.as_ref().map_or(&Tool::USUAL, |settings| settings.offered())
    }

    fn is_on(&self) -> bool {
        self.settings.as_ref().map_or(true, |settings| settings.enabled)
    }

    fn instructions(&self) -> String {
        match &self.settings {
            Err(problem) => format!("This memory cannot be opened at the moment: {}.", said(problem)),
            Ok(settings) if !settings.enabled => OFF.to_owned(),
            Ok(settings) => core_tools::guidance(settings.offered()).text,
        }
    }

    async fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let from_client = self.roots.of(context).await;
        Caller {
            client: context.client_info().map(|client| client.name),
            is_stateless: self.way == Way::Http && context.meta.protocol_version().is_some(),
            directories: self.keeper.directory().into_iter().chain(from_client).collect(),
        }
    }

    /// Works on the memory, on a thread that may block. Once begun it is finished, even if the client goes.
    async fn with_engine<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Keeper, &Engine) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        // Whoever finds no place waits: a model makes little of being told to come again.
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| Problem::broken())?;
        let keeper = Arc::clone(&self.keeper);
        let done = self.work.spawn_blocking(move || {
            let _place = place;
            work(&*keeper, &keeper.engine()?)
        });
        done.await.unwrap_or_else(|error| Err(Problem::unfinished(&error)))
    }
}

/// A problem in one sentence.
fn said(problem: &Problem) -> String {
    let hint = problem.hint.as_ref().map(|hint| format!(" (hint: {hint})")).unwrap_or_default();
    format!("{}{hint}", problem.message)
}

/// A problem as the protocol has it.
fn refused(problem: Problem) -> ErrorData {
    let data = Some(json!({ "code": problem.code.as_str(), "hint": problem.hint }));
    let message = said(&problem);
    match problem.code {
        Code::NotFound => ErrorData::resource_not_found(message, data),
        Code::Invalid | Code::Ambiguous => ErrorData::invalid_params(message, data),
        _ => ErrorData::internal_error(message, data),
    }
}

/// A refusal that names the resource that was asked for.
fn about(uri: &str, mut refused: ErrorData) -> ErrorData {
    if let Some(Value::Object(data)) = &mut refused.data {
        data.insert("uri".to_owned(), json!(uri));
    }
    refused
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let server = Implementation::new("throughline", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(logging::capabilities()).with_server_info(server).with_instructions(self.instructions())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Some(client) = SamplingPeer::of(&context.peer).filter(|_| self.is_on()) {
            self.keeper.offer_sampling(Arc::new(client));
        }
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.roots.forget().await;
    }

    #[expect(deprecated, reason = "revisions with a handshake have it")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.log.set(request.level);
        Ok(())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.offered().iter().copied().map(tools::described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self.offered().iter().any(|tool| tool.as_str() == request.name) {
            return Err(tools::unknown(&request.name, self.offered()));
        }
        let caller = self.caller(&context).await;
        let conversation = Arc::clone(&self.conversation);
        let arguments = request.arguments.map(|arguments| Value::Object(arguments).to_string()).unwrap_or_default();
        let call = ToolCall { id: String::new(), name: request.name.into_owned(), arguments };
        let answer = self
            .with_engine(move |keeper, engine| {
                let engine = caller.working(engine);
                let session = conversation.session(keeper, &engine, &caller)?;
                Ok(engine.tools().call(&session, &call))
            })
            .await;
        if let Err(problem) = &answer {
            self.log.failed(&context.peer, problem).await;
        }
        Ok(answer.map_or_else(tools::failed, tools::answered).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = self.caller(&context).await;
        let found = self.with_engine(move |_, engine| resources::list(engine, &caller)).await;
        found.map(ListResourcesResult::with_all_items).map_err(refused)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = if self.is_on() { resources::templates() } else { Vec::new() };
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context).await;
        let uri = request.uri.clone();
        let read = self.with_engine(move |_, engine| resources::read(&caller.working(engine), &caller, &uri)).await;
        read.map(Into::into).map_err(|problem| about(&request.uri, refused(problem)))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = if self.is_on() { prompts::list() } else { Vec::new() };
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let caller = self.caller(&context).await;
        let got = self
            .with_engine(move |_, engine| {
                prompts::get(&caller.working(engine), &caller, &request.name, request.arguments.as_ref())
            })
            .await;
        got.map(Into::into).map_err(|problem| match problem.code {
            // To the protocol a prompt that is not there is a parameter that is wrong.
            Code::NotFound => refused(Problem { code: Code::Invalid, ..problem }),
            _ => refused(problem),
        })
    }
}
