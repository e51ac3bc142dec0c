/** An nginx in front of gateways, and a Redis for what they count: processes of this user, each in a folder of its own. nginx asks in turns, over connections that it keeps. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "#soak/service.ts";

const nginx = "/usr/sbin/nginx";
const redis = "redis-server";

export const hasNginx = spawnSync(nginx, ["-v"], { stdio: "ignore" }).status === 0;
export const hasRedis = spawnSync(redis, ["--version"], { stdio: "ignore" }).status === 0;

export interface Listening extends AsyncDisposable {
  readonly port: number;
}

/** The header `x-answered-by` says which of them has answered, by its port. */
export async function startBalancer(gateways: readonly number[]): Promise<Listening> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-nginx-"));
  const file = join(folder, "nginx.conf");
  writeFileSync(file, configurationOf(folder, { port, gateways }));
  return startProgram(nginx, ["-c", file, "-p", folder, "-e", join(folder, "error.log")], { port, folder });
}

export async function startRedis(): Promise<Listening> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-redis-"));
  return startProgram(redis, ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""], { port, folder });
}

interface Balancing {
  readonly port: number;
  readonly gateways: readonly number[];
}

/** What nginx asks again elsewhere are requests that may be sent twice, and those that could not be sent at all: its own default. */
function configurationOf(folder: string, { port, gateways }: Balancing): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/${kind};`);
  return `
    daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
    events { worker_connections 512; }
    http {
      access_log off; ${temporary.join(" ")}
      upstream gateways { ${gateways.map((gateway) => `server 127.0.0.1:${gateway} max_fails=0;`).join(" ")} keepalive 16; }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://gateways;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_set_header Host $http_host;
          proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
          add_header X-Answered-By $upstream_addr always;
        }
      }
    }`;
}

async function startProgram(
  file: string,
  args: readonly string[],
  { port, folder }: { readonly port: number; readonly folder: string },
): Promise<Listening> {
  const child = spawn(file, args, { stdio: "ignore" });
  const ended = once(child, "exit");
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const stop = async (): Promise<void> => {
    process.removeListener("exit", kill);
    if (child.exitCode === null && child.signalCode === null) {
      kill();
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  while (!(await isListening(port))) {
    if (child.exitCode !== null) {
      await stop();
      throw new Error(`${file} ended with ${child.exitCode} before it listened.`);
    }
    await sleep(20);
  }
  return { port, [Symbol.asyncDispose]: stop };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", () => done(false));
  });
}
