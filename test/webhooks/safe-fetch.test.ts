/** Fetches of URLs that strangers chose never reach an internal network, and read a limited number of bytes. */
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { createSsrfSafeFetch } from "#webhooks/safe-fetch.ts";
import { emptyAnswer, saying, startReceiver } from "./receivers.ts";

const resolved: string[] = [];
const privateAddresses: Readonly<Record<string, readonly string[]>> = {
  "metadata.example": ["169.254.169.254"],
  "loopback.example": ["127.0.0.1"],
  "private.example": ["10.0.0.8"],
  "local6.example": ["fd00::1"],
  "mixed.example": ["203.0.113.9", "192.168.1.1"],
};
const strict = createSsrfSafeFetch({
  resolve: (name) => {
    resolved.push(name);
    return Promise.resolve(privateAddresses[name] ?? []);
  },
});
const local = createSsrfSafeFetch({ isLoopbackAllowed: true });
afterAll(() => Promise.all([strict.close(), local.close()]));

describe("a fetch of a stranger's URL", () => {
  it.each([
    "http://agent.example/client.json",
    "https://127.0.0.1/client.json",
    "https://[::1]/client.json",
    "https://0x7f000001/client.json",
    "https://localhost/client.json",
    "https://db.internal/client.json",
    "https://intranet/client.json",
    "https://user:password@agent.example/client.json",
    "https://agent.example:22/client.json",
    "file:///etc/passwd",
  ])("is refused for %s, before any name is resolved", async (url) => {
    resolved.length = 0;
    await expect(strict.fetch(url)).rejects.toThrow("The URL is not allowed.");
    expect(resolved).toEqual([]);
  });

  it.each(Object.keys(privateAddresses))(
    "is refused if %s has an address that is not public",
    async (name) => {
      const error: unknown = await strict
        .fetch(`https://${name}/client.json`)
        .catch((fault: unknown) => fault);
      expect(error).toBeInstanceOf(Error);
      expect((error as { cause?: { errorCode?: string } }).cause?.errorCode).toBe("blocked_address");
    },
  );

  it("does not follow a redirect", async () => {
    const target = await startReceiver(saying(emptyAnswer("200 OK")));
    const receiver = await startReceiver(
      saying(`HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:${target.port}/\r\ncontent-length: 0\r\n\r\n`),
    );
    const answer = await local.fetch(`http://127.0.0.1:${receiver.port}/client.json`);
    expect([answer.status, target.received()]).toEqual([302, ""]);
  });

  it("reads at most 64 KiB, also of a compressed body", async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000));
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`;
    const receiver = await startReceiver(saying(Buffer.concat([Buffer.from(head), bomb])));
    await expect(local.fetch(`http://127.0.0.1:${receiver.port}/client.json`)).rejects.toThrow(
      "The answer is longer than 65536 bytes.",
    );
  });
});
