/**
 * Finds the service and the credential of a command: the options, the environment, the login, and at last the
 * demo on this machine. `login` stores credentials in a file of the user's configuration folder that only the
 * user can read.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { field, parseJson, textOf } from "./json.js";
export const credentialsPath = () =>
  join(
    process.env["XDG_CONFIG_HOME"] ?? process.env["APPDATA"] ?? join(homedir(), ".config"),
    "commerce-gateway",
    "credentials.json",
  );
export function readStoredCredentials() {
  const stored = readJson(credentialsPath());
  const services = field(stored, "services");
  return {
    current: textOf(stored, "current") ?? null,
    services: Object.fromEntries(
      Object.entries(typeof services === "object" && services !== null ? services : {}).flatMap(
        ([url, entry]) => {
          const [kind, value] = [field(entry, "kind"), field(entry, "value")];
          return isKind(kind) && typeof value === "string" ? [[url, { kind, value }]] : [];
        },
      ),
    ),
  };
}
/** Stores or removes the credential of a service. The file is replaced as a whole. */
export function storeCredential(url, credential) {
  const { services } = readStoredCredentials();
  const { [url]: _previous, ...others } = services;
  const next = {
    current: credential === null ? null : url,
    services: credential === null ? others : { ...others, [url]: credential },
  };
  const path = credentialsPath();
  mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  renameSync(draft, path);
}
/** Returns the URL of the service, and the first credential of an accepted kind. */
export function findCredential(given, accepted) {
  const stored = readStoredCredentials();
  const demo = readDemo();
  const url = trimUrl(given.url ?? process.env["COMMERCE_URL"] ?? stored.current ?? demo?.url ?? defaultUrl);
  const login = stored.services[url];
  const candidates = [
    ...asGiven(given.key, "--key"),
    ...asGiven(process.env["COMMERCE_API_KEY"], "COMMERCE_API_KEY"),
    ...(login === undefined ? [] : [{ ...login, source: credentialsPath() }]),
    ...(isLoopback(url) ? (demo?.credentials ?? []) : []),
  ];
  return { url, credential: candidates.find(({ kind }) => accepted.includes(kind)) };
}
const defaultUrl = "http://127.0.0.1:4000";
export const trimUrl = (url) => url.replace(/\/+$/, "");
const asGiven = (value, source) =>
  value === undefined || value === "" ? [] : [{ kind: kindOf(value), value, source }];
/** Returns the kind of a secret by its prefix. */
export const kindOf = (value) => (value.startsWith("cit_") ? "token" : "key");
const isKind = (kind) => kind === "key" || kind === "token" || kind === "session";
export const isLoopback = (url) =>
  /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(URL.parse(url)?.hostname ?? "");
/** Reads the key and the token of the demo, which `npm start` writes; undefined if there is no demo here. */
function readDemo() {
  const path = join(process.env["DATA_DIR"] ?? ".data", "demo.json");
  const demo = readJson(path);
  const key = textOf(field(demo, "keys"), "full");
  const token = textOf(field(demo, "tokens"), "admin");
  const url = textOf(demo, "baseUrl");
  if (key === undefined || token === undefined || url === undefined) return undefined;
  return {
    url,
    credentials: [
      { kind: "key", value: key, source: path },
      { kind: "token", value: token, source: path },
    ],
  };
}
function readJson(path) {
  try {
    return parseJson(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
