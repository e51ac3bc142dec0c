/**
 * Runs the Dockerfile's steps without Docker in a folder, with this project's packages in place of those that
 * npm would fetch. Supports only the syntax of this file: two stages, the second made of copied files only.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Copy as CopyInstruction, DockerfileParser, type Instruction } from "dockerfile-ast";

export const root = new URL("../../", import.meta.url).pathname;
export const dockerfileText = readFileSync(join(root, "Dockerfile"), "utf8");

export interface Step {
  readonly keyword: string;
  /** The step's arguments, on one line. */
  readonly text: string;
  readonly words: readonly string[];
  /** The stage from which a COPY step copies. */
  readonly from: string | undefined;
}

/** Splits the Dockerfile into stages; each begins with FROM. */
export function readStages(text: string = dockerfileText): Step[][] {
  const stages: Step[][] = [];
  for (const step of DockerfileParser.parse(text).getInstructions().map(toStep)) {
    if (step.keyword === "FROM") stages.push([]);
    stages.at(-1)?.push(step);
  }
  return stages;
}

const toStep = (instruction: Instruction): Step => ({
  keyword: instruction.getKeyword(),
  text: (instruction.getArgumentsContent() ?? "").trim(),
  words: instruction.getArguments().map((word) => word.getValue()),
  from:
    instruction instanceof CopyInstruction ? (instruction.getFromFlag()?.getValue() ?? undefined) : undefined,
});

export const findStep = (stage: readonly Step[], keyword: string): Step | undefined =>
  stage.find((step) => step.keyword === keyword);

/** Returns the command of a step in exec form, which runs without a shell. */
export const commandOf = (step: Step | undefined): string[] =>
  JSON.parse(/\[.*\]$/s.exec(step?.text ?? "")?.[0] ?? "null") as string[];

interface Copy {
  readonly from: "context" | "build";
  readonly sources: readonly string[];
  readonly target: string;
}

export function copiesOf(stage: readonly Step[]): Copy[] {
  return stage
    .filter(({ keyword }) => keyword === "COPY")
    .map(({ words, from }) => {
      const paths = words.map((path) => path.replace(/^\/app\//, ""));
      return {
        from: from === "build" ? "build" : "context",
        sources: paths.slice(0, -1),
        target: paths.at(-1) ?? "",
      };
    });
}

/**
 * Builds the image into a folder: `app` is the image's /app, and `node` its runtime. The caller deletes the
 * folder.
 */
export function buildImage(): string {
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-image-"));
  // The image's user must be able to read it.
  chmodSync(folder, 0o755);
  try {
    fill(folder);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return folder;
}

function fill(folder: string): void {
  const [build = [], final = []] = readStages();
  const places = { context: root, build: join(folder, "build") };
  const app = join(folder, "app");
  for (const place of [places.build, app]) mkdirSync(place);
  for (const step of build) {
    for (const copy of copiesOf([step])) put(copy, places.context, places.build);
    if (step.keyword === "RUN") runStep(step, places.build);
  }
  for (const copy of copiesOf(final)) put(copy, places[copy.from], app);
  link([process.execPath], folder);
}

function put({ sources, target }: Copy, from: string, to: string): void {
  const at = join(to, target);
  mkdirSync(target.endsWith("/") ? at : dirname(at), { recursive: true });
  for (const source of sources) {
    const path = join(from, source);
    // COPY copies a folder's content, and a file into the folder if the target ends with a slash.
    cpSync(path, source.endsWith("/") || !target.endsWith("/") ? at : join(at, source), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
}

function runStep({ text }: Step, cwd: string): void {
  if (text.startsWith("npm ci ")) return linkPackages(cwd);
  const PATH = `${dirname(process.execPath)}:${process.env["PATH"]}`;
  const { status, stderr } = spawnSync("sh", ["-c", text], {
    cwd,
    env: { PATH, HOME: cwd, npm_config_offline: "true" },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`RUN ${text} ended with ${status}: ${stderr}`);
}

/**
 * Links what `npm ci --omit=dev --ignore-scripts` installs, without the package `node`, which is useless
 * without its install script.
 */
function linkPackages(cwd: string): void {
  const known = JSON.parse(readFileSync(join(root, "node_modules/.package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean }>;
  };
  const wanted = Object.entries(known.packages).filter(
    ([path, { dev }]) => dev !== true && !`${path}/`.startsWith("node_modules/node/"),
  );
  const top = wanted.map(([path]) => path).filter((path) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path));
  for (const [scope, paths] of Map.groupBy(top, (path) => dirname(path))) {
    mkdirSync(join(cwd, scope), { recursive: true });
    link(
      paths.map((path) => join(root, path)),
      join(cwd, scope),
    );
  }
  // npm would fetch a package again if its command were missing.
  const commands = join(cwd, "node_modules/.bin");
  execFileSync("cp", ["-a", join(root, "node_modules/.bin"), commands]);
  rmSync(join(commands, "node"));
  // npm's lock file of the installed packages, without which npm would resolve all of them again.
  writeFileSync(
    join(cwd, "node_modules/.package-lock.json"),
    JSON.stringify({ ...known, packages: Object.fromEntries(wanted) }),
  );
}

/** Links files instead of copying them, if both folders are on one disk. */
function link(sources: readonly string[], target: string): void {
  if (spawnSync("cp", ["-al", ...sources, target], { stdio: "ignore" }).status !== 0)
    execFileSync("cp", ["-a", ...sources, target]);
}
