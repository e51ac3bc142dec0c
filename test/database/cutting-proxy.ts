/**
 * Stands between the service and its PostgreSQL, and cuts the connection at a commit: before the server has
 * it, or before its answer is back. It can also hold back what the server says, or leave out what it tells to
 * listeners, as a transaction pooler does.
 */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** `commit`: it never reaches the server. `answer`: it is done, and nobody is told. */
export type Cut = "commit" | "answer";

export interface CuttingProxy {
  readonly port: number;
  /** At the next commit of any connection, once. */
  cutNext(cut: Cut): void;
  cutAll(): void;
  /** From now on the server says nothing, until it goes on with all that it had to say. */
  hold(): void;
  goOn(): void;
  /** From now on nothing that is told to listeners gets through, and all else does. */
  mute(): void;
  unmute(): void;
  /** How many notices did not get through. */
  readonly muted: () => number;
  /** How many connections there were. */
  readonly opened: () => number;
  /** How often it has. */
  readonly cuts: () => number;
  stop(): Promise<void>;
}

/** The statement as pg sends it: a simple query, its text ended by NUL. */
const commit = Buffer.from("commit\0");

/** What the server says of one that was done, and of one that could not be. */
const outcomes = [Buffer.from("COMMIT\0"), Buffer.from("ROLLBACK\0")];

/** The first byte of what a listener is told. */
const notification = "A".charCodeAt(0);
const headBytes = 5;

/** The server's messages as they are whole: a letter, and a length that counts itself. */
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
      const heard = isMute ? messages.filter((message) => message[0] !== notification) : messages;
      muted += messages.length - heard.length;
      return Buffer.concat(heard);
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
    // What was sent together with the commit is answered before it.
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
