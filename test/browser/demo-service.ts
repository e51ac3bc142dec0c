/** The whole service with its demo at a separate address, for tests that open its pages in a browser. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import { prepareDemoDataAndFile } from "#demo/prepare-demo.ts";
import { createLog } from "#foundation/log.ts";

export interface DemoService extends AsyncDisposable {
  readonly address: string;
  readonly demo: DemoJsonFileContent;
}

export async function openDemoService(): Promise<DemoService> {
  const dataDir = mkdtempSync(join(tmpdir(), "browser-demo-"));
  const app = await createServiceApp({
    settings: parseServiceSettings({ PORT: "0", DATA_DIR: dataDir }),
    log: createLog("silent"),
  });
  const demo = await prepareDemoDataAndFile(app.database, { ...app.services, dataDir, now: new Date() });
  if (demo === undefined) throw new Error("There is no demo.");
  return {
    address: await app.listen(),
    demo,
    [Symbol.asyncDispose]: async () => {
      await app.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
