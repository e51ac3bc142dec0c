/**
 * The shipped configuration of the PostgreSQL cluster. HAProxy runs in front of fake members and connects
 * clients only to the member that has the role. `npm run soak -- --only failover` runs the real cluster.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { hasHaproxy, startHaproxy } from "#soak/database-cluster.ts";
import { isInstalled } from "#test/support/program.ts";

if (!hasHaproxy)
  process.stderr.write(
    "test/deploy/database-cluster.test.ts is skipped in part: HAProxy is not installed (Debian: haproxy).\n",
  );

const hasPatroni = isInstalled("patronictl", "--help");
if (!hasPatroni)
  process.stderr.write(
    "test/deploy/database-cluster.test.ts is skipped in part: Patroni is not installed (Debian: patroni).\n",
  );

interface FakeMember {
  readonly port: number;
  readonly restPort: number;
}

/** Starts PostgreSQL and Patroni of a member as far as HAProxy sees them. A new client receives the name. */
async function startMember(
  name: string,
  { stack, readPrimary }: { readonly stack: AsyncDisposableStack; readonly readPrimary: () => string },
): Promise<FakeMember> {
  const clients = new Set<Socket>();
  const postgres = createServer((client) => {
    clients.add(client.on("error", () => undefined));
    client.write(name);
  });
  const patroni = createHttpServer(({ method, url }, response) => {
    const hasRole = url === "/primary" ? readPrimary() === name : readPrimary() !== name;
    response.writeHead(method === "OPTIONS" && hasRole ? 200 : 503).end();
  });
  const portOf = async (server: Server): Promise<number> => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stack.defer(() => {
      for (const client of clients) client.destroy();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };
  return { port: await portOf(postgres), restPort: await portOf(patroni) };
}

/** Connects and returns the name of the member; "" if HAProxy closes the connection. */
async function connectTo(port: number): Promise<{ readonly name: string; readonly socket: Socket }> {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  const name = await new Promise<string>((done) => {
    socket.once("data", (bytes) => done(String(bytes))).once("close", () => done(""));
  });
  return { name, socket };
}

/**
 * Connects several times, and returns the different names of the members. HAProxy connects to all members in
 * turn until it has asked each of them for its role.
 */
async function namesAt(port: number): Promise<string[]> {
  const names = new Set<string>();
  for (let count = 0; count < 6; count += 1) {
    const { name, socket } = await connectTo(port);
    socket.destroy();
    names.add(name);
  }
  return [...names].toSorted();
}

/** HAProxy asks once a second, and twice before it gives a member up. */
const waitMs = 20_000;

describe("the PostgreSQL cluster", () => {
  it.runIf(hasHaproxy)(
    "HAProxy connects to the present primary, ends sessions of a former one, and knows the standbys",
    { timeout: 7 * waitMs },
    async () => {
      await using stack = new AsyncDisposableStack();
      const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-haproxy-"));
      stack.defer(() => rmSync(folder, { recursive: true, force: true }));
      let primary = "db-1";
      const start = (name: string): Promise<FakeMember> =>
        startMember(name, { stack, readPrimary: () => primary });
      const members = [await start("db-1"), await start("db-2"), await start("db-3")];
      const ports = stack.use(await startHaproxy(folder, members));

      const areAt = async (port: number, names: readonly string[]): Promise<void> => {
        await expect.poll(() => namesAt(port), { timeout: waitMs }).toEqual(names);
      };
      await areAt(ports.primary, ["db-1"]);
      await areAt(ports.standbys, ["db-2", "db-3"]);
      const { name, socket } = await connectTo(ports.primary);
      expect(name).toBe("db-1");
      primary = "db-2";
      await expect.poll(() => socket.closed, { timeout: waitMs }).toBe(true);
      await areAt(ports.primary, ["db-2"]);
      await areAt(ports.standbys, ["db-1", "db-3"]);
      // Without a primary, HAProxy closes each new connection at once, so that the service answers 503.
      primary = "none";
      await areAt(ports.primary, [""]);
    },
  );

  it.runIf(hasPatroni)("the documents use commands and options that patronictl has", () => {
    const text = ["docs/operating.md", "docs/runbook.md", "deploy/patroni/patroni.yml"]
      .map((path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"))
      .join("\n")
      .replaceAll(/\s+/g, " ");
    const commands = [...text.matchAll(/patronictl -c patroni\.yml ([a-z][^`]*)`/g)].map(([, line = ""]) =>
      line.trim().split(" "),
    );
    expect(new Set(commands.map(([name]) => name))).toEqual(
      new Set(["list", "failover", "reinit", "switchover", "restart", "edit-config"]),
    );
    for (const [name = "", ...words] of commands) {
      const { status, stdout } = spawnSync("patronictl", [name, "--help"], { encoding: "utf8" });
      expect(status, name).toBe(0);
      for (const option of words.filter((word) => word.startsWith("--")))
        expect(stdout, `${name} ${option}`).toMatch(new RegExp(`${option}\\b`));
    }
  });

  it("Patroni's settings keep what the documentation promises", () => {
    const file = readFileSync(new URL("../../deploy/patroni/patroni.yml", import.meta.url), "utf8");
    const { dcs } = parse(file).bootstrap;
    // Without the next two settings, a failover would lose acknowledged changes.
    expect(dcs).toMatchObject({ synchronous_mode: true, primary_start_timeout: 0 });
    expect(dcs.postgresql.parameters.synchronous_commit).toBe("on");
    // Patroni needs this relation; a lower limit than 30 seconds keeps the promise of guarantee 21.
    expect(dcs.ttl).toBeGreaterThanOrEqual(dcs.loop_wait + 2 * dcs.retry_timeout);
    expect(dcs.ttl).toBeLessThan(30);
  });
});
