import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type Server, createServer } from "node:net";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { findFreePort, freePortsEnd, freePortsFirst, limitFreePorts } from "#foundation/free-port.ts";

const servers: Server[] = [];

async function listen(port: number): Promise<void> {
  const server = createServer().listen(port, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
}

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

describe("findFreePort", () => {
  it("returns ports on which a server can listen, each only once", async () => {
    const ports = await Promise.all(Array.from({ length: 20 }, () => findFreePort()));
    expect(new Set(ports).size).toBe(20);
    await Promise.all(ports.map((port) => listen(port)));
  });

  it("passes over ports in use", async () => {
    const before = await findFreePort();
    const used = [before + 1, before + 2].filter((port) => port < 32_768);
    await Promise.all(used.map((port) => listen(port).catch(() => undefined)));
    expect(used).not.toContain(await findFreePort());
  });

  it("begins again at the first port of the limits of this process", async () => {
    onTestFinished(() => limitFreePorts(freePortsFirst, freePortsEnd));
    const first = Math.min(await findFreePort(), freePortsEnd - 20);
    limitFreePorts(first, first + 20);
    const ports: number[] = [];
    while (ports.length < 30) ports.push(await findFreePort());
    expect(ports.filter((port) => port < first || port >= first + 20)).toEqual([]);
  });

  it("returns ports below those that the operating system gives to outgoing connections", async () => {
    let ephemeralStart = 49_152;
    if (process.platform === "linux")
      ephemeralStart = Number(
        readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").trim().split(/\s+/)[0],
      );
    expect(await findFreePort()).toBeLessThan(ephemeralStart);
  });

  it("refuses an address of another machine", async () => {
    await expect(findFreePort("192.0.2.1")).rejects.toThrow("EADDRNOTAVAIL");
  });
});
