// Server-sent events out of the bytes of a response, and the trace event out of its envelope.

/** Yields the text of each `data:` event. */
export async function* dataEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let data = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return; // what was not closed by an empty line is no event
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const raw of lines) {
        const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
        if (line.startsWith("data:")) {
          data.push(line.slice(line[5] === " " ? 6 : 5));
        } else if (line === "" && data.length > 0) {
          yield data.join("\n");
          data = [];
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * The text of a member's value in a JSON object, as it stands there. Parsing and writing it again would spell
 * numbers differently (1.0, seeds beyond 2^53), and a saved trace is to be the one that was sent. `json` must be
 * an object that JSON.parse accepts; null when it has no such member.
 */
export function rawMember(json, key) {
  let depth = 0;
  let begin = -1;
  let isKey = true;
  for (let i = 0; i < json.length; ++i) {
    const character = json[i];
    if (character === '"') {
      const open = i;
      for (++i; json[i] !== '"'; ++i) if (json[i] === "\\") ++i;
      if (depth === 1 && isKey && JSON.parse(json.slice(open, i + 1)) === key) {
        begin = json.indexOf(":", i) + 1;
        i = begin - 1;
        isKey = false;
      }
    } else if (character === "{" || character === "[") {
      depth += 1;
    } else if (depth === 1 && character === ":") {
      isKey = false;
    } else if (depth === 1 && (character === "," || character === "}")) {
      if (begin >= 0) return json.slice(begin, i).trim();
      isKey = true;
      if (character === "}") depth -= 1;
    } else if (character === "}" || character === "]") {
      depth -= 1;
    }
  }
  return null;
}
