/**
 * A keep-alive HTTP/1.1 connection for one request at a time. Parses an answer only as far as needed to find
 * its end, so that sending load needs little CPU time.
 */
import { connect as connectSocket } from "node:net";

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

export interface Connection {
  send(request: Buffer): Promise<Answer>;
  close(): void;
}

const headEnd = Buffer.from("\r\n\r\n");
const lastChunk = Buffer.from("0\r\n\r\n");

interface Head {
  readonly status: number;
  readonly bodyStart: number;
  /** The length of the body; undefined for a chunked body. */
  readonly length: number | undefined;
}

export async function openConnection(port: number): Promise<Connection> {
  const socket = connectSocket({ port, host: "127.0.0.1", noDelay: true });
  await new Promise<void>((done, failed) => socket.once("connect", done).once("error", failed));
  let waiting:
    | { readonly done: (answer: Answer) => void; readonly failed: (error: Error) => void }
    | undefined;
  let received = Buffer.alloc(0);
  let head: Head | undefined;
  const finish = (answer: Answer): void => {
    const { done } = waiting ?? {};
    waiting = undefined;
    received = Buffer.alloc(0);
    head = undefined;
    done?.(answer);
  };
  socket.on("data", (data: Buffer<ArrayBuffer>) => {
    received = received.length === 0 ? data : Buffer.concat([received, data]);
    head ??= readHead(received);
    if (head === undefined) return;
    const { status, bodyStart, length } = head;
    if (length === undefined) {
      if (received.subarray(-lastChunk.length).equals(lastChunk))
        finish({ status, body: joinChunks(received.subarray(bodyStart)) });
    } else if (received.length >= bodyStart + length)
      finish({ status, body: received.subarray(bodyStart, bodyStart + length) });
  });
  const fail = (error: Error): void => waiting?.failed(error);
  socket.on("error", fail);
  socket.on("close", () =>
    fail(new Error("The server closed the connection before its answer was complete.")),
  );
  return {
    send: (request) =>
      new Promise((done, failed) => {
        waiting = { done, failed };
        socket.write(request);
      }),
    close: () => void socket.destroy(),
  };
}

function readHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf(headEnd);
  if (end === -1) return undefined;
  const text = bytes.toString("latin1", 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
  return {
    status: Number(text.slice(9, 12)),
    bodyStart: end + headEnd.length,
    length: length === undefined ? undefined : Number(length),
  };
}

function joinChunks(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let position = 0; position < bytes.length;) {
    const lineEnd = bytes.indexOf("\r\n", position);
    const size = Number.parseInt(bytes.toString("latin1", position, lineEnd), 16);
    if (!(size > 0)) break;
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    position = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(parts);
}
