// Names of conversations for people. An id is `channel:name`.

/** @type {Record<string, string>} */
const CHANNELS = {
  cli: "Command line",
  editor: "Editor",
  web: "Web",
  telegram: "Telegram",
  discord: "Discord",
  slack: "Slack",
  mcp: "Tools (MCP)",
  webhook: "Webhook",
  "claude-code": "Claude Code",
  "claude-desktop": "Claude Desktop",
  codex: "Codex",
  cursor: "Cursor",
  vscode: "VS Code",
  opencode: "OpenCode",
  gemini: "Gemini CLI",
  copilot: "Copilot CLI",
  zed: "Zed",
  import: "Imported",
};

export const channelOf = (/** @type {string} */ id) => id.split(":")[0];

/** @param {string} channel */
export const channelName = (channel) => CHANNELS[channel] ?? channel.charAt(0).toUpperCase() + channel.slice(1);

/** The name of a conversation that nobody named: when it began. */
const BEGAN = /^(\d{4}-\d\d-\d\d)-(\d\d)(\d\d)(?:-(\d+))?$/;
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

/** Names that programs make, which say nothing to a person. */
const UNREADABLE = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-z]{20,})$/i;

/**
 * The name within its channel.
 * @param {string} id
 */
export function nameOf(id) {
  const name = id.slice(channelOf(id).length + 1) || id;
  if (UNREADABLE.test(name)) return "Untitled";
  const began = BEGAN.exec(name);
  if (!began) return name;
  const at = new Date(`${began[1]}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return name;
  return `${day.format(at)}, ${began[2]}:${began[3]}${began[4] ? ` (${began[4]})` : ""}`;
}

/** What the daemon calls a conversation in which nothing was said: its own name says more. */
const UNSAID = /^a conversation on /;

/**
 * What a conversation is called.
 * @param {{ id: string, title?: string | null }} session
 */
export const titleOf = ({ id, title }) => (title && !UNSAID.test(title) ? title : nameOf(id));
