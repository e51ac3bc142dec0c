/**
 * Builds the scripts and style sheets of the pages into dist/browser (`npm run build`). File names contain a
 * hash of the content.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";
import { compressBodyInAllEncodings } from "./src/pages/shared/compressed.ts";
import { graphiqlComponentVitePlugin } from "./src/pages/graphiql/component-plugin.ts";

/** The entry of each page's script, by its name. */
const entries = {
  console: "console/browser/main.tsx",
  docs: "docs/browser/main.ts",
  checkout: "checkout/browser/main.ts",
  landing: "landing/browser/main.ts",
  graphiql: "graphiql/browser/main.tsx",
  "type-map": "graphiql/browser/type-map/main.tsx",
};

/** Writes compressed versions beside each file, so that the service does not compress per request. */
const compressed = (): Plugin => ({
  name: "compressed",
  writeBundle: async ({ dir = "" }, bundle) => {
    const files = Object.keys(bundle).filter((file) => file.startsWith("assets/"));
    await Promise.all(
      files.map(async (file) => {
        const path = join(dir, file);
        const { gzip, br } = await compressBodyInAllEncodings(await readFile(path));
        await Promise.all([writeFile(`${path}.gz`, gzip), writeFile(`${path}.br`, br)]);
      }),
    );
  },
});

export default defineConfig({
  // Scripts load other files relative to themselves, so that the service can run below any base path.
  base: "./",
  plugins: [graphiqlComponentVitePlugin(), compressed()],
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
