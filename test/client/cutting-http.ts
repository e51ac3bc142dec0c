/**
 * An HTTP proxy between client and service that cuts the connection after the service has answered: the
 * request was processed, but the client gets no answer.
 */
import { once } from "node:events";
import { createServer, request as ask } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface CuttingHttp {
  readonly origin: string;
  /**
   * Cuts the next answer before its head or in the middle of its body. With `end`, only the answer to a
   * request whose path ends so.
   */
  cutNext(place: "head" | "body", end?: string): void;
  /** The Idempotency-Keys of all requests. */
  readonly keys: readonly string[];
}

export async function startCuttingHttp(port: number): Promise<CuttingHttp> {
  let cut: { readonly place: "head" | "body"; readonly end: string } | undefined;
  const keys: string[] = [];
  const server = createServer((request, response) => {
    const { method = "GET", url = "/", headers } = request;
    keys.push(String(headers["idempotency-key"]));
    const upstream = ask({ host: "127.0.0.1", port, method, path: url, headers }, (answered) => {
      const now = cut !== undefined && url.endsWith(cut.end) ? cut.place : undefined;
      if (now !== undefined) cut = undefined;
      const destroy = (): void => void request.socket.destroy();
      if (now !== "head") response.writeHead(answered.statusCode ?? 0, answered.headers);
      if (now === undefined) answered.pipe(response);
      else if (now === "head") answered.resume().once("end", destroy);
      else answered.once("data", (bytes: Buffer) => response.write(bytes.subarray(0, 10), destroy));
    });
    request.pipe(upstream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutNext: (place, end = "") => {
      cut = { place, end };
    },
    keys,
  };
}
