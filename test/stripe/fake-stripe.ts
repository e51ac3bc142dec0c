/**
 * A fake of Stripe: an HTTP server with the routes that the service uses, and with payment pages. It keeps
 * the first answer of each idempotency key, refuses a key that comes with other parameters, and signs
 * webhooks as Stripe does. Tests can make it refuse requests, lose answers, and deliver events late, twice
 * and in any order.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Stripe } from "stripe";
import { answerFakePage, fakePagePath } from "./fake-page.ts";
import { answerFakeStripe, FakeStripeError, type FakeStripeRequest } from "./fake-routes.ts";
import { type FakeAccount, type FakeEvent, type FakeSession, FakeStripeState } from "./fake-state.ts";
import { parseFormBody } from "./form-body.ts";

/**
 * What happens to a request: an error, no execution and a closed connection, an execution without an answer,
 * or a connection that stays open without an answer.
 */
export type FakeFault =
  | { readonly status: 401 | 403 | 429 | 500 | 503 }
  | "lost_request"
  | "lost_answer"
  | "hanging";

interface SeenRequest {
  readonly method: string;
  readonly version: string;
  readonly path: string;
  readonly idempotencyKey: string | undefined;
  readonly body: string;
}

export interface FakeStripe extends AsyncDisposable {
  /** The base URL of the API. */
  readonly url: string;
  readonly state: FakeStripeState;
  /** The accounts by their secret key; tests add and revoke keys. */
  readonly accounts: Record<string, FakeAccount>;
  /** All requests, oldest first. */
  readonly requests: SeenRequest[];
  /** The requests with the fault "hanging" for which the client still waits. */
  readonly hanging: Set<SeenRequest>;
  /** Decides for each request whether it fails; replaced by tests. */
  faultOf: (request: SeenRequest) => FakeFault | undefined;
  /** Returns the page with a URL or id. */
  sessionOf(urlOrId: string): FakeSession;
}

export interface FakeStripeOptions {
  /** The accounts by their secret key. */
  readonly accounts: Readonly<Record<string, FakeAccount>>;
  readonly now?: () => Date;
  readonly isLive?: boolean;
}

interface StoredAnswer {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
}

export async function startFakeStripe({
  accounts: givenAccounts,
  now = () => new Date(),
  isLive = true,
}: FakeStripeOptions): Promise<FakeStripe> {
  const state = new FakeStripeState(now, isLive);
  const accounts: Record<string, FakeAccount> = { ...givenAccounts };
  const stored = new Map<string, StoredAnswer>();
  const requests: SeenRequest[] = [];
  const hanging = new Set<SeenRequest>();
  const execute = (seen: SeenRequest, secretKey: string): Omit<StoredAnswer, "fingerprint"> => {
    const account = accounts[secretKey];
    try {
      if (account === undefined)
        throw new FakeStripeError(401, "invalid_request_error", { message: "Invalid API Key provided." });
      return { status: 200, body: JSON.stringify(answerFakeStripe(state, account, toFakeRequest(seen))) };
    } catch (error) {
      if (!(error instanceof FakeStripeError)) throw error;
      return { status: error.status, body: JSON.stringify({ error: error.toBody() }) };
    }
  };
  const executeOnce = (seen: SeenRequest, secretKey: string): Omit<StoredAnswer, "fingerprint"> => {
    const { method, path, idempotencyKey, body } = seen;
    if (method !== "POST" || idempotencyKey === undefined) return execute(seen, secretKey);
    // An idempotency key belongs to the account, whichever of its secret keys is used.
    const fingerprint = `${accounts[secretKey]?.id} ${path} ${body}`;
    const before = stored.get(idempotencyKey);
    if (before !== undefined && before.fingerprint !== fingerprint)
      return {
        status: 400,
        body: JSON.stringify({
          error: { type: "idempotency_error", message: "The key was used with other parameters." },
        }),
      };
    const answer = before ?? { ...execute(seen, secretKey), fingerprint };
    stored.set(idempotencyKey, answer);
    return answer;
  };
  const receive = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const seen = await readSeen(incoming);
    if (seen.path.startsWith(fakePagePath)) return sendPage(response, state, seen);
    requests.push(seen);
    answer(incoming, response, seen);
  };
  const server = createServer((incoming, response) => void receive(incoming, response));
  const answer = (incoming: IncomingMessage, response: ServerResponse, seen: SeenRequest): void => {
    const fault = fake.faultOf(seen);
    if (fault === "hanging") {
      hanging.add(seen);
      response.once("close", () => hanging.delete(seen));
      return;
    }
    if (fault === "lost_request") return void response.destroy();
    if (typeof fault === "object") return send(response, fault.status, faultBody(fault.status));
    const { status, body } = executeOnce(
      seen,
      (incoming.headers.authorization ?? "").replace(/^Bearer /, ""),
    );
    if (fault === "lost_answer") return void response.destroy();
    send(response, status, body);
  };
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  // Browsers see another site than that of the service, as with Stripe, and treat cookies accordingly.
  state.pageBase = `http://localhost:${port}${fakePagePath}`;
  const fake: FakeStripe = {
    url: `http://127.0.0.1:${port}`,
    state,
    accounts,
    requests,
    hanging,
    faultOf: () => undefined,
    sessionOf: (urlOrId) => {
      const session = state.sessions.get(urlOrId.split("/").at(-1) ?? "");
      if (session === undefined) throw new Error(`There is no page ${urlOrId}.`);
      return session;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      const { promise: closed, resolve: close } = Promise.withResolvers<void>();
      server.close(() => close());
      await closed;
    },
  };
  return fake;
}

const faultBody = (status: number): string =>
  JSON.stringify({
    error: {
      type: status === 429 ? "rate_limit_error" : status < 500 ? "invalid_request_error" : "api_error",
      message: `A test has asked for the status ${status}.`,
    },
  });

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "application/json", "request-id": "req_fake" }).end(body);
}

function sendPage(
  response: ServerResponse,
  state: FakeStripeState,
  { method, path, body }: SeenRequest,
): void {
  const answer = answerFakePage(state, { method, path, form: new URLSearchParams(body) });
  response.writeHead(answer.status, answer.headers).end(answer.body);
}

async function readSeen(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const key = incoming.headers["idempotency-key"];
  return {
    method: incoming.method ?? "",
    version: String(incoming.headers["stripe-version"] ?? ""),
    path: incoming.url ?? "",
    idempotencyKey: Array.isArray(key) ? key[0] : key,
    body: Buffer.concat(chunks).toString("utf8"),
  };
}

function toFakeRequest({ method, version, path, body }: SeenRequest): FakeStripeRequest {
  const url = new URL(path, "http://fake");
  return {
    method,
    version,
    parts: url.pathname.split("/").slice(2),
    params: parseFormBody(method === "POST" ? body : url.search.slice(1)),
  };
}

export interface SignedFakeEvent {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Signs an event as Stripe does. */
export function signFakeEvent(event: FakeEvent, signingSecret: string, at: Date): SignedFakeEvent {
  const body = JSON.stringify(event);
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload: body,
    secret: signingSecret,
    timestamp: Math.floor(at.getTime() / 1000),
  });
  return { body, headers: { "content-type": "application/json", "stripe-signature": signature } };
}
