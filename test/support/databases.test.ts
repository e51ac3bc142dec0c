/**
 * The other tests rely on the temporary databases: each is migrated, empty, separate from the others, and
 * deleted when its process ends.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { describeOnBoth } from "./databases.ts";

describeOnBoth("a fresh database", (open, engine) => {
  it("provides a migrated and empty database that no other test shares", async () => {
    const [one, two] = await Promise.all([open(), open()]);
    expect([one.engine, two.engine]).toEqual([engine, engine]);
    const now = new Date();
    await one.db.insertInto("app").values({ id: "app_1", name: "One", createdAt: now }).execute();
    expect(await one.db.selectFrom("app").select("id").execute()).toEqual([{ id: "app_1" }]);
    expect(await two.db.selectFrom("app").select("id").execute()).toEqual([]);
    // Changes files with which each database starts.
    await one.script((run) => run("create table added (); checkpoint"));
    const three = await open();
    expect(await three.script((run) => run("select to_regclass('added')"))).toEqual([
      [{ to_regclass: null }],
    ]);
  });
});

it("the guardian stops the server and deletes its folder when the parent process is killed", async () => {
  const script = `
    import { startPostgres } from ${JSON.stringify(new URL("postgres.ts", import.meta.url).href)};
    process.stdout.write((await startPostgres()).folder);
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [folder] = (await once(child.stdout, "data")).map(String);
  expect(existsSync(folder ?? "")).toBe(true);
  child.kill("SIGKILL");
  await once(child, "exit");
  await expect.poll(() => existsSync(folder ?? "")).toBe(false);
});
