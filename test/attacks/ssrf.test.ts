/**
 * Figure 12 end to end: disguised private targets are refused when an endpoint is created by REST or GraphQL,
 * and no delivery reaches them. The targets are listed in webhooks/blocked-targets.test.ts.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { describe, expect, it } from "vitest";
import { createWebhook, installationOf, tryEndpoint } from "#test/operations/webhook-calls.ts";
import { refusal, send, startSender } from "#test/webhooks/receivers.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { HostNameResolver } from "#webhooks/safe-addresses.ts";

const inside: Readonly<Record<string, string>> = {
  "127.0.0.1.wildcard.example.com": "127.0.0.1",
  "localhost.localdomain": "127.0.0.1",
  "kubernetes.default.svc": "10.96.0.1",
  "db_primary.example.com": "10.0.0.5",
  "six.example.com": "fd00::1",
  "mapped.example.com": "::ffff:10.0.0.1",
  "nat64.example.com": "64:ff9b::a00:1",
  "six-to-four.example.com": "2002:a00:1::",
  "teredo.example.com": "2001:0:a00:1::",
};
const resolveName: HostNameResolver = async (name) => (inside[name] === undefined ? [] : [inside[name]]);
const world = useWorld("postgres", { resolveName });

const urls = [
  ...Object.keys(inside).map((name) => `https://${name}/`),
  "https://[fe80::1%25eth0]/",
  "https://[::ffff:0:7f00:1]/",
  "https://[::ffff:127.1]/",
  "https://0x7f.0.0.0x1/",
  "https://0177.1/",
  "https://127.0.0.1。/",
  "https://127．0．0．1/",
  "https://１２７.0.0.1/",
  "https://localhost。/",
  "https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
  "https://local\u00adhost/",
  "https://metadata。google。internal/",
  "https://localhost%2e/",
  "https://example.com%00.internal/",
  "https://example.com\\@127.0.0.1/",
  "https://example.com:443@127.0.0.1/",
  "https://127.0.0.1%2f@example.com/",
  "https://127.0.0.1#@example.com/",
  "https://127.0.0.1?@example.com/",
  "https:///127.0.0.1/",
  "https:127.0.0.1/",
  "https://127.0.0.1:0/",
  "https://shop.example.com:22/",
  "https://shop.example.com:25/",
  "gopher://127.0.0.1:6379/_FLUSHALL",
  "file:///etc/passwd",
  "data:text/plain,x",
  "unix:/var/run/docker.sock",
  "jar:https://shop.example.com!/",
  "https://shop.example.com/\r\nHost: 127.0.0.1",
];

describe("an endpoint URL with a private target", () => {
  it.each(urls)("is refused by REST and GraphQL: %j", async (url) => {
    const rest = await createWebhook(world(), { body: { url, eventTypes: ["*"] } });
    const graph = await tryEndpoint(world(), {
      installationId: await installationOf(world()),
      input: { url },
    });
    const codes = [rest.body.error?.code, graph.error?.code];
    for (const code of codes)
      expect(["webhook_url_not_allowed", "invalid_field", "malformed_request"]).toContain(code);
    expect(rest.status).toBe(400);
  });

  it("is reached by no delivery, even if an endpoint had it", async () => {
    let sockets = 0;
    const count = (): void => void (sockets += 1);
    const sender = startSender({ isLoopbackAllowed: false, resolve: resolveName });
    subscribe("net.client.socket", count);
    try {
      for (const url of urls.filter(
        (candidate) => candidate.startsWith("https:") && URL.canParse(candidate),
      )) {
        const { errorCode, httpStatus } = await send(sender, url);
        expect([url, httpStatus, ["blocked_address", "dns"].includes(String(errorCode))]).toEqual([
          url,
          null,
          true,
        ]);
      }
      for (const name of Object.keys(inside))
        expect(await send(sender, `https://${name}/`)).toEqual(refusal("blocked_address"));
    } finally {
      unsubscribe("net.client.socket", count);
    }
    expect(sockets).toBe(0);
  });
});
