/**
 * A separate PostgreSQL with a service on it in this process, which the test stops, kills and restarts as an
 * operator would.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type ServiceApp, createServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import { prepareDemoDataAndFile } from "#demo/prepare-demo.ts";
import { createLog } from "#foundation/log.ts";
import { encryptionKeys } from "#test/support/copies.ts";
import { startPostgres } from "#test/support/postgres.ts";
import { publicUrl } from "#test/support/world.ts";

export interface OwnPostgres extends AsyncDisposable {
  readonly app: ServiceApp;
  readonly demo: DemoJsonFileContent;
  /** Stops the server. `immediate`: without a clean shutdown, like a kill. */
  readonly stop: (mode: "fast" | "immediate") => Promise<void>;
  readonly startAgain: () => Promise<void>;
}

export async function startOnOwnPostgres(): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-test-"));
  // Without synchronous commits, the last commits would be lost.
  const postgres = await startPostgres({ synchronous_commit: "on" });
  const control = controlOf(postgres.folder);
  const environment = {
    DATABASE_URL: postgres.url,
    ENCRYPTION_KEYS: encryptionKeys,
    WEBHOOK_ALLOW_LOOPBACK: "1",
  };
  const settings = parseServiceSettings({
    PORT: "0",
    PUBLIC_URL: publicUrl,
    RATE_LIMIT_SCALE: "0",
    DATA_DIR: folder,
    ...environment,
  });
  const app = await createServiceApp({ settings, log: createLog("silent") });
  const demo = await prepareDemoDataAndFile(app.database, {
    ...app.services,
    dataDir: folder,
    now: new Date(),
  });
  await app.listen();
  return {
    app,
    demo: demo as DemoJsonFileContent,
    stop: (mode) => control("stop", "-m", mode),
    // pg_ctl's `restart` reuses the server's arguments.
    startAgain: () => control("restart"),
    [Symbol.asyncDispose]: async () => {
      await app.close();
      // A restarted server is no child of this process, so it must be stopped explicitly.
      await control("stop", "-m", "immediate").catch(() => undefined);
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs the server's pg_ctl as the owner of the data folder. */
function controlOf(folder: string): (...args: readonly string[]) => Promise<void> {
  const data = join(folder, "data");
  const [server = ""] = readFileSync(join(data, "postmaster.opts"), "utf8").split(" ");
  const { uid, gid } = statSync(data);
  return async (...args) => {
    // The server logs to a file; otherwise the caller would wait for the server's end to read all output.
    await promisify(execFile)(
      join(dirname(server), "pg_ctl"),
      ["-D", data, "-w", "-s", "-l", join(folder, "restarted.log"), ...args],
      { uid, gid },
    );
  };
}
