/**
 * The participants of a flow: a person of the first merchant, an app as a client, and a browser that keeps
 * cookies and follows redirects within the service.
 */
import { exportJWK, generateKeyPair } from "jose";
import { createOauthClient } from "#access/oauth/oauth-clients.ts";
import { createStaffAccount, validateStaffFieldsAndHashPassword } from "#access/people/staff.ts";
import type { StaffRole } from "#access/viewer.ts";
import { registerApp } from "#access/installations.ts";
import { runInTransaction } from "#database/transaction.ts";
import type { World } from "#test/support/world.ts";

export const password = "a long enough password";
export const redirectUri = "https://app.example/callback";

let count = 0;

export interface Person {
  readonly staffId: string;
  readonly email: string;
}

export async function createPerson(
  world: World,
  merchant: "first" | "second" = "first",
  role: StaffRole = "admin",
): Promise<Person> {
  count += 1;
  const email = `Person.${count}@shop.example`;
  const { id: merchantId } = world.demo.merchants[merchant];
  const person = await validateStaffFieldsAndHashPassword({ email, name: `Person ${count}`, password });
  const staffId = await runInTransaction(world.database.db, (transaction) =>
    createStaffAccount(
      transaction,
      { merchantId: null, now: world.clock.now() },
      { merchantId, role, ...person },
    ),
  );
  return { staffId, email };
}

export interface ClientMade {
  readonly clientId: string;
  readonly appId: string;
  readonly appName: string;
  /** The private key of a client that signs; null for other clients. */
  readonly privateKey: CryptoKey | null;
}

export interface ClientOptions {
  readonly authMethod?: "none" | "private_key_jwt";
  readonly redirectUris?: readonly string[];
}

export async function createClient(world: World, options: ClientOptions = {}): Promise<ClientMade> {
  const { authMethod = "none", redirectUris = [redirectUri] } = options;
  count += 1;
  const appName = `App <${count}>`;
  const pair = authMethod === "none" ? null : await generateKeyPair("ES256", { extractable: true });
  const jwks =
    pair === null
      ? null
      : { keys: [{ ...(await exportJWK(pair.publicKey)), kid: "one", alg: "ES256", use: "sig" }] };
  const access = { merchantId: null, now: world.clock.now() };
  const made = await runInTransaction(world.database.db, async (transaction) => {
    const appId = await registerApp(transaction, access, { name: appName, publisher: "Apps & Co" });
    return {
      appId,
      clientId: await createOauthClient(transaction, access, { appId, redirectUris, authMethod, jwks }),
    };
  });
  return { ...made, appName, privateKey: pair?.privateKey ?? null };
}

/**
 * Calls the service in process under its public address. A path prefix of that address is removed, as a proxy
 * would do.
 */
export function fetchIn(
  world: World,
): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  const base = new URL(world.app.publicUrl);
  return async (input, init) => {
    const request = new Request(input, init);
    const { host, pathname, search } = new URL(request.url);
    if (host !== base.host) throw new Error(`${request.url} is somewhere else.`);
    const body = await request.text();
    const response = await world.app.server.inject({
      method: request.method as "GET",
      url: pathname.slice(base.pathname === "/" ? 0 : base.pathname.length) + search,
      headers: Object.fromEntries(request.headers),
      ...(body === "" ? {} : { payload: body }),
    });
    const headers = Object.entries(response.headers).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value])
        .filter((part) => part !== undefined)
        .map((part): [string, string] => [name, String(part)]),
    );
    return new Response([101, 204, 205, 304].includes(response.statusCode) ? null : response.body, {
      status: response.statusCode,
      headers,
    });
  };
}

type WebapiFetch = (
  url: string,
  options: { readonly method: string; readonly headers: Record<string, string>; readonly body?: unknown },
) => Promise<Response>;

/** The fetch function with the signature that oauth4webapi expects. */
export function webapiFetch(world: World): WebapiFetch {
  const fetchHere = fetchIn(world);
  return (url, { method, headers, body }) =>
    fetchHere(url, { method, headers, ...(body instanceof URLSearchParams ? { body } : {}) });
}

export interface Shown {
  readonly status: number;
  readonly url: string;
  readonly text: string;
  readonly headers: Headers;
}

export interface Browser {
  /** Opens an address and follows redirects until one leaves the service; then shows that address. */
  open(url: string): Promise<Shown>;
  submit(
    page: Shown,
    fields: Readonly<Record<string, string | readonly string[]>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Shown>;
  readonly cookies: Map<
    string,
    { readonly value: string; readonly path: string; readonly attributes: string }
  >;
}

/** Creates a browser. `always` contains headers for every request. */
export function createBrowser(world: World, always: Readonly<Record<string, string>> = {}): Browser {
  const fetchHere = fetchIn(world);
  const cookies: Browser["cookies"] = new Map();
  const cookieLine = (pathname: string): string =>
    [...cookies]
      .filter(([, { path }]) => pathname.startsWith(path))
      .map(([key, { value }]) => `${key.split(" ")[0]}=${value}`)
      .join("; ");
  /** The cookie's name; for a second cookie with the same name and another path, the path too. */
  const keyOf = (name: string, path: string): string =>
    (cookies.get(name)?.path ?? path) === path ? name : `${name} ${path}`;
  const keep = (line: string): void => {
    const [pair = "", ...attributes] = line.split("; ");
    const name = pair.slice(0, pair.indexOf("="));
    const path = attributes.find((attribute) => attribute.toLowerCase().startsWith("path="))?.slice(5) ?? "/";
    if (line.includes("expires=Thu, 01 Jan 1970")) cookies.delete(keyOf(name, path));
    else
      cookies.set(keyOf(name, path), {
        value: pair.slice(name.length + 1),
        path,
        attributes: attributes.join("; "),
      });
  };
  const go = async (url: string, init: Sent, hops = 0): Promise<Shown> => {
    if (hops > 10) throw new Error("Redirected for ever.");
    if (!url.startsWith(`${world.app.publicUrl}/`))
      return { status: 0, url, text: "", headers: new Headers() };
    const cookie = cookieLine(new URL(url).pathname);
    const response = await fetchHere(url, {
      ...init,
      headers: { accept: "text/html", ...always, ...(cookie === "" ? {} : { cookie }), ...init.headers },
    });
    response.headers.getSetCookie().forEach(keep);
    const location = response.headers.get("location");
    if (location !== null) return go(new URL(location, url).href, { method: "GET" }, hops + 1);
    return { status: response.status, url, text: await response.text(), headers: response.headers };
  };
  return {
    cookies,
    open: (url) => go(url, { method: "GET" }),
    submit: (
      page,
      fields,
      headers = { origin: new URL(world.app.publicUrl).origin, "sec-fetch-site": "same-origin" },
    ) => {
      const body = new URLSearchParams(
        Object.entries(fields).flatMap(([name, value]) =>
          (typeof value === "string" ? [value] : value).map((one): [string, string] => [name, one]),
        ),
      );
      return go(page.url, {
        method: "POST",
        body: body.toString(),
        headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      });
    },
  };
}

interface Sent {
  readonly method: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Signs in and allows the requested scopes, or the given ones. Returns the redirect to the app with its
 * parameters.
 */
export async function signInAndAllow(
  browser: Browser,
  url: string,
  { email, scopes }: { readonly email: string; readonly scopes: readonly string[] },
): Promise<URL> {
  const signIn = await browser.open(url);
  const consent = await browser.submit(signIn, { email, password, action: "sign-in" });
  const answered = await browser.submit(consent, { action: "allow", scope: scopes });
  return new URL(answered.url);
}
