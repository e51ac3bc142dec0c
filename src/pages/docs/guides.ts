/** Renders the Markdown guides of docs/guides as pages. Their examples contain the URL of this service. */
import { readFileSync } from "node:fs";
import { html, PreEscapedHtml } from "#pages/shared/html.ts";
import { type MarkdownHeading, renderMarkdown } from "./markdown.ts";

export const guideNames = [
  "getting-started",
  "command-line",
  "authentication",
  "idempotency",
  "errors-and-retries",
  "pagination-and-search",
  "carts-and-checkout",
  "webhooks",
  "oauth",
  "agents",
  "versioning",
  "graphql",
  "exports",
  "taxes",
  "live-payments",
  "payment-providers",
] as const;
type GuideName = (typeof guideNames)[number];

export interface DocsGuide {
  readonly name: GuideName;
  readonly title: string;
  /** A summary of the guide: its first paragraph. */
  readonly summary: string;
  readonly text: string;
}

const folder = new URL("../../../docs/guides/", import.meta.url);
/**
 * The base URL in the Markdown files of the guides. The pages replace it by the URL of the service that shows
 * them.
 */
const writtenBase = "http://127.0.0.1:4000";

export function readDocsGuides(): DocsGuide[] {
  return guideNames.map((name) => {
    const text = withPrograms(readFileSync(new URL(`${name}.md`, folder), "utf8"));
    const [, title = "", summary = ""] = /^# (.+)\n\n(.+)\n/.exec(text) ?? [];
    if (title === "" || summary === "")
      throw new Error(`docs/guides/${name}.md must begin with a title (#) and a paragraph.`);
    return { name, title, summary, text };
  });
}

const fences: Readonly<Record<string, string>> = {
  mjs: "js",
  py: "python",
  rb: "ruby",
  php: "php",
  go: "go",
};

/** Replaces each paragraph that consists only of a link to a program file by the text of this program. */
function withPrograms(text: string): string {
  return text.replaceAll(
    /^\[[^\]]+\]\((verify\/[\w.-]+\.(\w+))\)$/gm,
    (_whole, path: string, extension: string) => {
      const program = readFileSync(new URL(path, folder), "utf8").trimEnd();
      return `\`\`\`${fences[extension] ?? "text"}\n${program}\n\`\`\``;
    },
  );
}

/** Renders the page that shows CHANGELOG.md. */
export const renderChangelogPageContent = (place: GuidePlace): PreEscapedHtml =>
  html`<article class="guide">
    ${renderMarkdown(readFileSync(new URL("../../CHANGELOG.md", folder), "utf8"), (href) => addressOf(href, place.home)).body}
  </article>`;

interface GuidePlace {
  readonly publicUrl: string;
  readonly home: string;
}

export function renderGuidePageContent({ text }: DocsGuide, { publicUrl, home }: GuidePlace): PreEscapedHtml {
  const { body, headings } = renderMarkdown(text.replaceAll(writtenBase, publicUrl), (href) =>
    addressOf(href, home),
  );
  // The table of contents of a guide is inserted after its first paragraph.
  const end = body.text.indexOf("</p>") + "</p>".length;
  const [lead, rest] = [
    new PreEscapedHtml(body.text.slice(0, end)),
    new PreEscapedHtml(body.text.slice(end)),
  ];
  return html`<article class="guide">${lead} ${tableOfContents(headings)} ${rest}</article>`;
}

function tableOfContents(headings: readonly MarkdownHeading[]): PreEscapedHtml | undefined {
  const shown = headings.filter(({ level }) => level === 2);
  return shown.length < 3
    ? undefined
    : html`<ul class="toc">
        ${shown.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}
      </ul>`;
}

const schemaFolder = "../../schema/";

/**
 * Converts a link between two Markdown files of the repository to a link between two pages of the
 * documentation.
 */
function addressOf(href: string, home: string): string {
  const [, path = "", fragment = ""] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
  if (/^[\w-]+\.md$/.test(path)) return `${home}/guides/${path.slice(0, -".md".length)}${fragment}`;
  if (path === "../errors.md") return `${home}/errors${fragment}`;
  if (path === `${schemaFolder}events`) return `${home}/events${fragment}`;
  if (path === `${schemaFolder}openapi.json`) return `${home.slice(0, -"/docs".length)}/openapi.json`;
  const [, operation] = /\/schema\/operations\/\w+\/(\w+)\.graphql$/.exec(path) ?? [];
  return operation === undefined ? href : `${home}/operations/${operation}${fragment}`;
}
