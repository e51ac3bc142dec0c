/** `serve`, `gateway`, `worker`: start what they are for, say where it is, and stop in order when they are told to. */
import { type App, createApp } from "#app/app.ts";
import type { Role } from "#app/background.ts";
import { BadSetting, misspeltSettings, readSettings, type Settings } from "#app/settings.ts";
import type { DemoFile } from "#demo/demo-file.ts";
import { createLog, type Log } from "#foundation/log.ts";
import { print } from "./output.ts";
import { prepareDemo } from "#demo/prepare-demo.ts";

export async function serve(role: Role = "all"): Promise<void> {
  const settings = readSettings(process.env);
  if (role !== "all" && settings.databaseUrl === undefined)
    throw new BadSetting(`DATABASE_URL is required: ${role} shares a database with other processes, and the embedded one has room for one.`);
  const log = createLog(settings.logLevel);
  for (const { given, meant } of misspeltSettings(process.env)) log.warn({ setting: given }, `${given} is no setting: is ${meant} meant?`);
  const app = await createApp({ settings, log, role });
  try {
    const demo = settings.demo ? await prepareDemo(app.database, { ...app.services, dataDir: settings.dataDir, now: app.clock.now() }) : undefined;
    const address = await app.listen();
    stopOnSignal(app, log);
    if (role === "worker") print(`\nCommerce Gateway's worker: health at ${address}/healthz and ${address}/readyz\n`);
    else welcome(address, settings, demo);
  } catch (error) {
    await app.close();
    throw error;
  }
}

const stopMsMax = 10_000;
const sameSignalMs = 1_000;

/** Stops accepting, finishes what runs, closes the database. npm passes a signal on, so a second one at once is the same. */
function stopOnSignal(app: App, log: Log): void {
  let stoppingSince: number | undefined;
  const stop = (signal: string): void => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > sameSignalMs) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    log.info({ signal }, "Stopping.");
    setTimeout(() => process.exit(1), stopMsMax).unref();
    app.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "Stopping failed.");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

function welcome(address: string, settings: Settings, demo: DemoFile | undefined): void {
  print(`\nCommerce Gateway listens at ${address}`);
  print(`  GraphiQL   ${address}/graphql`);
  print(`  OpenAPI    ${address}/openapi.json`);
  print(`  Database   ${settings.databaseUrl === undefined ? `embedded, in ${settings.dataDir}` : "PostgreSQL"}`);
  if (demo === undefined) return;
  const [product] = demo.products;
  print(`  Demo       keys and tokens in ${settings.dataDir}/demo.json\n`);
  print(`Demo API key: ${demo.keys.full}`);
  print(`Demo token for GraphiQL (admin): ${demo.tokens.admin}`);
  print(`Demo account for OAuth's sign-in page: ${demo.staff.email} with the password in demo.json\n`);
  print("Try it:");
  print(`  curl -H 'Authorization: Bearer ${demo.keys.full}' ${address}/api/v1/open/catalog/products`);
  if (product !== undefined) print(`  curl '${address}/api/v1/catalog/merchants/${product.merchantSlug}/products/${product.productSlug}'`);
  print("");
}
