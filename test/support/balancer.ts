/**
 * Starts nginx with the configuration of deploy/nginx in front of several gateways, and a Redis for their
 * counters. Both run as the current user, each in a temporary folder. nginx balances round robin over
 * keep-alive connections.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isInstalled, type Listening, startProgram } from "./program.ts";

export const nginx = "/usr/sbin/nginx";
const redis = "redis-server";
const shipped = new URL("../../deploy/nginx/nginx.conf", import.meta.url);

export const hasNginx = isInstalled(nginx, "-v");
export const hasRedis = isInstalled(redis, "--version");

/**
 * Starts nginx in front of the gateways at these ports. The response header `x-answered-by` names the port of
 * the gateway that answered.
 */
export async function startBalancer(gateways: readonly number[]): Promise<Balancer> {
  const port = await findFreePort();
  const { folder, args } = writeBalancer({ port, gateways });
  const listening = await startProgram({ file: nginx, args, port, folder });
  return { ...listening, accessLog: join(folder, "access.log") };
}

export interface Balancer extends Listening {
  /** The path of nginx's access log, which has one JSON object in each line. */
  readonly accessLog: string;
}

export async function startRedis(): Promise<Listening> {
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-redis-"));
  return startProgram({
    file: redis,
    args: ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""],
    port,
    folder,
  });
}

interface Balancing {
  readonly port: number;
  readonly gateways: readonly number[];
}

/** Writes the nginx configuration into a temporary folder and returns the folder and nginx's arguments. */
export function writeBalancer({ port, gateways }: Balancing): {
  readonly folder: string;
  readonly args: readonly string[];
} {
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-nginx-"));
  // If root starts nginx, its workers run as another user and must be able to write large bodies here.
  chmodSync(folder, 0o755);
  const file = join(folder, "nginx.conf");
  writeFileSync(file, placed(readFileSync(shipped, "utf8"), { folder, port, gateways }));
  return {
    folder,
    args: [
      "-c",
      file,
      "-p",
      folder,
      "-e",
      join(folder, "error.log"),
      "-g",
      "daemon off; master_process off;",
    ],
  };
}

/**
 * Adapts the shipped configuration: replaces addresses and folders, and adds the `x-answered-by` header.
 * Everything else stays as shipped.
 */
function placed(text: string, { folder, port, gateways }: Balancing & { readonly folder: string }): string {
  const [server = "", parameters = ""] = /server gateway-1:4000( .*);\n/.exec(text) ?? [];
  const changes: readonly (readonly [string, string])[] = [
    [server, gateways.map((gateway) => `server 127.0.0.1:${gateway}${parameters};\n`).join("")],
    [server.replace("gateway-1", "gateway-2"), ""],
    ["listen 8080;", `listen 127.0.0.1:${port};`],
    [
      "access_log /dev/stdout requests;",
      `access_log ${folder}/access.log requests; add_header X-Answered-By $upstream_addr always;`,
    ],
    ["error_log /dev/stderr warn;", `error_log ${folder}/error.log warn;`],
  ];
  for (const [from] of changes)
    if (from === "" || !text.includes(from))
      throw new Error(`deploy/nginx/nginx.conf no longer says: ${from}`);
  return changes.reduce(
    (changed, [from, to]) => changed.replace(from, () => to),
    text.replaceAll(" /tmp/", ` ${folder}/`),
  );
}
