/** The OpenAPI document as a service serves it: every address in it is one of this service, also where that stands below a path of its own. */
import { oauthPaths } from "#access/oauth/oauth-terms.ts";

type Part = Readonly<Record<string, unknown>>;

const own: ReadonlySet<string> = new Set(Object.values(oauthPaths));

/** The document itself names no host. */
export function addressed(document: Part, publicUrl: string): Part {
  const complete = (part: unknown, name = ""): unknown => {
    if (typeof part === "string") return isAddress(part, name) ? publicUrl + part : part;
    if (Array.isArray(part)) return part.map((item) => complete(item));
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, complete(value, key)]));
  };
  return { ...(complete(document) as Part), servers: [{ url: publicUrl, description: "This service." }] };
}

const isAddress = (text: string, name: string): boolean =>
  (name === "url" && (text === "/docs" || text.startsWith("/docs/"))) || (name.endsWith("Url") && own.has(text));
