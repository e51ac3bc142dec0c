/**
 * Fetches documents from URLs that unknown third parties chose, for example the metadata document of an OAuth
 * client. The URL must be https with a public host name. Each connection uses exactly the checked addresses
 * (`safe-connector.ts`), so no request reaches an internal network.
 */
import type { Agent } from "undici";
import { type HostNameResolver, resolveHostName } from "./safe-addresses.ts";
import { createSsrfSafeConnector } from "./safe-connector.ts";
import { findEndpointUrlFaults } from "./endpoint-url.ts";

export interface SsrfSafeFetch {
  /**
   * Sends a GET request with the given headers. Follows no redirects, and rejects URLs and addresses that are
   * not public.
   */
  readonly fetch: (url: string, init?: Pick<RequestInit, "headers" | "signal">) => Promise<Response>;
  /** Closes all connections after the requests in progress have ended. */
  readonly close: () => Promise<void>;
}

export interface SsrfSafeFetchOptions {
  readonly resolve?: HostNameResolver | undefined;
  /**
   * The certificate of an authority (PEM) that is trusted in addition to the certificate authorities that
   * Node trusts by default.
   */
  readonly certificateAuthority?: string;
  /** True if URLs of servers on this machine are allowed, which only tests need. */
  readonly isLoopbackAllowed?: boolean;
}

const connectTimeoutMs = 2_000;

export function createSsrfSafeFetch({
  resolve = resolveHostName,
  certificateAuthority,
  isLoopbackAllowed = false,
}: SsrfSafeFetchOptions = {}): SsrfSafeFetch {
  let agent: Promise<Agent> | undefined;
  const openAgent = async (): Promise<Agent> => {
    const { Agent: UndiciAgent } = await import("undici");
    return new UndiciAgent({
      connect: createSsrfSafeConnector({
        isLoopbackAllowed,
        resolve,
        connectTimeoutMs,
        certificateAuthority,
        onOpen: () => undefined,
      }),
      keepAliveTimeout: 1_000,
      keepAliveMaxTimeout: 1_000,
      maxHeaderSize: 16_384,
    });
  };
  return {
    fetch: async (url, init = {}) => {
      const [fault] = findEndpointUrlFaults(url, { isLoopbackAllowed });
      if (fault !== undefined) throw new Error(`The URL is not allowed. ${fault.message}`);
      const { fetch } = await import("undici");
      const { status, headers, body } = await fetch(url, {
        method: "GET",
        headers: Object.fromEntries(new Headers(init.headers)),
        signal: init.signal ?? null,
        redirect: "manual",
        dispatcher: await (agent ??= openAgent()),
      });
      return new Response(body === null ? null : await readBody(body), { status, headers: [...headers] });
    },
    close: async () => (await agent)?.close(),
  };
}

const bytesMax = 65_536;

/** Reads the body of an answer. Rejects a body of more than 64 KiB, measured after decompression. */
async function readBody(body: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error(`The answer is longer than ${bytesMax} bytes.`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
