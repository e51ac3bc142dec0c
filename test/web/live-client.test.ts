/**
 * The browsers' client of subscriptions: it reports results, reconnects when a stream ends or breaks off, and
 * stops if reconnecting is useless.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type LiveGraphqlResult,
  type LiveSubscriptionConnectionState,
  startLiveSubscription,
} from "#pages/shared/browser/live-subscription.ts";

interface Data {
  readonly thing: number | null;
}

const query = "subscription { thing }";
const next = (thing: number | null): string =>
  `event: next\ndata: ${JSON.stringify({ data: { thing } })}\n\n`;
const complete = "event: complete\ndata:\n\n";

describe("the client", () => {
  /** The answers to the requests in order; the last one answers all further requests. */
  let answers: ((response: ServerResponse) => void)[] = [];
  let requests: { headers: IncomingMessage["headers"]; body: unknown }[] = [];
  let server: Server;
  let url: string;
  let leaving: AbortController;
  let states: string[];
  let results: LiveGraphqlResult<Data>[];
  beforeEach(async () => {
    [answers, requests, states, results, leaving] = [[], [], [], [], new AbortController()];
    server = createServer((request, response) => void answer(request, response));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  });
  afterEach(() => {
    leaving.abort();
    server.closeAllConnections();
    server.close();
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests.push({ headers: request.headers, body: JSON.parse(await text(request)) });
    (answers.length > 1 ? answers.shift() : answers[0])?.(response);
  };
  const streaming =
    (...pieces: readonly string[]) =>
    (response: ServerResponse): void => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const piece of pieces) response.write(piece);
      if (pieces.includes(complete)) response.end();
    };
  const refusing =
    (status: number, code: string) =>
    (response: ServerResponse): void => {
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(JSON.stringify({ errors: [{ message: code, extensions: { code } }] }));
    };
  const follow = (): void =>
    startLiveSubscription<Data>({
      url,
      query,
      variables: { id: "x" },
      headers: () => ({ "x-commerce-console": "1" }),
      onNext: (result) => void results.push(result),
      onState: (state: LiveSubscriptionConnectionState, status) =>
        void states.push(status === undefined ? state : `${state} ${status}`),
      signal: leaving.signal,
    });
  const things = (): (number | null | undefined)[] => results.map(({ data }) => data?.thing);

  it("sends requests as the protocol says, and reports each result, however it is split", async () => {
    answers = [streaming(":\n\n", next(1), next(2).slice(0, 9), `${next(2).slice(9)}${next(3)}`)];
    follow();
    await expect.poll(things).toEqual([1, 2, 3]);
    expect(states).toEqual(["connecting", "live"]);
    expect(requests).toEqual([
      {
        headers: expect.objectContaining({
          accept: "text/event-stream",
          "content-type": "application/json",
          "x-commerce-console": "1",
        }),
        body: { query, variables: { id: "x" } },
      },
    ]);
    leaving.abort();
    await expect.poll(() => states.at(-1)).toBe("ended");
    expect(requests).toHaveLength(1);
  });

  it("reconnects when the stream ends or breaks off", async () => {
    answers = [
      streaming(next(1), complete),
      (response) => {
        streaming(next(2))(response);
        setTimeout(() => response.destroy(), 50);
      },
      (response) => response.destroy(),
      refusing(503, "service_unavailable"),
      streaming(next(3)),
    ];
    follow();
    await expect.poll(things).toEqual([1, 2, 3]);
    const again = ["waiting", "connecting"];
    expect(states).toEqual(["connecting", "live", ...again, "live", ...again, ...again, ...again, "live"]);
  });

  it("stops if it is refused, and reports why", async () => {
    answers = [refusing(401, "api_key_revoked")];
    follow();
    await expect.poll(() => states).toEqual(["connecting", "ended 401"]);
    expect(results).toEqual([
      { errors: [{ message: "api_key_revoked", extensions: { code: "api_key_revoked" } }] },
    ]);
  });

  it.each([
    ["credentials_missing", "ended 401"],
    ["api_key_revoked", "ended 401"],
    ["merchant_suspended", "ended 401"],
    ["role_not_allowed", "ended"],
  ])(
    "stops if an open stream ends with %s, and reports whether the credential is the reason",
    async (code, ended) => {
      const errors = [{ message: code, extensions: { code, retryable: false } }];
      const refusal = `event: next\ndata: ${JSON.stringify({ errors })}\n\n`;
      answers = [streaming(next(1), refusal, complete)];
      follow();
      await expect.poll(() => states).toEqual(["connecting", "live", ended]);
      expect(requests).toHaveLength(1);
    },
  );

  it("stops if the object does not exist", async () => {
    answers = [streaming(next(null), complete)];
    follow();
    await expect.poll(() => states).toEqual(["connecting", "live", "ended"]);
    expect(requests).toHaveLength(1);
  });
});
