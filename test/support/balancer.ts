/**
 * The nginx of deploy/nginx in front of gateways, and a Redis for what they count: processes of this user,
 * each in a folder of its own. nginx asks in turns, over connections that it keeps.
 */
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "#soak/service.ts";
import { isInstalled, type Listening, startProgram } from "./program.ts";

export const nginx = "/usr/sbin/nginx";
const redis = "redis-server";
const shipped = new URL("../../deploy/nginx/nginx.conf", import.meta.url);

export const hasNginx = isInstalled(nginx, "-v");
export const hasRedis = isInstalled(redis, "--version");

/** The header `x-answered-by` says which of them has answered, by its port. */
export async function startBalancer(gateways: readonly number[]): Promise<Listening> {
  const port = await freePort();
  const { folder, args } = writeBalancer({ port, gateways });
  return startProgram({ file: nginx, args, port, folder });
}

export async function startRedis(): Promise<Listening> {
  const port = await freePort();
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

/** A folder with the configuration, and the arguments with which nginx runs on it. */
export function writeBalancer({ port, gateways }: Balancing): {
  readonly folder: string;
  readonly args: readonly string[];
} {
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-nginx-"));
  // Started by root, its workers are somebody else, who keeps what is large here.
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
 * The shipped file at other addresses, with other folders, and telling who has answered: nothing else of it
 * is changed.
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
