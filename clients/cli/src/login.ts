/**
 * The commands `login`, `logout` and `whoami`. `login` signs a staff member in with the browser, as RFC 8252
 * describes for native apps: the service redirects to a port on this machine with a code, which only this
 * process can redeem, because only it knows the PKCE verifier (RFC 7636). The result is a session of the
 * console, which ends after 12 hours, after one hour without a use, or when the account is disabled.
 */
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline/promises";
import { text as readText } from "node:stream/consumers";
import type { Command } from "commander";
import {
  addSharedOptions,
  allKinds,
  CommandFailed,
  createStopSignal,
  guarded,
  print,
  printError,
  printJson,
  requireTarget,
  type SharedOptions,
} from "./command-context.ts";
import {
  credentialsPath,
  findCredential,
  isLoopback,
  kindOf,
  readStoredCredentials,
  storeCredential,
} from "./credentials.ts";
import { field, textOf } from "./json.ts";
import { graph, request, send, type Target } from "./service.ts";

interface LoginOptions extends SharedOptions {
  readonly browser: boolean;
  readonly keyStdin?: boolean;
}

export function addAccountCommands(program: Command): void {
  addSharedOptions(program.command("login"))
    .description("Signs in with the browser, and stores the login for the other commands.")
    .option("--no-browser", "print the address to open on any machine, and ask for the code that it shows")
    .option("--key-stdin", "store the API key or internal token from standard input instead")
    .action(guarded(signIn));
  addSharedOptions(program.command("logout"))
    .description("Ends the login and removes it from this machine.")
    .action(guarded(logout));
  addSharedOptions(program.command("whoami"))
    .description("Shows the service, the credential and its owner.")
    .action(guarded(whoAmI));
}

async function signIn(options: LoginOptions): Promise<void> {
  const { url } = findCredential(options, []);
  if (!url.startsWith("https://") && !isLoopback(url))
    throw new CommandFailed(
      `A login to ${url} could be read on the network. The URL must begin with https://.`,
    );
  if (options.keyStdin === true) {
    const value = (await readText(process.stdin)).trim();
    return keep({ url, credential: { kind: kindOf(value), value, source: credentialsPath() } }, options);
  }
  const verifier = randomBytes(32).toString("base64url");
  const pending: PendingLogin = {
    url,
    state: randomBytes(16).toString("base64url"),
    challenge: createHash("sha256").update(verifier).digest("base64url"),
  };
  const code = options.browser ? await receiveCode(pending) : await askForCode(pending);
  const answer = await send(url, "/console/command-line/session", {
    method: "POST",
    body: { code, codeVerifier: verifier },
  });
  const cookie = field(field(answer.body, "data"), "cookie");
  if (typeof cookie !== "string")
    throw new CommandFailed(
      textOf(field(answer.body, "error"), "message") ?? `The service answered ${answer.status}.`,
    );
  await keep({ url, credential: { kind: "session", value: cookie, source: credentialsPath() } }, options);
}

/** Checks a credential, stores it, and prints the name of its owner. */
async function keep(target: Target, { json }: SharedOptions): Promise<void> {
  const who = await describe(target);
  const { kind, value } = target.credential;
  storeCredential(target.url, { kind, value });
  if (json === true) return printJson(who);
  print(`Signed in at ${target.url} as ${who.name} (${who.merchant}). Stored in ${credentialsPath()}.`);
}

interface PendingLogin {
  readonly url: string;
  readonly state: string;
  readonly challenge: string;
}

function toLoginUrl({ url, state, challenge }: PendingLogin, redirectUri: string | null): string {
  const query = new URLSearchParams({ state, code_challenge: challenge, code_challenge_method: "S256" });
  if (redirectUri !== null) query.set("redirect_uri", redirectUri);
  return `${url}/console/command-line?${query.toString()}`;
}

const loginMsMax = 600_000;

/** Opens the browser, and waits until the service redirects it to a free port of this machine. */
async function receiveCode(pending: PendingLogin): Promise<string> {
  const received = Promise.withResolvers<string>();
  const server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://127.0.0.1");
    const [code, error] = [searchParams.get("code"), searchParams.get("error")];
    // The state proves that this command started the login: other pages in the browser can send requests to
    // this port too, but do not know the state.
    if (pathname !== "/callback" || searchParams.get("state") !== pending.state) {
      response.writeHead(404).end();
      return;
    }
    const isGranted = code !== null && error === null;
    response
      .writeHead(200, { "content-type": "text/plain; charset=utf-8", connection: "close" })
      .end(isGranted ? "Signed in. You can close this page.\n" : "Not signed in. You can close this page.\n");
    if (isGranted) received.resolve(code);
    else received.reject(new CommandFailed("The sign-in was refused in the browser."));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const url = toLoginUrl(pending, `http://127.0.0.1:${port}/callback`);
  printError(`Sign in with your browser. If it does not open, go to:\n  ${url}`);
  openBrowser(url);
  const stop = createStopSignal();
  const timer = setTimeout(
    () => received.reject(new CommandFailed("Nobody signed in within 10 minutes.")),
    loginMsMax,
  );
  stop.addEventListener("abort", () => received.reject(new CommandFailed("Stopped.")));
  try {
    return await received.promise;
  } finally {
    clearTimeout(timer);
    server.close();
    server.closeAllConnections();
  }
}

/**
 * Opens the default browser. A missing browser is no failure, because the address of the login page is
 * printed as well.
 */
function openBrowser(url: string): void {
  const [program, ...args] =
    process.env["BROWSER"] !== undefined
      ? [process.env["BROWSER"]]
      : process.platform === "darwin"
        ? ["open"]
        : process.platform === "win32"
          ? ["rundll32", "url.dll,FileProtocolHandler"]
          : ["xdg-open"];
  const child = spawn(program ?? "xdg-open", [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}

async function askForCode(pending: PendingLogin): Promise<string> {
  printError(`Open this address in a browser on any machine, and sign in:\n  ${toLoginUrl(pending, null)}`);
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await prompt.question("Code that the page shows: ")).trim();
  } finally {
    prompt.close();
  }
}

async function logout(options: SharedOptions): Promise<void> {
  const { url } = findCredential(options, []);
  const login = readStoredCredentials().services[url];
  if (login === undefined) throw new CommandFailed(`There is no login for ${url}.`);
  if (login.kind === "session") await endSession(url, login.value);
  storeCredential(url, null);
  if (options.json === true) return printJson({ url, signedOut: true });
  print(`Signed out at ${url}.`);
}

/**
 * Ends the session with the request that the sign-out button of the console sends. A session that has already
 * ended needs no sign-out.
 */
async function endSession(url: string, cookie: string): Promise<void> {
  await fetch(`${url}/console/sign-out`, {
    method: "POST",
    headers: { cookie, origin: new URL(url).origin },
    body: new URLSearchParams(),
    redirect: "manual",
  }).catch(() => undefined);
}

interface Owner {
  readonly url: string;
  readonly credential: string;
  readonly source: string;
  readonly name: string;
  readonly role: string | null;
  readonly merchant: string;
  readonly mode: string;
  readonly scopes: readonly string[] | null;
}

export const whoAmIDocument = `query WhoAmI {
  viewer { role merchant { name mode } staff { name email } }
}`;

interface WhoAmIAnswer {
  readonly viewer: {
    readonly role: string;
    readonly merchant: { readonly name: string; readonly mode: string } | null;
    readonly staff: { readonly name: string; readonly email: string } | null;
  };
}

/** Requests the owner of the credential from the service. */
async function describe(target: Target): Promise<Owner> {
  const { url, credential } = target;
  const shown = { url, credential: credential.kind, source: credential.source };
  if (credential.kind === "key") {
    const data = field(await request(target, "/api/v1/open/identity"), "data");
    const [key, merchant] = [field(data, "apiKey"), field(data, "merchant")];
    return {
      ...shown,
      name: textOf(key, "name") ?? "–",
      role: null,
      merchant: textOf(merchant, "name") ?? "–",
      mode: textOf(key, "mode") ?? "–",
      scopes: field(key, "scopes") as readonly string[],
    };
  }
  const { viewer } = await graph<WhoAmIAnswer>(target, whoAmIDocument);
  return {
    ...shown,
    name: viewer.staff === null ? "an internal token" : `${viewer.staff.name} <${viewer.staff.email}>`,
    role: viewer.role,
    merchant: viewer.merchant?.name ?? "the platform",
    mode: viewer.merchant?.mode.toLowerCase() ?? "–",
    scopes: null,
  };
}

async function whoAmI(options: SharedOptions): Promise<void> {
  const owner = await describe(requireTarget(options, allKinds));
  if (options.json === true) return printJson(owner);
  for (const [name, value] of Object.entries(owner))
    if (value !== null)
      print(`${name.padEnd(12)} ${Array.isArray(value) ? value.join(", ") : String(value)}`);
}
