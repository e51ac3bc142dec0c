/**
 * A proxy between the service and PostgreSQL. It cuts the connection at a commit, either before the server
 * receives the commit or before its answer returns. It can also delay the server's answers, or drop
 * notifications as a transaction pooler does.
 */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * `commit`: the server never receives the commit. `answer`: the server commits, but the client gets no
 * answer.
 */
export type Cut = "commit" | "answer";

export interface CuttingProxy {
  readonly port: number;
  /** Cuts the connection at the next commit of any connection, once. */
  cutNext(cut: Cut): void;
  cutAll(): void;
  /** Holds all of the server's messages back until they are released. */
  hold(): void;
  goOn(): void;
  /** From now on drops all notifications, and passes everything else. */
  mute(): void;
  unmute(): void;
  /** Returns the number of dropped notifications. */
  readonly muted: () => number;
  /** Returns the number of connections so far. */
  readonly opened: () => number;
  /** Returns the number of cuts so far. */
  readonly cuts: () => number;
  stop(): Promise<void>;
}

/** A commit as node-postgres sends it: a simple query, its text terminated by NUL. */
const commit = Buffer.from("commit\0");

/** The server's command tags of a commit that succeeded and of one that became a rollback. */
const outcomes = [Buffer.from("COMMIT\0"), Buffer.from("ROLLBACK\0")];

/** The type byte of a NotificationResponse message. */
const notification = "A".charCodeAt(0);
const headBytes = 5;

/** Splits the server's bytes into whole messages: a type byte, then a length that includes itself. */
function splitMessages(): (bytes: Buffer) => Buffer[] {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const messages: Buffer[] = [];
    while (rest.length >= headBytes && rest.length > rest.readUInt32BE(1)) {
      const end = rest.readUInt32BE(1) + 1;
      messages.push(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    return messages;
  };
}

export async function startCuttingProxy(serverPort: number): Promise<CuttingProxy> {
  let next: Cut | undefined;
  let cuts = 0;
  let opened = 0;
  let isHeld = false;
  let isMute = false;
  let muted = 0;
  const open = new Set<Socket>();
  const upstreams = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(serverPort, "127.0.0.1");
    opened += 1;
    upstreams.add(upstream);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
      open.delete(client);
      upstreams.delete(upstream);
    };
    open.add(client);
    let isDeaf = false;
    const split = splitMessages();
    const withoutNotices = (bytes: Buffer): Buffer => {
      const messages = split(bytes);
      const passed = isMute ? messages.filter((message) => message[0] !== notification) : messages;
      muted += messages.length - passed.length;
      return Buffer.concat(passed);
    };
    const cutNow = (): void => {
      cuts += 1;
      end();
    };
    client.on("data", (bytes: Buffer) => {
      const cut = bytes.includes(commit) ? next : undefined;
      if (cut !== undefined) next = undefined;
      if (cut === "commit") return cutNow();
      isDeaf ||= cut === "answer";
      upstream.write(bytes);
    });
    // The server answers statements that were pipelined before the commit first.
    upstream.on("data", (bytes: Buffer) => {
      if (!isDeaf) client.write(withoutNotices(bytes));
      else if (outcomes.some((outcome) => bytes.includes(outcome))) cutNow();
    });
    if (isHeld) upstream.pause();
    for (const socket of [client, upstream]) socket.on("close", end).on("error", end);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const cutAll = (): void => {
    for (const client of open) client.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cutNext: (cut) => {
      next = cut;
    },
    cutAll,
    hold: () => {
      isHeld = true;
      for (const upstream of upstreams) upstream.pause();
    },
    goOn: () => {
      isHeld = false;
      for (const upstream of upstreams) upstream.resume();
    },
    mute: () => {
      isMute = true;
    },
    unmute: () => {
      isMute = false;
    },
    muted: () => muted,
    opened: () => opened,
    cuts: () => cuts,
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        cutAll();
      }),
  };
}
