/**
 * What pages load beside their HTML: scripts and sheets that `npm run build` makes of the `browser` folders
 * of pages, each named by its hash, so that a browser keeps it for ever. The build compresses them too; they
 * are read when the first page asks for them.
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { FastifyPluginAsync } from "fastify";
import { refuseOtherMethods } from "#http/server.ts";
import { fail } from "#foundation/failure.ts";
import { type CompressedBody, sendCompressed } from "./compressed.ts";

/** The entries that vite.config.ts names. */
export type AssetName = "console" | "docs" | "checkout" | "graphiql" | "type-map";

/** Addresses below this service. */
export interface PageAssets {
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
}

interface Chunk {
  readonly name?: string;
  readonly file: string;
  readonly css?: readonly string[];
  readonly isEntry?: boolean;
  /** The chunks that it shares with others, by their keys in the manifest. */
  readonly imports?: readonly string[];
}

const folder = join(import.meta.dirname, "../../../dist/browser");
const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
  ".ttf": "font/ttf",
};

let manifest: Readonly<Record<string, Chunk>> | undefined;

function readManifest(): Readonly<Record<string, Chunk>> {
  try {
    return JSON.parse(readFileSync(join(folder, ".vite/manifest.json"), "utf8")) as Record<string, Chunk>;
  } catch (error) {
    throw new Error("The pages' scripts are not there: `npm run build` makes them.", { cause: error });
  }
}

/** `publicUrl`: where the service stands, which may be below a path. */
export function getPageAssets(name: AssetName, publicUrl: string): PageAssets {
  manifest ??= readManifest();
  const entry = Object.values(manifest).find((chunk) => chunk.isEntry === true && chunk.name === name);
  if (entry === undefined) throw new Error(`vite.config.ts names no entry ${name}.`);
  const base = basePathOf(publicUrl);
  return {
    scripts: [`${base}/${entry.file}`],
    styles: [...new Set(sheetsOf(entry, manifest))].map((file) => `${base}/${file}`),
  };
}

/** What a shared chunk looks like comes before what the entry adds. */
const sheetsOf = (
  { css = [], imports = [] }: Chunk,
  all: Readonly<Record<string, Chunk>>,
): readonly string[] => [
  ...imports.flatMap((key) => (all[key] === undefined ? [] : sheetsOf(all[key], all))),
  ...css,
];

/** The address of a file that the build writes beside the entries: `editor.js` is `/assets/editor-<hash>.js`. */
export function assetFileUrl(name: string, publicUrl: string): string {
  manifest ??= readManifest();
  const [stem, extension] = [name.slice(0, -extname(name).length), extname(name)];
  const found = Object.values(manifest).find(
    ({ file }) =>
      file.startsWith(`assets/${stem}-`) &&
      file.endsWith(extension) &&
      file.length === `assets/${stem}-`.length + 8 + extension.length,
  );
  if (found === undefined) throw new Error(`The build wrote no ${name}: \`npm run build\` does.`);
  return `${basePathOf(publicUrl)}/${found.file}`;
}

/** The path that all addresses of the service begin with; mostly none. */
export const basePathOf = (publicUrl: string): string => new URL(publicUrl).pathname.replace(/\/$/, "");

const kept = new Map<string, Promise<CompressedBody>>();

export const assetsPlugin: FastifyPluginAsync = async (server) => {
  server.get<{ Params: { file: string } }>("/assets/:file", async (request, reply) => {
    const { file } = request.params;
    const type = types[extname(file)];
    if (type === undefined || !/^[\w.-]+$/.test(file)) throw fail("route_not_found");
    const body = await keptFile(file);
    void reply.headers({
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
      "x-content-type-options": "nosniff",
    });
    return sendCompressed(request, reply.type(type), body);
  });
  refuseOtherMethods(server, "/assets/:file", ["GET"]);
};

function keptFile(file: string): Promise<CompressedBody> {
  const found = kept.get(file);
  if (found !== undefined) return found;
  const read = readCompressed(file);
  kept.set(file, read);
  // What is not there may be built yet.
  read.catch(() => kept.delete(file));
  return read;
}

async function readCompressed(file: string): Promise<CompressedBody> {
  const path = join(folder, "assets", file);
  try {
    const [plain, gzip, br] = await Promise.all([
      readFile(path),
      readFile(`${path}.gz`),
      readFile(`${path}.br`),
    ]);
    return { plain, gzip, br };
  } catch {
    throw fail("route_not_found");
  }
}
