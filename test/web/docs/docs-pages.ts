/** Reads the documentation as a reader: its pages over HTTP, the text of their examples, and the ids in them. */
import type { World } from "#test/support/world.ts";

const entities: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#x27;": "'",
  "&amp;": "&",
};

export const unescaped = (text: string): string =>
  text.replaceAll(/&(?:lt|gt|quot|#39|#x27|amp);/g, (entity) => entities[entity] ?? entity);

export const textOf = (html: string): string => unescaped(html.replaceAll(/<[^>]+>/g, ""));

export async function pageAt(world: World, path: string): Promise<string> {
  const { status, text } = await world.get(path, { accept: "text/html" });
  if (status !== 200) throw new Error(`${path} is answered with ${status}.`);
  return text;
}

/** Returns the code blocks with this label. */
export const blocksOf = (html: string, label: string): string[] =>
  [...html.matchAll(new RegExp(`<pre[^>]* aria-label="${label}"><code>([\\s\\S]*?)</code></pre>`, "g"))].map(
    ([, code = ""]) => textOf(code),
  );

export const idsOf = (html: string): string[] =>
  [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id);

/** Loads every page that the table of contents or the page of events links to, by its path. */
export async function allPages(world: World): Promise<Map<string, string>> {
  const first = await pageAt(world, "/docs");
  const navigation = first.slice(first.indexOf('<nav id="contents"'));
  const events = await pageAt(world, "/docs/events");
  const paths = new Set(
    [
      ...navigation.matchAll(/href="(\/docs[^"#]*)"/g),
      ...events.matchAll(/href="(\/docs\/events\/[^"#]+)"/g),
    ].map(([, path = ""]) => path),
  );
  return new Map(
    await Promise.all([...paths].map(async (path) => [path, await pageAt(world, path)] as const)),
  );
}
