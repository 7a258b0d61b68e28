// Server-sent events from a POST, which EventSource cannot make.
//
//   for await (const { name, data } of events(response)) …      data is what the JSON says

export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      text += value ?? "";
      // An event ends with an empty line; what follows the last one is not whole yet.
      const blocks = text.split(/\r?\n\r?\n/);
      text = done ? "" : blocks.pop();
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

function parse(block) {
  let name = "message";
  const data = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  // A comment alone keeps the line open and says nothing.
  return data.length ? { name, data: JSON.parse(data.join("\n")) } : null;
}
