/**
 * Builds what runs in browsers: one script and sheet for each page that has one, named by their hash, into
 * dist/browser (`npm run build`).
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";
import { compressBody } from "./src/pages/shared/compressed.ts";
import { graphiqlComponent } from "./src/pages/graphiql/component-plugin.ts";

/** The entry of each page's script, by its name. */
const entries = {
  console: "console/browser/main.tsx",
  docs: "docs/browser/main.ts",
  checkout: "checkout/browser/main.ts",
  graphiql: "graphiql/browser/main.tsx",
  "type-map": "graphiql/browser/type-map/main.tsx",
};

/** Beside each file what it is when compressed, so that nobody waits for it. */
const compressed = (): Plugin => ({
  name: "compressed",
  writeBundle: async ({ dir = "" }, bundle) => {
    const files = Object.keys(bundle).filter((file) => file.startsWith("assets/"));
    await Promise.all(
      files.map(async (file) => {
        const path = join(dir, file);
        const { gzip, br } = await compressBody(await readFile(path));
        await Promise.all([writeFile(`${path}.gz`, gzip), writeFile(`${path}.br`, br)]);
      }),
    );
  },
});

export default defineConfig({
  // What a script asks for stands beside it, wherever the service stands.
  base: "./",
  plugins: [graphiqlComponent(), compressed()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "dist/browser",
    emptyOutDir: true,
    manifest: true,
    modulePreload: false,
    target: "es2022",
    rolldownOptions: {
      input: Object.fromEntries(
        Object.entries(entries).map(([name, path]) => [name, join(import.meta.dirname, "src/pages", path)]),
      ),
    },
  },
});
