/**
 * A minimal browser with which a staff member authorizes an app. Stores cookies, follows redirects, signs in,
 * and grants the scopes that the app requests.
 */
import { randomBytes } from "node:crypto";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import type { SendRequest } from "./shop.ts";

export interface AppBrowser {
  /** Authorizes the app and returns the authorization code. */
  authorize(request: CodeRequest): Promise<string>;
}

export interface CodeRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  /** The PKCE challenge of the method S256. */
  readonly challenge: string;
}

export interface AppBrowserParts {
  readonly ask: SendRequest;
  readonly publicUrl: string;
  readonly staff: DemoJsonFileContent["staff"];
}

interface Page {
  readonly url: string;
  readonly text: string;
}

const requestedScopes = ["catalog:read", "checkout:quote"] as const;
const hopsMax = 10;

export function createAppBrowser({ ask, publicUrl, staff }: AppBrowserParts): AppBrowser {
  const cookies = new Map<string, { readonly value: string; readonly path: string }>();

  const openPage = async (url: string, form?: string, hops = 0): Promise<Page> => {
    if (hops > hopsMax) throw new Error("There were too many redirects.");
    if (!url.startsWith(`${publicUrl}/`)) return { url, text: "" };
    const { pathname, search } = new URL(url);
    const posted: Record<string, string> =
      form === undefined
        ? {}
        : {
            "content-type": "application/x-www-form-urlencoded",
            origin: new URL(publicUrl).origin,
            "sec-fetch-site": "same-origin",
          };
    const cookie = cookieLine(cookies, pathname);
    const headers = { accept: "text/html", ...(cookie === "" ? {} : { cookie }), ...posted };
    const answer = await ask({
      method: form === undefined ? "GET" : "POST",
      url: pathname + search,
      headers,
      body: form,
    });
    // Node returns several Set-Cookie lines as a list.
    const lines: readonly string[] = [answer.headers["set-cookie"] ?? []].flat();
    for (const line of lines) storeCookie(cookies, line);
    const { location } = answer.headers;
    return location === undefined
      ? { url, text: answer.text }
      : openPage(new URL(location, url).href, undefined, hops + 1);
  };

  const submit = (page: Page, fields: readonly (readonly [string, string])[]): Promise<Page> =>
    openPage(
      page.url,
      new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])).toString(),
    );

  return {
    authorize: async ({ clientId, redirectUri, challenge }) => {
      const state = randomBytes(16).toString("base64url");
      const parameters = {
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: "code",
        scope: requestedScopes.join(" "),
        code_challenge: challenge,
        code_challenge_method: "S256",
        state,
      };
      const first = await openPage(
        `${publicUrl}/oauth/authorize?${new URLSearchParams(parameters).toString()}`,
      );
      const isSignIn = first.text.includes('name="password"');
      const { email, password } = staff;
      const consent = isSignIn
        ? await submit(first, Object.entries({ email, password, action: "sign-in" }))
        : first;
      const end = await submit(consent, [
        ["action", "allow"],
        ...requestedScopes.map((scope) => ["scope", scope] as const),
      ]);
      const answered = new URL(end.url).searchParams;
      const code = answered.get("code");
      if (code === null || answered.get("state") !== state)
        throw new Error(`The app was not authorized: ${end.url} ${end.text.slice(0, 300)}`);
      return code;
    },
  };
}

type Cookies = Map<string, { readonly value: string; readonly path: string }>;

const cookieLine = (cookies: Cookies, pathname: string): string =>
  [...cookies]
    .filter(([, { path }]) => pathname.startsWith(path))
    .map(([name, { value }]) => `${name}=${value}`)
    .join("; ");

function storeCookie(cookies: Cookies, line: string): void {
  const [pair = "", ...attributes] = line.split("; ");
  const name = pair.slice(0, pair.indexOf("="));
  const path =
    attributes.find((attribute) => attribute.toLowerCase().startsWith("path="))?.slice("path=".length) ?? "/";
  if (line.includes("expires=Thu, 01 Jan 1970")) cookies.delete(name);
  else cookies.set(name, { value: pair.slice(name.length + 1), path });
}
