// Conversations as people know them. An id is `channel:name`.

const CHANNELS = { cli: "Command line", editor: "Editor", web: "Web", telegram: "Telegram", discord: "Discord", slack: "Slack", mcp: "MCP" };

export const channelOf = (id) => id.split(":")[0];

export const channelName = (channel) => CHANNELS[channel] ?? channel.charAt(0).toUpperCase() + channel.slice(1);

/// The name on its channel.
export const nameOf = (id) => id.slice(channelOf(id).length + 1) || id;
