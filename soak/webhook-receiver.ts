/**
 * A webhook receiver on this machine. Verifies every signature with an independent library, records the
 * deliveries, and answers as the test has configured.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

/** An HTTP status; `cut` to close the connection, or `nothing` to never answer. */
export type Reply = number | "cut" | "nothing";

export interface Receiver extends AsyncDisposable {
  readonly origin: string;
  /** Signing secrets by path. The signatures of a path without a secret are not verified. */
  readonly secrets: Map<string, string>;
  /** The accepted deliveries, by path and webhook-id. */
  readonly accepted: ReadonlySet<string>;
  readonly violations: string[];
  readonly counts: { requests: number; refused: number; duplicates: number };
}

export interface ReceiverOptions {
  readonly reply: (path: string, eventId: string) => Reply;
  /** Called when the headers of a request have arrived; `atMs` is the time of `performance.now()`. */
  readonly onArrival?: (path: string, eventId: string, atMs: number) => void;
}

export const toArrivalKey = (path: string, eventId: string): string => `${path} ${eventId}`;

export async function startReceiver({ reply, onArrival }: ReceiverOptions): Promise<Receiver> {
  const secrets = new Map<string, string>();
  const accepted = new Set<string>();
  const bodies = new Map<string, Buffer>();
  const violations: string[] = [];
  const counts = { requests: 0, refused: 0, duplicates: 0 };
  const checkDelivery = (path: string, headers: IncomingMessage["headers"], body: Buffer): string => {
    const arrival = toArrivalKey(path, String(headers["webhook-id"]));
    const secret = secrets.get(path);
    if (secret !== undefined && !isSigned(secret, { body, headers }))
      violations.push(`${arrival} has a wrong signature.`);
    const before = bodies.get(arrival);
    if (before !== undefined && !before.equals(body))
      violations.push(`${arrival} was repeated with different bytes.`);
    bodies.set(arrival, body);
    return arrival;
  };
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url: path = "", headers } = request;
    onArrival?.(path, String(headers["webhook-id"]), performance.now());
    const arrival = checkDelivery(path, headers, await buffer(request));
    const answer = reply(path, String(headers["webhook-id"]));
    counts.requests += 1;
    if (answer === "nothing") return;
    if (answer === 204 && accepted.has(arrival)) counts.duplicates += 1;
    if (answer === 204) accepted.add(arrival);
    else counts.refused += 1;
    if (answer === "cut") request.socket.destroy();
    else response.writeHead(answer).end();
  };
  // A killed sender leaves an incomplete request, whose error is ignored.
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
