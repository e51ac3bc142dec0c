/** Server-sent events as they arrive (WHATWG HTML, section 9.2): whatever pieces the bytes come in. */

export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/** `onBytes` is called whenever something arrives, comments included. */
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
      // A carriage return at the end may be half of an end of line.
      const blocks = rest.replace(/\r\n|\r(?!$)/g, "\n").split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) yield* eventOf(block);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** None where a block has nothing but comments. */
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
