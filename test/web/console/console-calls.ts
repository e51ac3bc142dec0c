/** Requests of a browser to the console: the sign-in form, and the script's GraphQL calls. */
import { password } from "#test/oauth/people.ts";
import type { Answer, World } from "#test/support/world.ts";

/** The cookie's name for the service at the tests' public address. */
export const cookieName = "__Host-console-048a0d93";

/** Headers that a browser sends with a form or request of the page's own origin. */
export const fromHere = (world: World): Record<string, string> => ({
  origin: new URL(world.app.publicUrl).origin,
  "sec-fetch-site": "same-origin",
});

interface Typed {
  readonly email: string;
  readonly password?: string;
  readonly next?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function submitSignIn(world: World, { headers = fromHere(world), ...fields }: Typed): Promise<Answer> {
  const body = new URLSearchParams({ password, ...fields }).toString();
  return world.send({
    method: "POST",
    url: "/console/sign-in",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body,
  });
}

export const submitSignOut = (
  world: World,
  cookie: string,
  headers: Readonly<Record<string, string>> = fromHere(world),
): Promise<Answer> =>
  world.send({
    method: "POST",
    url: "/console/sign-out",
    headers: { "content-type": "application/x-www-form-urlencoded", cookie, ...headers },
    body: "",
  });

/** Returns the cookie's name and value as the browser sends them. */
export const cookieOf = ({ headers }: Answer): string => headers["set-cookie"]?.split(";")[0] ?? "";

/** Signs in and returns the headers of the person's later requests. */
export async function signInAs(world: World, email: string): Promise<string> {
  const answer = await submitSignIn(world, { email });
  if (answer.status !== 303) throw new Error(`Nobody is signed in: ${answer.text}`);
  return cookieOf(answer);
}

export const scriptHeaders = (world: World): Record<string, string> => ({
  ...fromHere(world),
  "x-commerce-console": "1",
});

export function askAs(
  world: World,
  cookie: string,
  query: string,
  headers: Readonly<Record<string, string>> = scriptHeaders(world),
): Promise<Answer> {
  return world.send({ method: "POST", url: "/graphql", headers: { cookie, ...headers }, body: { query } });
}
