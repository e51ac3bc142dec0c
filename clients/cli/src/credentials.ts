/**
 * Finds the service and the credential for a command. Uses the first of: the command's options, environment
 * variables, the stored login, and the demo on this machine. `login` stores credentials in a file of the
 * user's configuration folder that only the user can read.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { field, parseJson, textOf } from "./json.ts";

/** `session` is the session of a staff member who has signed in with `commerce login`. */
export type CredentialKind = "key" | "token" | "session";

export interface Credential {
  readonly kind: CredentialKind;
  /** The API key, the internal token, or the cookie of the session. */
  readonly value: string;
  /** The origin of the credential, for example an option or a file, as messages show it. */
  readonly source: string;
}

export const credentialsPath = (): string =>
  join(
    process.env["XDG_CONFIG_HOME"] ?? process.env["APPDATA"] ?? join(homedir(), ".config"),
    "commerce-gateway",
    "credentials.json",
  );

interface StoredCredential {
  readonly kind: CredentialKind;
  readonly value: string;
}

interface StoredCredentials {
  /** The service of the last login, which commands use if no URL is given. */
  readonly current: string | null;
  readonly services: Readonly<Record<string, StoredCredential>>;
}

export function readStoredCredentials(): StoredCredentials {
  const stored = readJson(credentialsPath());
  const services = field(stored, "services");
  return {
    current: textOf(stored, "current") ?? null,
    services: Object.fromEntries(
      Object.entries(typeof services === "object" && services !== null ? services : {}).flatMap(
        ([url, entry]: [string, unknown]) => {
          const [kind, value] = [field(entry, "kind"), field(entry, "value")];
          return isKind(kind) && typeof value === "string" ? [[url, { kind, value }] as const] : [];
        },
      ),
    ),
  };
}

/** Stores the credential of a service, or removes it if `credential` is null. A new file replaces the old one. */
export function storeCredential(url: string, credential: StoredCredential | null): void {
  const { services } = readStoredCredentials();
  const { [url]: _previous, ...others } = services;
  const next: StoredCredentials = {
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

export interface GivenTarget {
  readonly url?: string;
  readonly key?: string;
}

/** Returns the URL of the service, and the first credential that was found of an accepted kind. */
export function findCredential(
  given: GivenTarget,
  accepted: readonly CredentialKind[],
): { readonly url: string; readonly credential: Credential | undefined } {
  const stored = readStoredCredentials();
  const demo = readDemo();
  const url = trimUrl(given.url ?? process.env["COMMERCE_URL"] ?? stored.current ?? demo?.url ?? defaultUrl);
  if (!isHttpUrl(url))
    throw new InvalidServiceUrl(
      `${given.url === undefined ? "COMMERCE_URL" : "--url"} must be a URL such as ${defaultUrl}, but is ${url}.`,
    );
  const login = stored.services[url];
  const candidates: readonly Credential[] = [
    ...asGiven(given.key, "--key"),
    ...asGiven(process.env["COMMERCE_API_KEY"], "COMMERCE_API_KEY"),
    ...(login === undefined ? [] : [{ ...login, source: credentialsPath() }]),
    ...(isLoopback(url) ? (demo?.credentials ?? []) : []),
  ];
  return { url, credential: candidates.find(({ kind }) => accepted.includes(kind)) };
}

const defaultUrl = "http://127.0.0.1:4000";

/** The error for an entered service URL that is invalid or does not begin with `http:` or `https:`. */
export class InvalidServiceUrl extends Error {}

const isHttpUrl = (url: string): boolean => /^https?:$/.test(URL.parse(url)?.protocol ?? "");
export const trimUrl = (url: string): string => url.replace(/\/+$/, "");

const asGiven = (value: string | undefined, source: string): Credential[] =>
  value === undefined || value === "" ? [] : [{ kind: kindOf(value), value, source }];

/** Returns the kind of a credential, by the prefix of its secret. */
export const kindOf = (value: string): "key" | "token" => (value.startsWith("cit_") ? "token" : "key");

const isKind = (kind: unknown): kind is CredentialKind =>
  kind === "key" || kind === "token" || kind === "session";

export const isLoopback = (url: string): boolean =>
  /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(URL.parse(url)?.hostname ?? "");

interface Demo {
  readonly url: string;
  readonly credentials: readonly Credential[];
}

/**
 * Reads the API key and the internal token of the demo from the file that `npm start` writes. Returns
 * undefined if the current folder has no demo.
 */
function readDemo(): Demo | undefined {
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

function readJson(path: string): unknown {
  try {
    return parseJson(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
