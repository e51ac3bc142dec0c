/**
 * Serves the scripts and style sheets of the pages. `npm run build` makes them from the `browser` folders and
 * compresses them. Each file name contains a hash, so browsers may cache the file forever. The service reads
 * a file from disk at the first request for it.
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { FastifyPluginAsync } from "fastify";
import { createFailure } from "#foundation/failure.ts";
import { type ResponseBodyInAllEncodings, sendCompressedBody } from "./compressed.ts";

/** The names of the pages' scripts, as vite.config.ts lists them. */
export type PageScriptName = "console" | "docs" | "checkout" | "landing" | "graphiql" | "type-map";

/** The URL paths of the scripts and style sheets that one page loads. */
export interface PageScriptAndStylePaths {
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
}

interface Chunk {
  readonly name?: string;
  readonly file: string;
  readonly css?: readonly string[];
  readonly isEntry?: boolean;
  /** The shared files (chunks) that the built file imports, as keys of the build's manifest. */
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
    throw new Error("dist/browser has no manifest. Run `npm run build` to build the pages.", {
      cause: error,
    });
  }
}

/**
 * Returns the URL paths of a page's scripts and style sheets. `publicUrl` is the service's public address,
 * which may contain a path.
 */
export function getPageScriptAndStylePaths(name: PageScriptName, publicUrl: string): PageScriptAndStylePaths {
  manifest ??= readManifest();
  const entry = Object.values(manifest).find((chunk) => chunk.isEntry === true && chunk.name === name);
  if (entry === undefined)
    throw new Error(`dist/browser has no entry "${name}". vite.config.ts must name the entry.`);
  const base = getBasePathOfPublicUrl(publicUrl);
  return {
    scripts: [`${base}/${entry.file}`],
    styles: [...new Set(sheetsOf(entry, manifest))].map((file) => `${base}/${file}`),
  };
}

/**
 * Lists the style sheets of a page's script. The style sheets of shared files come first, so that the page's
 * own style sheet can override them.
 */
const sheetsOf = (
  { css = [], imports = [] }: Chunk,
  all: Readonly<Record<string, Chunk>>,
): readonly string[] => [
  ...imports.flatMap((key) => (all[key] === undefined ? [] : sheetsOf(all[key], all))),
  ...css,
];

/**
 * Returns the URL path of a built file that is not the script of a page, for example
 * `/assets/editor-<hash>.js` for `editor.js`.
 */
export function getAssetFileUrl(name: string, publicUrl: string): string {
  manifest ??= readManifest();
  const [stem, extension] = [name.slice(0, -extname(name).length), extname(name)];
  const found = Object.values(manifest).find(
    ({ file }) =>
      file.startsWith(`assets/${stem}-`) &&
      file.endsWith(extension) &&
      file.length === `assets/${stem}-`.length + 8 + extension.length,
  );
  if (found === undefined)
    throw new Error(`dist/browser has no file ${name}. Run \`npm run build\` to build the pages.`);
  return `${getBasePathOfPublicUrl(publicUrl)}/${found.file}`;
}

/** Returns the path of the public URL, without a slash at the end; empty if the service has no base path. */
export const getBasePathOfPublicUrl = (publicUrl: string): string =>
  new URL(publicUrl).pathname.replace(/\/$/, "");

const kept = new Map<string, Promise<ResponseBodyInAllEncodings>>();

export const assetsPlugin: FastifyPluginAsync = async (server) => {
  server.get<{ Params: { file: string } }>("/assets/:file", async (request, reply) => {
    const { file } = request.params;
    const type = types[extname(file)];
    if (type === undefined || !/^[\w.-]+$/.test(file)) throw createFailure("route_not_found");
    const body = await keptFile(file);
    void reply.headers({
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
      "x-content-type-options": "nosniff",
    });
    return sendCompressedBody(request, reply.type(type), body);
  });
};

function keptFile(file: string): Promise<ResponseBodyInAllEncodings> {
  const found = kept.get(file);
  if (found !== undefined) return found;
  const read = readCompressed(file);
  kept.set(file, read);
  // A missing file is not cached, because the build may create it later.
  read.catch(() => kept.delete(file));
  return read;
}

async function readCompressed(file: string): Promise<ResponseBodyInAllEncodings> {
  const path = join(folder, "assets", file);
  try {
    const [plain, gzip, br] = await Promise.all([
      readFile(path),
      readFile(`${path}.gz`),
      readFile(`${path}.br`),
    ]);
    return { plain, gzip, br };
  } catch {
    throw createFailure("route_not_found");
  }
}
