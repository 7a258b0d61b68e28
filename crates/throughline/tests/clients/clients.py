"""The assistants, one class each: how it is set up for a scripted model, asked, and driven at a terminal."""
from place import until


class Client:
    """What all have in common. `channel` is where its conversations are kept; none where it has no hooks."""
    name = channel = None
    # At a terminal: the program, what it shows once it takes keys, and what is typed.
    interactive, ready = None, None
    compact, clear, leave = "/compact", "/clear", "/exit"
    # Whether the latest conversation can be resumed without a terminal and without naming it.
    resumes = True

    def set_up(self, place):
        """Writes an account that does not exist, and where the model is."""

    def connect(self, place):
        return place.throughline("connect", self.name)

    def disconnect(self, place):
        return place.throughline("disconnect", self.name)

    def ask(self, place, text, resume=False, tools=False, **env):
        """One question without a terminal."""
        raise NotImplementedError

    def call(self, tool, arguments):
        """What a model replies, one reply after the other, to call a tool of ours."""
        return [{"tool": tool, "args": arguments}]

    def delegate(self, task):
        """What a model replies to have a sub-agent do something; none where the client has no such thing."""
        return []

    def trust(self, place):
        """What the person does once before hooks and tools run."""

    def open(self, place, **env):
        """A terminal in which the client waits for a message."""
        terminal = place.terminal(*self.interactive, **env)
        terminal.wait(self.ready)
        terminal.settle()
        terminal.takes_keys()
        return terminal


class ClaudeCode(Client):
    name = channel = "claude-code"
    interactive, ready = ["claude"], "/effort"

    def set_up(self, place):
        place.env |= {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{place.port}", "ANTHROPIC_API_KEY": "made-up",
                      "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        place.write(".claude.json", {
            "hasCompletedOnboarding": True, "theme": "dark", "projects": {place.work: {"hasTrustDialogAccepted": True}},
            "customApiKeyResponses": {"approved": ["made-up"], "rejected": []}})

    def call(self, tool, arguments):
        # Tools of servers are offered once they were looked for.
        return [{"tool": "ToolSearch", "args": {"query": f"select:mcp__throughline__{tool}"}}, *super().call(tool, arguments)]

    def delegate(self, task):
        return [{"tool": "Agent", "args": {"description": "Count", "prompt": task, "subagent_type": "general-purpose"}}]

    def ask(self, place, text, resume=False, tools=False, **env):
        more = (["--continue"] if resume else []) + (["--allowedTools", "mcp__throughline"] if tools else [])
        return place.run("claude", "-p", text, *more, **env)


class Codex(Client):
    name = channel = "codex"
    interactive, ready = ["codex"], "Ask Codex to do anything"
    leave, clear = "/quit", "/new"

    def set_up(self, place):
        place.env |= {"OPENAI_API_KEY": "made-up"}
        place.write(".codex/config.toml", f'''model = "scripted"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:{place.port}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"

[projects."{place.work}"]
trust_level = "trusted"
''')

    def delegate(self, task):
        return [{"tool": "spawn_agent", "args": {"message": task}}]

    def ask(self, place, text, resume=False, tools=False, **env):
        more = ["--dangerously-bypass-approvals-and-sandbox"] if tools else []
        command = ["codex", "exec", "--skip-git-repo-check", *more, *(["resume", "--last"] if resume else []), text]
        return place.run(*command, **env)

    def trust(self, place):
        # On a busy machine a key may come before the question is ready for it: what counts is what Codex noted.
        is_trusted = lambda: "[hooks.state" in (place.read(".codex/config.toml") or "")
        for _ in range(5):
            terminal = place.terminal(*self.interactive)
            if terminal.wait("Trust all and continue"):
                terminal.settle()
                terminal.key(b"2")
                terminal.wait("› 2. Trust all", seconds=20)
                terminal.key(b"\r")
                until(is_trusted, seconds=20)
                terminal.settle()
            terminal.submit(self.leave, terminal.is_over, presses=2, seconds=5)
            terminal.end()
            if is_trusted():
                return


class Gemini(Client):
    name = channel = "gemini"
    interactive, ready = ["gemini"], "Type your message"
    compact, leave = "/compress", "/quit"

    def set_up(self, place):
        place.env |= {"GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{place.port}", "GEMINI_API_KEY": "made-up",
                      "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        place.write(".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})

    def ask(self, place, text, resume=False, tools=False, **env):
        more = (["--resume", "latest"] if resume else []) + (["--approval-mode", "yolo"] if tools else [])
        return place.run("gemini", "-p", text, *more, **env)


class Copilot(Client):
    name = channel = "copilot"
    interactive, ready = ["copilot", "--allow-all-tools"], "? for shortcuts"

    def set_up(self, place):
        place.env |= {"COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{place.port}/v1", "COPILOT_OFFLINE": "true",
                      "COPILOT_PROVIDER_API_KEY": "made-up", "COPILOT_MODEL": "gpt-4.1"}

    def delegate(self, task):
        return [{"tool": "task", "args": {"agent_type": "explore", "name": "count", "description": "Count", "prompt": task}}]

    def ask(self, place, text, resume=False, tools=False, **env):
        return place.run("copilot", "-p", text, "--allow-all-tools", *(["--continue"] if resume else []), **env)

    def open(self, place, **env):
        terminal = place.terminal(*self.interactive, **env)
        if terminal.wait("Do you trust", "Confirm folder trust", self.ready) != self.ready:
            terminal.settle()
            terminal.key(b"\r")
            terminal.wait(self.ready)
        terminal.settle()
        terminal.takes_keys()
        return terminal


class OpenCode(Client):
    name = "opencode"

    def set_up(self, place):
        place.write(".config/opencode/opencode.json", {
            "$schema": "https://opencode.ai/config.json", "model": "scripted/scripted", "autoupdate": False,
            "provider": {"scripted": {
                "npm": "@ai-sdk/openai-compatible", "name": "scripted", "models": {"scripted": {"name": "scripted"}},
                "options": {"baseURL": f"http://127.0.0.1:{place.port}/v1", "apiKey": "made-up"}}}})
        place.env |= {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}

    def ask(self, place, text, resume=False, tools=False, **env):
        return place.run("opencode", "run", "--auto", *(["--continue"] if resume else []), text, **env)


class ByHand(Client):
    """A client that `throughline connect` does not know: its server is entered by hand, as the documentation says."""
    settings = None

    def server(self, place):
        return {"command": place.program, "args": ["mcp"], "env": {"THROUGHLINE_HOME": place.memory}}

    def connect(self, place):
        place.write(self.settings, {"mcpServers": {"throughline": self.server(place)}})
        return {}

    def disconnect(self, place):
        place.write(self.settings, {})
        return {}


class Continue(ByHand):
    name = "continue"
    settings = ".continue/config.yaml"

    def config(self, place, servers):
        model = {"name": "scripted", "provider": "openai", "model": "scripted", "apiKey": "made-up", "roles": ["chat"],
                 "apiBase": f"http://127.0.0.1:{place.port}/v1", "capabilities": ["tool_use"]}
        return {"name": "tests", "version": "1.0.0", "schema": "v1", "models": [model], "mcpServers": servers}

    def connect(self, place):
        # JSON is YAML, too.
        place.write(self.settings, self.config(place, [{"name": "throughline", **self.server(place)}]))
        return {}

    def disconnect(self, place):
        place.write(self.settings, self.config(place, []))
        return {}

    def ask(self, place, text, resume=False, tools=False, **env):
        config = f"{place.home}/{self.settings}"
        return place.run("cn", "-p", text, "--config", config, "--auto", *(["--resume"] if resume else []), **env)


class Qwen(ByHand):
    name = "qwen"
    settings = ".qwen/settings.json"

    def set_up(self, place):
        place.env |= {"OPENAI_API_KEY": "made-up", "OPENAI_BASE_URL": f"http://127.0.0.1:{place.port}/v1",
                      "OPENAI_MODEL": "scripted"}

    def call(self, tool, arguments):
        name = f"mcp__throughline__{tool}"
        return [{"tool": "tool_search", "args": {"query": f"select:{name}"}},
                {"tool": "tool_call", "args": {"name": name, "arguments": arguments}}]

    def ask(self, place, text, resume=False, tools=False, **env):
        return place.run("qwen", text, "--auth-type", "openai", "--yolo", *(["--continue"] if resume else []), **env)


class Cline(ByHand):
    name = "cline"
    settings = ".cline/data/settings/cline_mcp_settings.json"
    resumes = False

    def set_up(self, place):
        place.run("cline", "auth", "-p", "openai", "-k", "made-up", "-m", "scripted",
                  "-b", f"http://127.0.0.1:{place.port}/v1")

    def ask(self, place, text, resume=False, tools=False, **env):
        return place.run("cline", text, "--json", **env)


ALL = {client.name: client for client in (ClaudeCode, Codex, Gemini, Copilot, OpenCode, Continue, Qwen, Cline)}
