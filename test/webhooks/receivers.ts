/** Local receivers of webhooks, well-behaved and hostile, that count connections. */
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createSecureServer, type TlsOptions } from "node:tls";
import { onTestFinished } from "vitest";
import {
  createWebhookSender,
  type DeliverySendResult,
  type WebhookHttpRequest,
  type WebhookSender,
  type WebhookSenderOptions,
} from "#webhooks/safe-request.ts";

export interface Receiver {
  readonly port: number;
  /** All connections that were made to the receiver. */
  readonly connections: readonly Socket[];
  /** The text received over all connections. */
  readonly received: () => string;
  /** Resolves when all of the receiver's connections are closed. */
  readonly isLeft: () => Promise<void>;
}

/** Starts a receiver that handles each connection with `answer`, over TLS if it has a certificate. */
export async function startReceiver(
  answer: (socket: Socket) => void,
  options: { readonly host?: string; readonly port?: number; readonly tls?: TlsOptions } = {},
): Promise<Receiver> {
  const connections: Socket[] = [];
  const chunks: Buffer[] = [];
  const welcome = (socket: Socket): void => {
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    answer(socket);
  };
  const server: Server =
    options.tls === undefined ? createServer(welcome) : createSecureServer(options.tls, welcome);
  server.on("connection", (socket: Socket) => connections.push(socket));
  server.on("tlsClientError", () => {});
  server.listen(options.port ?? 0, options.host ?? "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of connections) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    received: () => Buffer.concat(chunks).toString(),
    isLeft: async () => {
      for (const socket of connections) if (!socket.closed) await once(socket, "close").catch(() => {});
    },
  };
}

/** Sends the same answer after the head of each request. */
export const saying =
  (answer: string | Buffer) =>
  (socket: Socket): void =>
    void socket.on("data", (chunk: Buffer) => {
      if (chunk.includes("\r\n\r\n")) socket.write(answer);
    });

export const emptyAnswer = (status: string, ...headers: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, ...headers, "content-length: 0", "", ""].join("\r\n");

export function startSender(options: Partial<WebhookSenderOptions> = {}): WebhookSender {
  const sender = createWebhookSender({ isLoopbackAllowed: true, ...options });
  onTestFinished(() => sender.close());
  return sender;
}

/** Sends a webhook and returns the attempt's result without its duration. */
export async function send(
  sender: WebhookSender,
  url: string,
  request: Partial<WebhookHttpRequest> = {},
): Promise<Omit<DeliverySendResult, "durationMs">> {
  const { durationMs: _, ...result } = await sender.send({
    url,
    headers: { "webhook-id": "evt_1" },
    body: '{"a":1}',
    isLoopbackAllowed: true,
    ...request,
  });
  return result;
}

export const refusal = (
  errorCode: DeliverySendResult["errorCode"],
): Omit<DeliverySendResult, "durationMs"> => ({
  httpStatus: null,
  errorCode,
  retryAfterSeconds: null,
});
export const answer = (
  httpStatus: number,
  errorCode: DeliverySendResult["errorCode"] = null,
): Omit<DeliverySendResult, "durationMs"> => ({
  httpStatus,
  errorCode,
  retryAfterSeconds: null,
});
