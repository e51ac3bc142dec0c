/** Stands between the service and its PostgreSQL, and cuts the connection at a commit: before the server has it, or before its answer is back. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** `commit`: it never reaches the server. `answer`: it is done, and nobody is told. */
export type Cut = "commit" | "answer";

export interface CuttingProxy {
  readonly port: number;
  /** At the next commit of any connection, once. */
  cutNext(cut: Cut): void;
  cutAll(): void;
  /** How often it has. */
  readonly cuts: () => number;
  stop(): Promise<void>;
}

/** The statement as pg sends it: a simple query, its text ended by NUL. */
const commit = Buffer.from("commit\0");

export async function startCuttingProxy(serverPort: number): Promise<CuttingProxy> {
  let next: Cut | undefined;
  let cuts = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(serverPort, "127.0.0.1");
    const end = (): void => {
      client.destroy();
      upstream.destroy();
      open.delete(client);
    };
    open.add(client);
    let isDeaf = false;
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
    upstream.on("data", (bytes: Buffer) => (isDeaf ? cutNow() : client.write(bytes)));
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
    cuts: () => cuts,
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        cutAll();
      }),
  };
}
