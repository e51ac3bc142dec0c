/**
 * Figure 11: whatever a receiver does, an attempt ends with a result within its limits, and reads at most a
 * few KiB.
 */
import { createHook } from "node:async_hooks";
import { once } from "node:events";
import { createSecureServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { findFreePort } from "#foundation/free-port.ts";
import { answer, emptyAnswer, refusal, saying, send, startReceiver, startSender } from "./receivers.ts";
import { selfSignedCertificate, selfSignedKey } from "./self-signed.ts";

const ok = emptyAnswer("200 OK");
const tls = { key: selfSignedKey, cert: selfSignedCertificate };
const short = { limits: { totalMs: 60, connectMs: 60 } };
/** The most bytes that a receiver can send into socket buffers after the sender has stopped reading. */
const bytesUnread = 16 * 2 ** 20;

/** Sends zeros while the peer reads them, up to 10 GB. Returns a function that tells how many bytes were sent. */
function pourTenGigabytes(socket: Socket | ServerHttp2Stream): () => number {
  const zeros = Buffer.alloc(65_536);
  let bytes = 0;
  const pour = (): void => {
    while (!socket.destroyed && bytes < 10 ** 10) {
      bytes += zeros.length;
      if (!socket.write(zeros)) return;
    }
  };
  socket.on("drain", pour);
  pour();
  return () => bytes;
}

describe("a receiver that answers", () => {
  test("gets the headers and the body byte for byte", async () => {
    const receiver = await startReceiver(saying(ok));
    const body = Buffer.from('{"note":"Grüße 🌍"}');
    expect(
      await send(startSender(), `http://127.0.0.1:${receiver.port}/hooks?tenant=1`, {
        headers: { "webhook-id": "evt_2", "content-type": "application/json" },
        body,
      }),
    ).toEqual(answer(200));
    const [head, received] = receiver.received().split("\r\n\r\n");
    expect(head?.split("\r\n").toSorted()).toEqual(
      [
        "POST /hooks?tenant=1 HTTP/1.1",
        "connection: keep-alive",
        `content-length: ${body.length}`,
        "content-type: application/json",
        `host: 127.0.0.1:${receiver.port}`,
        "webhook-id: evt_2",
      ].toSorted(),
    );
    expect(received).toBe(body.toString());
  });

  test.each([
    ["204 No Content", answer(204)],
    ["299 Odd", answer(299)],
    ["301 Moved Permanently", answer(301, "redirect")],
    ["304 Not Modified", answer(304, "redirect")],
    ["400 Bad Request", answer(400, "http_status")],
    ["410 Gone", answer(410, "http_status")],
    ["500 Internal Server Error", answer(500, "http_status")],
  ])("with %s decides by its status", async (status, expected) => {
    const receiver = await startReceiver(saying(emptyAnswer(status)));
    expect(await send(startSender(), `http://127.0.0.1:${receiver.port}/`)).toEqual(expected);
  });

  test.each([
    ["429 Too Many Requests", ["retry-after: 30"], 30],
    ["503 Service Unavailable", ["retry-after: Sat, 21 Nov 2026 00:02:00 GMT"], 120],
    ["503 Service Unavailable", ["retry-after: 7", "retry-after: 9"], 7],
    ["503 Service Unavailable", ["retry-after: soon"], null],
    ["503 Service Unavailable", [], null],
    ["500 Internal Server Error", ["retry-after: 30"], null],
    ["200 OK", ["retry-after: 30"], null],
  ])("with %s %j asks to wait %j", async (status, headers, retryAfterSeconds) => {
    const receiver = await startReceiver(saying(emptyAnswer(status, ...headers)));
    const clock = { now: () => new Date("2026-11-21T00:00:00.000Z") };
    expect(await send(startSender({ clock }), `http://127.0.0.1:${receiver.port}/`)).toMatchObject({
      retryAfterSeconds,
    });
  });

  test("is contacted over the same connection again, unless too many are open", async () => {
    const [kept, closed] = [await startReceiver(saying(ok)), await startReceiver(saying(ok))];
    const [sender, frugal] = [startSender(), startSender({ limits: { keptSockets: 0 } })];
    for (let times = 0; times < 3; times += 1) {
      expect(await send(sender, `http://127.0.0.1:${kept.port}/`)).toEqual(answer(200));
      expect(await send(frugal, `http://127.0.0.1:${closed.port}/`)).toEqual(answer(200));
    }
    expect([kept.connections.length, closed.connections.length]).toEqual([1, 3]);
    expect(closed.received()).toContain("connection: close");
  });

  test("is reached over IPv6, and by each address of its name in turn", async () => {
    // A port of the system's choice on ::1 can be another server's port on 127.0.0.1.
    const receiver = await startReceiver(saying(ok), { host: "::1", port: await findFreePort() });
    expect(await send(startSender(), `http://[::1]:${receiver.port}/`)).toEqual(answer(200));
    expect(await send(startSender(), `http://localhost:${receiver.port}/`)).toEqual(answer(200));
  });
});

describe("a receiver that does not answer", () => {
  const silent: readonly (readonly [string, (socket: Socket) => void])[] = [
    ["never", () => {}],
    ["a byte at a time", (socket) => trickle(socket, "HTTP/1.1 200 OK\r\nx-slow: ", "x")],
    [
      "with early hints for ever",
      (socket) => trickle(socket, "", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"),
    ],
  ];

  function trickle(socket: Socket, first: string, next: string): void {
    socket.write(first);
    const timer = setInterval(() => socket.write(next), 1);
    socket.once("close", () => clearInterval(timer));
  }

  test.each(silent)("in time, %s, causes a timeout, and its connection is closed", async (_, behave) => {
    const receiver = await startReceiver(behave);
    expect(await send(startSender(short), `http://127.0.0.1:${receiver.port}/`)).toEqual(refusal("timeout"));
    await expect.poll(() => receiver.connections.length).toBe(1);
    await receiver.isLeft();
    expect(receiver.connections).toHaveLength(1);
  });

  test("the handshake causes a connection timeout, and its connection is closed", async () => {
    const receiver = await startReceiver(() => {});
    expect(
      await send(startSender({ limits: { connectMs: 500 } }), `https://localhost:${receiver.port}/`),
    ).toEqual(refusal("timeout"));
    await expect.poll(() => receiver.connections.length).toBe(1);
    await receiver.isLeft();
    expect(receiver.connections).toHaveLength(1);
  });

  test.each([
    ["has no address", async () => []],
    ["can't be asked", () => Promise.reject(new Error("SERVFAIL"))],
    ["is never answered", () => new Promise<never>(() => {})],
  ])("because its name %s causes a DNS error", async (_, resolve) => {
    expect(
      await send(startSender({ resolve, limits: { connectMs: 20 } }), "https://shop.example.com/"),
    ).toEqual(refusal("dns"));
  });

  test("while connecting counts against the attempt's total limit", async () => {
    const resolve = (): Promise<never> => new Promise(() => {});
    expect(
      await send(
        startSender({ resolve, limits: { totalMs: 20, connectMs: 200 } }),
        "https://shop.example.com/",
      ),
    ).toEqual(refusal("timeout"));
  });

  const broken: readonly (readonly [string, (socket: Socket) => void])[] = [
    ["hangs up at once", (socket) => void socket.destroy()],
    ["hangs up after the request", (socket) => void socket.once("data", () => socket.end())],
    ["resets the connection", (socket) => void socket.once("data", () => socket.resetAndDestroy())],
    ["talks garbage", saying("%PDF-1.7 this is not HTTP\r\n\r\n")],
    [
      "hangs up within the head",
      (socket) => void socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nx-a: ")),
    ],
    ["sends 17 KiB of headers", saying(`HTTP/1.1 200 OK\r\nx-a: ${"a".repeat(17 * 1024)}\r\n\r\n`)],
    [
      "switches to another protocol",
      saying("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"),
    ],
    ["has two lengths", saying("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab")],
  ];

  test.each(broken)("but %s, causes a connection error", async (_, behave) => {
    const receiver = await startReceiver(behave);
    expect(await send(startSender(), `http://127.0.0.1:${receiver.port}/`)).toEqual(refusal("connection"));
  });

  test("because nothing listens causes a connection error", async () => {
    expect(await send(startSender(), "http://127.0.0.1:1/")).toEqual(refusal("connection"));
    expect(await send(startSender(), "http://localhost:1/")).toEqual(refusal("connection"));
  });
});

describe("the body of an answer", () => {
  test("with 10 GB is read only at its beginning, and does not change the result", async () => {
    let poured = (): number => 0;
    const receiver = await startReceiver((socket) =>
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n");
        poured = pourTenGigabytes(socket);
      }),
    );
    expect(await send(startSender(), `http://127.0.0.1:${receiver.port}/`)).toEqual(answer(200));
    await receiver.isLeft();
    expect(receiver.connections[0]?.bytesWritten).toBeGreaterThan(16_384);
    expect(poured()).toBeLessThan(bytesUnread);
  });

  test("that is a gzip bomb is never decompressed", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20));
    const head =
      "HTTP/1.1 500 Oh\r\ncontent-encoding: gzip\r\ncontent-type: application/json\r\n" +
      `content-length: ${bomb.length}\r\n\r\n`;
    const receiver = await startReceiver(saying(Buffer.concat([Buffer.from(head), bomb])));
    const resources: string[] = [];
    const hook = createHook({ init: (_, type) => void resources.push(type) }).enable();
    onTestFinished(() => void hook.disable());
    expect(await send(startSender(), `http://127.0.0.1:${receiver.port}/`)).toEqual(
      answer(500, "http_status"),
    );
    expect([resources.includes("TCPWRAP"), resources.includes("ZLIB")]).toEqual([true, false]);
    gunzipSync(gzipSync("So it would be seen."));
    expect(resources).toContain("ZLIB");
  });

  test("up to 16 KiB is read completely, so that the connection can be reused", async () => {
    const body = "a".repeat(16_384);
    const receiver = await startReceiver(
      saying(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
    );
    const sender = startSender();
    for (let times = 0; times < 2; times += 1) {
      expect(await send(sender, `http://127.0.0.1:${receiver.port}/`)).toEqual(answer(200));
      // The pool gets the connection back one event loop turn after the answer's end.
      await setImmediate();
    }
    expect(receiver.connections).toHaveLength(1);
  });

  test.each([
    [
      "never ends",
      (socket: Socket) =>
        void socket.once("data", () => socket.write("HTTP/1.1 202 Accepted\r\ncontent-length: 9\r\n\r\na")),
    ],
    [
      "is reset",
      (socket: Socket) =>
        void socket.once("data", () =>
          socket.write("HTTP/1.1 202 Accepted\r\ncontent-length: 9\r\n\r\na", () => socket.resetAndDestroy()),
        ),
    ],
    [
      "has a broken chunk",
      saying("HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\nzzz\r\n"),
    ],
  ])("that %s does not change the result", async (_, behave) => {
    const receiver = await startReceiver(behave);
    expect(
      await send(startSender({ limits: { totalMs: 2_000 } }), `http://127.0.0.1:${receiver.port}/`),
    ).toEqual(answer(202));
    await receiver.isLeft();
  });
});

describe("TLS", () => {
  const trusting = { certificateAuthority: selfSignedCertificate };

  test("with an untrusted certificate is refused before a byte of the webhook is sent", async () => {
    const receiver = await startReceiver(saying(ok), { tls });
    expect(await send(startSender(), `https://localhost:${receiver.port}/`)).toEqual(refusal("tls"));
    expect(receiver.received()).toBe("");
    expect(await send(startSender(trusting), `https://localhost:${receiver.port}/`)).toEqual(answer(200));
  });

  test("with another host's certificate is refused", async () => {
    const receiver = await startReceiver(saying(ok), { tls });
    expect(await send(startSender(trusting), `https://127.0.0.1:${receiver.port}/`)).toEqual(refusal("tls"));
    expect(receiver.received()).toBe("");
  });

  test("is used from version 1.2 on", async () => {
    const old = await startReceiver(saying(ok), {
      tls: { ...tls, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" },
    });
    const oldest = await startReceiver(saying(ok), { tls: { ...tls, maxVersion: "TLSv1.2" } });
    expect(await send(startSender(trusting), `https://localhost:${old.port}/`)).toEqual(refusal("tls"));
    expect(await send(startSender(trusting), `https://localhost:${oldest.port}/`)).toEqual(answer(200));
  });

  test.each([
    ["plain HTTP", (socket: Socket) => void socket.end(ok)],
    ["garbage", (socket: Socket) => void socket.end("garbage")],
    ["nothing", (socket: Socket) => void socket.destroy()],
  ])("with a receiver that speaks %s causes a TLS error", async (_, behave) => {
    const receiver = await startReceiver(behave);
    expect(await send(startSender(), `https://localhost:${receiver.port}/`)).toEqual(refusal("tls"));
  });

  test("negotiates HTTP/2 with receivers that support it, with the same limits", async () => {
    const streams: ServerHttp2Stream[] = [];
    let poured = (): number => 0;
    const server = createSecureServer(tls);
    server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      streams.push(stream);
      stream.on("error", () => {});
      stream.respond({ ":status": headers[":path"] === "/huge" ? 200 : 204 });
      if (headers[":path"] === "/huge") poured = pourTenGigabytes(stream);
      else stream.end();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const sender = startSender(trusting);
    expect(await send(sender, `https://localhost:${port}/`)).toEqual(answer(204));
    expect(await send(sender, `https://localhost:${port}/huge`)).toEqual(answer(200));
    const [, huge] = streams;
    if (huge !== undefined && !huge.closed) await once(huge, "close").catch(() => {});
    expect(poured()).toBeLessThan(bytesUnread);
    expect(await send(sender, `https://localhost:${port}/`)).toEqual(answer(204));
    expect(new Set(streams.map(({ session }) => session)).size).toBeLessThanOrEqual(2);
  });
});

describe("an attempt that is stopped", () => {
  test("has no result: it rejects with the reason of the signal", async () => {
    const stop = new AbortController();
    const receiver = await startReceiver(
      (socket) => void socket.once("data", () => stop.abort(new Error("The process ends."))),
    );
    await expect(
      send(startSender(), `http://127.0.0.1:${receiver.port}/`, { signal: stop.signal }),
    ).rejects.toThrow("The process ends.");
    await receiver.isLeft();
    await expect(
      send(startSender(), `http://127.0.0.1:${receiver.port}/`, { signal: stop.signal }),
    ).rejects.toThrow("The process ends.");
    expect(receiver.connections).toHaveLength(1);
  });
});
