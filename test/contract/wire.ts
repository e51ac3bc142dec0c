/**
 * Raw HTTP requests: header lines in order and with duplicates, addresses as written, bodies as bytes. Node's
 * client would correct or refuse some of them.
 */
import { Agent, request } from "node:http";
import type { HttpRequest, HttpAnswer } from "#soak/shop.ts";

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | null;
}

export interface WireAnswer extends HttpAnswer {
  /** The parsed body; undefined if it is no JSON. */
  readonly json: unknown;
}

export type Send = (sent: Sent) => Promise<WireAnswer>;

export interface Wire extends Disposable {
  readonly send: Send;
}

const answerMsMax = 20_000;

/** Opens kept-alive connections to the service at a local port. */
export function openWire(port: number, connections = 8): Wire {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    send: ({ method, url, headers, body }) =>
      new Promise<WireAnswer>((done, failed) => {
        const lines = [
          "Host",
          `127.0.0.1:${port}`,
          ...headers.flat(),
          ...(body === null ? [] : ["Content-Length", String(body.length)]),
        ];
        const call = request(
          { agent, host: "127.0.0.1", port, method, path: url, headers: lines, timeout: answerMsMax },
          (response) => {
            let text = "";
            response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
            response.once("error", failed);
            response.once("end", () =>
              done({
                status: response.statusCode ?? 0,
                headers: response.headers as HttpAnswer["headers"],
                text,
                json: parse(text),
              }),
            );
          },
        );
        call.once("timeout", () => call.destroy(new Error(`No answer within ${answerMsMax / 1000} s.`)));
        call.once("error", failed);
        call.end(body ?? undefined);
      }),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/** Adapts the wire to the function that other tests use for requests. */
export const askOver =
  (send: Send) =>
  ({ method, url, headers, body }: HttpRequest): Promise<HttpAnswer> =>
    send({
      method,
      url,
      headers: Object.entries(headers),
      body: body === undefined ? null : Buffer.from(body),
    });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
