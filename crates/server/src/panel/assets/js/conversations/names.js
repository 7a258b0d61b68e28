// Names of conversations for people. An id is `channel:name`.

/** @type {Record<string, string>} */
const CHANNELS = {
  cli: "Command line",
  editor: "Editor",
  web: "Web",
  telegram: "Telegram",
  discord: "Discord",
  slack: "Slack",
  mcp: "MCP",
};

export const channelOf = (/** @type {string} */ id) => id.split(":")[0];

/** @param {string} channel */
export const channelName = (channel) => CHANNELS[channel] ?? channel.charAt(0).toUpperCase() + channel.slice(1);

/** The name of a conversation that nobody named: when it began. */
const BEGAN = /^(\d{4}-\d\d-\d\d)-(\d\d)(\d\d)(?:-(\d+))?$/;
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

/**
 * The name within its channel.
 * @param {string} id
 */
export function nameOf(id) {
  const name = id.slice(channelOf(id).length + 1) || id;
  const began = BEGAN.exec(name);
  if (!began) return name;
  const at = new Date(`${began[1]}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return name;
  return `${day.format(at)}, ${began[2]}:${began[3]}${began[4] ? ` (${began[4]})` : ""}`;
}
