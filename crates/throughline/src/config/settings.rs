//! Every setting: one item each, with its help, name, type, default, range and example. Each part of the program is given
//! its own table only.
//!
//! The structs, their defaults, the checks of a file, `config show`, `defaults.toml` and docs/config.md are made from
//! these items; `just docs` writes the last two. [`tables!`] says how an item is written.

use serde::{Deserialize, Serialize};

use super::choices::{
    AgentForget, CommandLine, EmbeddingsProvider, ModelProvider, Ranking, RecallPlace, ToolSet, Tools,
};
use super::declare::tables;
use super::values::{Setting, VariableName};

tables! {
    /// What is remembered, for whom and for how long.
    memory: MemoryConfig {
        /// The master switch. Left out, memory is on as soon as `user_namespace` is set, and off without it.
        /// Off means that nothing is given to assistants or written by itself; your own commands still work.
        enabled: Option<bool> = None, such as true;

        /// Directories and channels that stay off the record, such as "~/private" or "telegram": nothing is observed and
        /// nothing is given there. What has a `/` is a directory, with all that is below it; `~/` is your home directory.
        exclude: Vec<String> = Vec::new();

        /// The name your memory goes by. With it, every channel shares one memory of you;
        /// without it, each session keeps to itself.
        user_namespace: Option<String> = None, such as "user";

        /// An existing directory, such as an assistant's `.global_memory/`, to keep your documents in instead of
        /// Throughline's own home: its Markdown and text files are the documents of your namespace. `~/` is your home directory.
        user_dir: Option<String> = None, such as "~/.global_memory";

        /// Files that the system prompt of a chat begins with, in this order, such as a persona and house rules. A path
        /// begins at this file's own directory; `~/` is your home directory.
        base_prompt_files: Vec<String> = Vec::new();

        /// Keep a short note on where things stand, so that the next session can pick up where you left off.
        working_memory: bool = true;

        /// How many days that note stays fresh: {range}. An older one is neither shown nor searched.
        working_memory_ttl_days: u32 = 14, in 1..=365;

        /// How long that note may be, in tokens: {range}. A token is about four letters.
        working_memory_max_tokens: u32 = 1000, in 100..=4000;

        /// Let the first reply of a session mention what you were last doing together.
        proactive_session_greeting: bool = false;

        /// How much of what a session begins with the rules and the state of its project may take, in tokens: {range}.
        /// With 0 they are left out.
        project_max_tokens: u32 = 400, in 0..=4000;

        /// How many memories may come along with each of your messages: {range}. With 0 none do.
        recall_limit: u32 = 5, in 0..=100;

        /// How many things that were said, or summaries of it, may come along besides: {range}. With 0 none do.
        evidence_limit: u32 = 10, in 0..=100;

        /// How much room all of them may take, in tokens: {range}. Memories come whole or not at all.
        recall_max_tokens: u32 = 1000, in 0..=32_000;

        /// Which memory comes first: "fused" uses the whole formula (`recall --why`); "bm25" goes by words alone.
        ranking: Ranking = Ranking::Fused;

        /// Pick up facts, preferences and decisions from conversations without being asked.
        auto_extract: bool = true;

        /// Let another provider than the one under `[model]` do the summarising and remembering.
        consolidation_provider: Option<String> = None, such as "openai";

        /// And another model: often a small, inexpensive one will do.
        consolidation_model: Option<String> = None, such as "gpt-4o-mini";

        /// Tidy up a conversation into memories after this many of your messages. 0 turns this off.
        consolidation_turn_threshold: u32 = 3;

        /// Do the same after this many minutes of silence. 0 turns this off.
        idle_consolidation_minutes: u32 = 10;

        /// Tidy up a conversation, and shorten what the built-in chat sends of it, once it fills more than this share of the
        /// context window: {range}. 0 turns this off.
        trigger_ratio: f64 = 0.5;

        /// How many tokens the model can see at once, for models that do not say it themselves: {range}.
        context_window: u32 = 128_000, in 1000..=u32::MAX;

        /// How long the summary of a conversation may be, in tokens: {range}.
        summary_max_tokens: u32 = 1000, in 100..=8000;

        /// How many of the latest turns stay word for word when a conversation is shortened: {range}.
        keep_recent_turns: u32 = 6;

        /// Clear away small automatic pieces of the timeline after this many days; what matters stays.
        /// 0 keeps all of it.
        timeline_retention_days: u32 = 90;

        /// Remove what was said after this many days, unless a memory came from it: what you know stays, with its evidence.
        /// 0 keeps all of it.
        turns_retention_days: u32 = 0;

        /// After this many failed model calls in a row, keep the raw messages instead of a summary: {range}.
        max_failures_before_degrade: u32 = 3, in 1..=u32::MAX;

        /// Tidy up after this many of your messages even if the other triggers are off: for hosts that never say that a
        /// conversation ends. 0 turns this off.
        flush_every_prompts: u32 = 10;

        /// What happens when an assistant forgets something: "inactive" sets it aside so that you can bring it back,
        /// "delete" removes it.
        agent_forget: AgentForget = AgentForget::Inactive;

        /// Which tools an assistant is offered: "default" for the few that matter, "all", or a list of their names.
        tools: Tools = Tools::Set(ToolSet::Default);
    }

    /// How memory is looked back on.
    reflection: ReflectionConfig {
        /// Look back on memory every so many hours: {range}. What is due is done by the daemon, or in the background
        /// with your next command, also after your computer slept. 0 turns this off; `throughline reflect` works
        /// always.
        every_hours: u32 = 24, in 0..=8760;

        /// Not between these hours of your day: {range}. The same hour twice means at any time.
        quiet_from: u32 = 0, in 0..=23;

        /// When quiet ends: {range}.
        quiet_until: u32 = 0, in 0..=23;

        /// How much of a memory file one pass may remove or change: {range}. The rest waits for the next pass.
        max_share: f64 = 0.2;

        /// Write what you said in several conversations to your patterns and profile.
        promote: bool = true;

        /// Make one memory of several that say the same.
        merge: bool = true;
    }

    /// How memories reach the assistant.
    inject: InjectConfig {
        /// Where recalled memories go: in front of your "message", into the "system_prompt", or "off".
        recall: RecallPlace = RecallPlace::Message;

        /// Show a memory again although the assistant can still see it further up.
        repeat: bool = false;

        /// Let the passages of your vault that fit a message come along with the memories, cited, within the same room.
        vault: bool = false;
    }

    /// How assistants' hooks are answered.
    hooks: HooksConfig {
        /// After how many milliseconds a message goes on to your assistant without memories, {range}.
        /// `throughline hook` never makes it wait longer.
        prompt_deadline_ms: u32 = 250, in 1..=60_000;
    }

    /// Memory for programs that only know a model's address.
    proxy: ProxyConfig {
        /// Where requests in OpenAI's format go on to. Left out, to `model.base_url` where `model.provider` is "openai", else
        /// to OpenAI.
        openai_base_url: Option<String> = None, such as "https://openrouter.ai/api/v1";

        /// The environment variable that holds the key for it, for clients that have none of their own. Left out,
        /// `model.api_key_env` where `model.provider` is "openai", else OPENAI_API_KEY.
        openai_api_key_env: Option<VariableName> = None, such as "OPENROUTER_API_KEY";

        /// Where requests in Anthropic's format go on to. Left out, to `model.base_url` where `model.provider` is "anthropic",
        /// else to Anthropic.
        anthropic_base_url: Option<String> = None, such as "https://api.anthropic.com";

        /// The environment variable that holds the key for it. Left out, `model.api_key_env` where `model.provider` is
        /// "anthropic", else ANTHROPIC_API_KEY.
        anthropic_api_key_env: Option<VariableName> = None, such as "ANTHROPIC_API_KEY";

        /// After how many milliseconds a request goes on without memories, {range}.
        deadline_ms: u32 = 250, in 1..=60_000;

        /// Send a summary in place of the older messages once a history takes more than `memory.trigger_ratio` of
        /// `memory.context_window`. What your program shows stays whole.
        compact: bool = false;
    }

    /// The model that summarises and extracts.
    model: ModelConfig {
        /// Who summarises and remembers: "offline" needs nothing and never invents a word; "ollama", "openai"
        /// (any compatible service), "anthropic", "command" (a program of yours, such as an assistant that you have) or
        /// "sampling" (the model of a connected assistant) understand more. `throughline model list` shows what is there,
        /// `throughline model use` sets this.
        provider: ModelProvider = ModelProvider::Offline;

        /// For "command": the program that gets the prompt on standard input and prints the reply, as you would type it or as a
        /// list of words; no shell runs it. "claude-code" and "codex" stand for `claude -p` and `codex exec` without tools.
        command: Option<CommandLine> = None, such as "claude-code";

        /// Where to reach it, if not at its usual address.
        base_url: Option<String> = None, such as "http://localhost:11434";

        /// Which model to ask, by the provider's own name for it.
        model: Option<String> = None, such as "llama3.2";

        /// The environment variable that holds your key. The key itself never belongs in this file.
        api_key_env: Option<VariableName> = None, such as "OPENAI_API_KEY";

        /// Give up on a reply after this many seconds: {range}. Left out, a service has 600, a program and a connected
        /// assistant 180.
        timeout_seconds: Option<u32> = None, in 1..=3600, such as 120;

        /// How many tokens models may cost in a day, all together. 0 sets no limit.
        /// `throughline stats` shows what was spent.
        daily_tokens: u32 = 0;
    }

    /// The search by meaning.
    embeddings: EmbeddingsConfig {
        /// Search by meaning as well as by words: with "builtin", a small English model that is a part of this program;
        /// "directory", a model of yours on this machine; "ollama"; "openai" (any compatible service). "none" searches
        /// by words alone. `throughline model embed` checks a model and sets this.
        provider: EmbeddingsProvider = EmbeddingsProvider::Builtin;

        /// Where to reach it, if not at its usual address.
        base_url: Option<String> = None, such as "http://localhost:11434";

        /// Which embedding model to ask, by the provider's own name for it; for "directory", where it is (`~/` is your
        /// home directory).
        model: Option<String> = None, such as "nomic-embed-text";

        /// The environment variable that holds your key.
        api_key_env: Option<VariableName> = None, such as "OPENAI_API_KEY";
    }

    /// Where the memory is kept. Left out, in a file of this home. See docs/postgres.md.
    store: StoreConfig {
        /// A PostgreSQL server that keeps the memory in place of a file of this home, so that several machines share it. `?space=NAME` at its end
        /// names whose memory it is, where several people share the server.
        url: Option<String> = None, such as "postgres://ada@db.example.com/memory";

        /// The environment variable that holds the password for it.
        password_env: Option<VariableName> = None, such as "THROUGHLINE_STORE_PASSWORD";
    }

    /// The daemon.
    server: ServerConfig {
        /// Where `throughline serve` listens, on this machine alone: {range}. 0 takes any port that is free.
        port: u16 = 7077;

        /// Names besides 127.0.0.1 and localhost that lead to the daemon, such as "memory.example" or
        /// "memory.example:8443".
        hosts: Vec<String> = Vec::new();

        /// Write a backup every so many hours while the daemon runs: {range}. Each is restored on the side to prove it.
        /// 0 turns this off; `throughline backup` works always.
        backup_every_hours: u32 = 24, in 0..=8760;

        /// How many of these automatic backups to keep: {range}. Those that you made yourself are never removed.
        keep_backups: u32 = 7, in 1..=1000;

        /// A certificate and its key, as PEM files, for connections from other machines.
        tls_cert: Option<String> = None, such as "/etc/ssl/memory.pem";

        /// The private key of that certificate.
        tls_key: Option<String> = None, such as "/etc/ssl/memory.key";
    }

    in channels: ChannelsConfig {
        /// Talking to the model in Telegram, with this memory: the daemon asks the Bot API for messages. See docs/channels.md.
        telegram: TelegramConfig {
            /// The environment variable that holds the bot's token, as @BotFather gave it; without it, the channel is off.
            token_env: Option<VariableName> = None, such as "TELEGRAM_BOT_TOKEN";

            /// The chats that are answered, by their ids. Whoever else writes to the bot is told the id of their chat, once.
            allow: Vec<i64> = Vec::new();

            /// Answer in group chats too, where they are in `allow`: messages that mention the bot or reply to it.
            groups: bool = false;

            /// Where to reach the Bot API, if not at its usual address.
            base_url: Option<String> = None, such as "http://localhost:8081";
        }

        /// Messages from other programs: `POST /api/channels/webhook/NAME`. See docs/channels.md.
        webhook: WebhookConfig {
            /// The names that take messages, such as "discord"; each is a channel of its own.
            names: Vec<String> = Vec::new();

            /// The environment variable that holds a secret, for programs that sign their messages instead of sending the
            /// token of the daemon.
            secret_env: Option<VariableName> = None, such as "THROUGHLINE_WEBHOOK_SECRET";
        }
    }
}

impl MemoryConfig {
    /// Whether memory is on: as written, else on for a named person and off without one.
    pub fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(self.user_namespace.is_some())
    }
}
