// Conversations as people know them. An id is `channel:name`.

const CHANNELS = {
  cli: "Command line",
  editor: "Editor",
  web: "Web",
  telegram: "Telegram",
  discord: "Discord",
  slack: "Slack",
  mcp: "MCP",
};

export const channelOf = (id) => id.split(":")[0];

export const channelName = (channel) => CHANNELS[channel] ?? channel.charAt(0).toUpperCase() + channel.slice(1);

/// A conversation that nobody named goes by when it began.
const BEGAN = /^(\d{4}-\d\d-\d\d)-(\d\d)(\d\d)(?:-(\d+))?$/;
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

/// The name on its channel.
export function nameOf(id) {
  const name = id.slice(channelOf(id).length + 1) || id;
  const began = BEGAN.exec(name);
  const at = began ? new Date(`${began[1]}T00:00:00Z`) : null;
  if (!at || Number.isNaN(at.getTime())) return name;
  return `${day.format(at)}, ${began[2]}:${began[3]}${began[4] ? ` (${began[4]})` : ""}`;
}
