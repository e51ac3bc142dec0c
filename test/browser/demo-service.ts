/** The whole service with its demo at a separate address, for tests that open its pages in a browser. */
import { rmSync } from "node:fs";
import { type ServiceApp, createServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import { prepareDemoDataAndFile } from "#demo/prepare-demo.ts";
import { createLog } from "#foundation/log.ts";
import { demoPlace } from "../support/copies.ts";

export interface DemoService extends AsyncDisposable {
  readonly app: ServiceApp;
  readonly address: string;
  readonly demo: DemoJsonFileContent;
}

/** Starts the service with the given settings on a copy of the demo database. */
export async function openDemoService(
  environment: Readonly<Record<string, string>> = {},
): Promise<DemoService> {
  const { folder: dataDir } = await demoPlace("pglite");
  const app = await createServiceApp({
    settings: parseServiceSettings({ PORT: "0", DATA_DIR: dataDir, ...environment }),
    log: createLog("silent"),
  });
  const demo = await prepareDemoDataAndFile(app.database, { ...app.services, dataDir, now: new Date() });
  if (demo === undefined) throw new Error("There is no demo.");
  return {
    app,
    address: await app.listen(),
    demo,
    [Symbol.asyncDispose]: async () => {
      await app.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
