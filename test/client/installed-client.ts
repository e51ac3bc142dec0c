/**
 * Packs the TypeScript client and installs the package in an empty folder, as its users do, with the programs
 * of its README. Without npm's registry: the project's compiler builds the package, and its dependency is
 * packed from the project's node_modules. With `CONTRACT_PROXY=1` (`npm run test:workflows`) the package's
 * own lock file and compiler are used, which needs the registry.
 */
import { execFile } from "node:child_process";
import { cpSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { readmeProgram } from "./readme-program.ts";

const root = new URL("../../", import.meta.url).pathname;
const run = promisify(execFile);
const hasRegistry = process.env["CONTRACT_PROXY"] === "1";

/** The environment of the installed programs: the machine's own Node, which is the oldest available one. */
export function plainEnvironment(inputs: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  const plain = PATH.split(delimiter).filter((folder) => !folder.includes("node_modules"));
  return { PATH: [...plain, PATH].join(delimiter), HOME, ...inputs };
}

/** A folder in which the client is installed, with all programs as JavaScript files. */
export interface InstalledClient {
  readonly folder: string;
  /** Runs a program to its end and returns what it prints. */
  run(file: string, inputs: Readonly<Record<string, string>>): Promise<string>;
}

/**
 * Installs the client in `folder`, and compiles `programs` against it (name of the file, TypeScript).
 * `workspace` is an empty folder in which the package is built.
 */
export async function installClient(
  { folder, workspace }: { readonly folder: string; readonly workspace: string },
  programs: Readonly<Record<string, string>>,
): Promise<InstalledClient> {
  const compiler = await buildClientPackage(workspace);
  const packages = hasRegistry
    ? [workspace]
    : [workspace, ...["openapi-fetch", "openapi-typescript-helpers"].map((name) => modulePath(name))];
  await npm(folder, ["pack", ...packages, "--ignore-scripts", "--pack-destination", folder]);
  const archives = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }');
  const offline = hasRegistry ? [] : ["--offline"];
  await npm(folder, ["install", "--no-save", ...offline, ...archives.map((name) => `./${name}`)]);

  writeFileSync(join(folder, "start.js"), readmeProgram("start"));
  for (const name of ["purchase", "lists", "webhooks"])
    writeFileSync(join(folder, `${name}.ts`), readmeProgram(name));
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, name), text);
  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    strict: true,
    types: ["node"],
    typeRoots: [modulePath("@types")],
    skipLibCheck: hasRegistry,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  await compile(compiler, folder);
  return {
    folder,
    run: async (file, inputs) =>
      (await run("node", [file], { cwd: folder, env: plainEnvironment(inputs) })).stdout,
  };
}

const modulePath = (name: string): string => join(root, "node_modules", name);

const npm = (cwd: string, args: readonly string[]): Promise<unknown> =>
  run("npm", [...args, "--no-audit", "--no-fund", "--prefer-offline"], { cwd });

/** Builds the client in the workspace; returns the path of the compiler. */
export async function buildClientPackage(workspace: string): Promise<string> {
  for (const part of ["src", "scripts", "package.json", "package-lock.json", "tsconfig.json", "README.md"])
    cpSync(join(root, "clients/typescript", part), join(workspace, part), { recursive: true });
  if (hasRegistry) await npm(workspace, ["ci", "--prefix", workspace]);
  else symlinkSync(join(root, "node_modules"), join(workspace, "node_modules"));
  const compiler = join(workspace, "node_modules/typescript/bin/tsc");
  await compile(compiler, workspace);
  return compiler;
}

/** Compiles the project in the folder; throws the compiler's messages. */
async function compile(compiler: string, folder: string): Promise<void> {
  await run(process.execPath, [compiler, "--project", folder]).catch((error: { stdout: string }) => {
    throw new Error(error.stdout);
  });
}
