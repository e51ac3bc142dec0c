/**
 * Figure 12: no webhook URL, and no address that its host name resolves to, opens a connection to a
 * non-public address.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { findEndpointUrlFaults, findNonPublicHostAddressFaults } from "#webhooks/endpoint-url.ts";
import type { HostNameResolver } from "#webhooks/safe-addresses.ts";
import {
  answer,
  emptyAnswer,
  type Receiver,
  refusal,
  saying,
  send,
  startReceiver,
  startSender,
} from "./receivers.ts";

/** Counts every socket that this process opens, whether or not the connection succeeds. */
let sockets = 0;
const count = (): void => void (sockets += 1);

let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver(saying(emptyAnswer("200 OK")));
  sockets = 0;
  subscribe("net.client.socket", count);
});

afterEach(() => {
  unsubscribe("net.client.socket", count);
  vi.unstubAllEnvs();
});

const literals = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "127.255.255.254",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "0177.0.0.1",
  "017700000001",
  "①②⑦.⓪.⓪.①",
  "127。0。0。1",
  "%31%32%37.0.0.1",
  "0.0.0.0",
  "0",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.0.1",
  "100.64.0.1",
  "169.254.169.254",
  "0xa9fea9fe",
  "168.63.129.16",
  "224.0.0.1",
  "255.255.255.255",
  "[::1]",
  "[::]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::ffff:169.254.169.254]",
  "[::ffff:a83f:8110]",
  "[::7f00:1]",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "[fe80::1]",
  "[fd00:ec2::254]",
] as const;

const names: Readonly<Record<string, readonly string[]>> = {
  "inside.example.com": ["10.0.0.1"],
  "loopback.example.com": ["127.0.0.1"],
  "metadata.example.com": ["169.254.169.254"],
  "mapped.example.com": ["::ffff:127.0.0.1"],
  "both.example.com": ["8.8.8.8", "127.0.0.1"],
  localhost: ["127.0.0.1", "::1"],
};

const resolve: HostNameResolver = async (name) => names[name] ?? [];

describe("no connection outside public addresses", () => {
  test("is made to any of 43 blocked targets", async () => {
    const hosts = [...literals, ...Object.keys(names)];
    expect(hosts).toHaveLength(43);
    const sender = startSender({ isLoopbackAllowed: false, resolve });
    for (const host of hosts) {
      for (const scheme of ["https", "http"]) {
        const url = `${scheme}://${host}:${receiver.port}/`;
        expect([url, await send(sender, url)]).toEqual([url, refusal("blocked_address")]);
      }
    }
    expect([sockets, receiver.connections.length]).toEqual([0, 0]);
  });

  test("is made to loopback unless both the process and the merchant allow loopback", async () => {
    const url = `http://127.0.0.1:${receiver.port}/`;
    expect(await send(startSender(), url, { isLoopbackAllowed: false })).toEqual(refusal("blocked_address"));
    expect(await send(startSender({ isLoopbackAllowed: false }), url)).toEqual(refusal("blocked_address"));
    expect([sockets, receiver.connections.length]).toEqual([0, 0]);
    // Proves that the counters count.
    expect(await send(startSender(), url)).toEqual(answer(200));
    expect([sockets, receiver.connections.length]).toEqual([1, 1]);
  });

  test("is made to other addresses than loopback's if loopback is allowed", async () => {
    const sender = startSender({ resolve });
    const closed = [...literals, ...Object.keys(names)].filter(
      (host) => !/^(?:localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(new URL(`http://${host}`).hostname),
    );
    expect(closed).toHaveLength(28);
    for (const host of closed) {
      const url = `https://${host}:${receiver.port}/`;
      expect([url, await send(sender, url)]).toEqual([url, refusal("blocked_address")]);
    }
    expect(sockets).toBe(0);
  });

  test("is made to a public address without TLS", async () => {
    const sender = startSender({ resolve: async () => ["8.8.8.8"] });
    expect(await send(sender, `http://shop.example.com:${receiver.port}/`)).toEqual(
      refusal("blocked_address"),
    );
    expect(await send(sender, "http://8.8.8.8/")).toEqual(refusal("blocked_address"));
    expect(sockets).toBe(0);
  });

  test("is made if a name that was public at registration now resolves to a private address", async () => {
    const answers = [["8.8.8.8"], ["127.0.0.1"]];
    const rebinding: HostNameResolver = async () => answers.shift() ?? [];
    const url = `https://rebinding.example.com:${receiver.port}/`;
    expect(findEndpointUrlFaults(url, { isLoopbackAllowed: false })).toEqual([]);
    expect(
      await findNonPublicHostAddressFaults(url, { isLoopbackAllowed: false, resolve: rebinding }),
    ).toEqual([]);
    expect(await send(startSender({ resolve: rebinding }), url)).toEqual(refusal("blocked_address"));
    expect([sockets, receiver.connections.length, answers.length]).toEqual([0, 0, 0]);
  });

  test("is made to an unchecked address: the name is resolved only once", async () => {
    const other = await startReceiver(saying(emptyAnswer("200 OK")), { host: "127.0.0.2" });
    let asked = 0;
    // The second checked address answers. Addresses that the name resolves to later are never contacted.
    const rebinding: HostNameResolver = async () =>
      (asked += 1) === 1 ? ["::1", "127.0.0.1"] : ["127.0.0.2"];
    expect(await send(startSender({ resolve: rebinding }), `http://localhost:${receiver.port}/`)).toEqual(
      answer(200),
    );
    expect([asked, receiver.connections.length, other.connections.length]).toEqual([1, 1, 0]);
  });

  test("is reused from a merchant who may use loopback", async () => {
    const sender = startSender();
    const url = `http://127.0.0.1:${receiver.port}/`;
    expect(await send(sender, url)).toEqual(answer(200));
    const received = receiver.received();
    expect(await send(sender, url, { isLoopbackAllowed: false })).toEqual(refusal("blocked_address"));
    expect(receiver.received()).toBe(received);
  });

  test("is made by following a redirect", async () => {
    const redirecting = await startReceiver(
      saying(emptyAnswer("307 Temporary Redirect", `location: http://127.0.0.1:${receiver.port}/`)),
    );
    expect(await send(startSender(), `http://127.0.0.1:${redirecting.port}/`)).toEqual(
      answer(307, "redirect"),
    );
    expect([sockets, receiver.connections.length]).toEqual([1, 0]);
  });

  test("is made through a proxy of the environment", async () => {
    const proxy = await startReceiver(saying(emptyAnswer("200 OK")));
    for (const name of ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`);
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    expect(await send(startSender(), `http://127.0.0.1:${receiver.port}/`)).toEqual(answer(200));
    expect([receiver.connections.length, proxy.connections.length]).toEqual([1, 0]);
  });
});
