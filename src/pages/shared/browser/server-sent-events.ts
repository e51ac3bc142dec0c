/** Parses server-sent events (WHATWG HTML, section 9.2) from a stream of bytes. */

export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/** Reads the events of a stream. Calls `onBytes` for every chunk of bytes, even a chunk with only comments. */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<ServerSentEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    onBytes();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      onBytes();
      rest += decoder.decode(part.value, { stream: true });
      // A carriage return at the end of the received text is kept for the next chunk. It may be the first
      // half of the line break CRLF, whose second half has not arrived yet.
      const blocks = rest.replace(/\r\n|\r(?!$)/g, "\n").split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) yield* eventOf(block);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/**
 * Parses one block of lines of an event stream. Returns a list with the event, or an empty list if the block
 * has only comments.
 */
function eventOf(block: string): ServerSentEvent[] {
  let event: string | undefined;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") event = value;
    if (name === "data") data.push(value);
  }
  return event === undefined && data.length === 0
    ? []
    : [{ event: event ?? "message", data: data.join("\n") }];
}
