// Server-sent events of a request that EventSource cannot make: one that posts, or sends a header.
//
//   for await (const event of events(response)) …

/** @typedef {{ name: string, data: any }} ServerEvent */

/**
 * @param {Response} response
 * @returns {AsyncGenerator<ServerEvent>}
 */
export async function* events(response) {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      text += value ?? "";
      // An event ends with an empty line; what follows the last one is incomplete.
      const blocks = text.split(/\r?\n\r?\n/);
      text = done ? "" : (blocks.pop() ?? "");
      for (const block of blocks) {
        const event = parse(block);
        if (event) yield event;
      }
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * @param {string} block
 * @returns {ServerEvent | null}
 */
function parse(block) {
  let name = "message";
  /** @type {string[]} */
  const data = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  // A block of comments only keeps the connection open.
  return data.length ? { name, data: JSON.parse(data.join("\n")) } : null;
}
