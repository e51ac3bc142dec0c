/** The code examples of the reference run in every language, against a test service with the demo's key. */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OpenApiDocument, listOpenApiOperations } from "#pages/docs/api-document.ts";
import { publicUrl } from "#test/support/world.ts";
import { useWorld } from "#test/support/use-world.ts";
import { blocksOf, pageAt } from "./docs-pages.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "code-samples-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function isInstalled(program: string, argument: string): boolean {
  try {
    execFileSync(program, [argument], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const client = new URL("../../../clients/typescript/src/index.ts", import.meta.url).href;

/** Go's usual cache: with an empty cache, Go compiles its whole standard library. */
const goCache = process.env["GOCACHE"] ?? join(homedir(), ".cache/go-build");

interface Language {
  readonly name: string;
  readonly isMissing: boolean;
  /** Runs the program in the file. */
  readonly run: (file: string) => readonly [program: string, ...args: string[]];
  readonly extension: string;
  readonly prepare?: (code: string) => string;
}

const languages: readonly Language[] = [
  {
    name: "TypeScript",
    isMissing: false,
    run: (file) => [process.execPath, file],
    extension: "mts",
    // The client's own packages are not installed with the project; its sources are tested in clients/.
    prepare: (code) => code.replace("@commerce-gateway/client", client),
  },
  {
    name: "Python",
    isMissing: !isInstalled("python3", "--version"),
    run: (file) => ["python3", file],
    extension: "py",
  },
  {
    name: "PHP",
    isMissing: !isInstalled("php", "--version"),
    run: (file) => ["php", file],
    extension: "php",
  },
  {
    name: "Ruby",
    isMissing: !isInstalled("ruby", "--version"),
    run: (file) => ["ruby", file],
    extension: "rb",
  },
  {
    name: "Go",
    isMissing: !isInstalled("go", "version"),
    run: (file) => ["go", "run", file],
    extension: "go",
  },
];

describe.each(languages)("in $name", ({ name, isMissing, run: commandOf, extension, prepare }) => {
  const world = useWorld("postgres", { environment: { PORT: "0" } });
  let address = "";
  beforeAll(async () => {
    await world().app.server.listen({ host: "127.0.0.1", port: 0 });
    address = `http://127.0.0.1:${(world().app.server.server.address() as AddressInfo).port}`;
  });

  it.skipIf(isMissing)("runs the examples of all operations with an API key", async () => {
    const all = listOpenApiOperations((await world().get("/openapi.json")).body as OpenApiDocument);
    // A Go program is compiled before each run, so only some operations are tried: reads, changes and searches.
    const tried = all.filter(
      ({ id, credential }) =>
        credential !== "token" &&
        (name !== "Go" || /^(searchPublic|applyPublic|removePublic|createInst)/.test(id)),
    );
    for (const { id } of tried) {
      const [code = ""] = blocksOf(await pageAt(world(), `/docs/operations/${id}`), name);
      const own = join(folder, `${name}-${id}`);
      mkdirSync(own);
      const file = join(own, `main.${extension}`);
      writeFileSync(file, (prepare?.(code) ?? code).replaceAll(publicUrl, address));
      const [program, ...args] = commandOf(file);
      const env = { ...process.env, KEY: world().demo.keys.full, GOCACHE: goCache, HOME: folder };
      const { stdout } = await run(program, args, { env }).catch((error: unknown) => ({
        stdout: String(error),
      }));
      expect([id, stdout]).toEqual([
        id,
        expect.stringMatching(name === "TypeScript" ? /^[{[]/ : /^(HTTP\/1\.1 )?200\b/),
      ]);
    }
  });
});
