/** A local receiver of webhooks that records requests and answers with a configurable status. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Arrived {
  readonly id: string;
  readonly type: string;
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  status: number;
}

export async function startReceiver(): Promise<Receiver> {
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { type } = JSON.parse(Buffer.concat(parts).toString()) as { type: string };
      arrived.push({ id: String(request.headers["webhook-id"]), type });
      response.writeHead(receiver.status).end();
    });
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    arrived,
    status: 204,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => void server.close(done));
    },
  };
  return receiver;
}
