/**
 * A receiver of webhooks on this machine: verifies every signature with a library that is not ours, keeps
 * what arrived, and answers as it is told.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

/** A status; or the connection is cut, or nothing is ever said. */
export type Reply = number | "cut" | "nothing";

export interface Receiver extends AsyncDisposable {
  readonly origin: string;
  /** By path: without it nothing is verified there. */
  readonly secrets: Map<string, string>;
  /** By path and webhook-id: what was accepted. */
  readonly accepted: ReadonlySet<string>;
  readonly violations: string[];
  readonly counts: { requests: number; refused: number; duplicates: number };
}

export interface ReceiverOptions {
  readonly reply: (path: string) => Reply;
  /** When the head of a request was there, on `performance`'s clock. */
  readonly onArrival?: (path: string, eventId: string, atMs: number) => void;
}

export const arrivalKey = (path: string, eventId: string): string => `${path} ${eventId}`;

export async function startReceiver({ reply, onArrival }: ReceiverOptions): Promise<Receiver> {
  const secrets = new Map<string, string>();
  const accepted = new Set<string>();
  const bodies = new Map<string, Buffer>();
  const violations: string[] = [];
  const counts = { requests: 0, refused: 0, duplicates: 0 };
  const judge = (path: string, headers: IncomingMessage["headers"], body: Buffer): string => {
    const arrival = arrivalKey(path, String(headers["webhook-id"]));
    const secret = secrets.get(path);
    if (secret !== undefined && !isSigned(secret, { body, headers }))
      violations.push(`${arrival} has a signature that is wrong.`);
    const before = bodies.get(arrival);
    if (before !== undefined && !before.equals(body))
      violations.push(`${arrival} came again with other bytes.`);
    bodies.set(arrival, body);
    return arrival;
  };
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url: path = "", headers } = request;
    onArrival?.(path, String(headers["webhook-id"]), performance.now());
    const arrival = judge(path, headers, await buffer(request));
    const said = reply(path);
    counts.requests += 1;
    if (said === "nothing") return;
    if (said === 204 && accepted.has(arrival)) counts.duplicates += 1;
    if (said === 204) accepted.add(arrival);
    else counts.refused += 1;
    if (said === "cut") request.socket.destroy();
    else response.writeHead(said).end();
  };
  // Whoever is killed leaves a request in the middle.
  const server = createServer((request, response) => void receive(request, response).catch(() => undefined));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secrets,
    accepted,
    violations,
    counts,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function isSigned(
  secret: string,
  { body, headers }: { readonly body: Buffer; readonly headers: IncomingMessage["headers"] },
): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
