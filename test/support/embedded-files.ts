/**
 * Starts PGlite with the files of a prepared data folder, in memory. PGlite's own `loadDataDir` unpacks an
 * archive, which takes longer than the rest of its start.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { MemoryFS } from "@electric-sql/pglite";

/** The folders and files of a data folder, each folder before its content. The paths begin with a slash. */
export type EmbeddedFiles = readonly (readonly [path: string, content: Uint8Array | undefined])[];

export function readEmbeddedFiles(folder: string): EmbeddedFiles {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [`/${relative(folder, path)}`, entry.isDirectory() ? undefined : readFileSync(path)] as const;
    })
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** PGlite's data folder. */
const dataFolder = "/pglite/data";

/** A file system in memory that starts with a copy of the given files. */
export class CopiedFilesystem extends MemoryFS {
  readonly #files: EmbeddedFiles;

  constructor(files: EmbeddedFiles) {
    super();
    this.#files = files;
  }

  override initialSyncFs(): Promise<void> {
    if (this.pg === undefined) throw new Error("PGlite initializes its file system before it fills it.");
    const { FS } = this.pg.Module;
    FS.mkdirTree(dataFolder, 0o700);
    for (const [path, content] of this.#files)
      if (content === undefined) FS.mkdir(dataFolder + path, 0o700);
      else FS.writeFile(dataFolder + path, new Uint8Array(content), { canOwn: true });
    return Promise.resolve();
  }
}
