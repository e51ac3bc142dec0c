/**
 * Renders the project's Markdown as HTML. Headings get anchors, links to other documents become links to
 * their pages, and HTML tags in the text are shown as text.
 */
import { Marked, type Tokens } from "marked";
import { html, PreEscapedHtml } from "#pages/shared/html.ts";
import { renderCodeBlock } from "./code/code-block.ts";

export interface MarkdownHeading {
  readonly id: string;
  readonly level: number;
  readonly text: string;
}

export interface RenderedMarkdown {
  readonly body: PreEscapedHtml;
  readonly headings: readonly MarkdownHeading[];
}

/** A function that converts the target of a Markdown link to the target on the page. */
type LeadTo = (href: string) => string;

export function renderMarkdown(text: string, leadTo: LeadTo): RenderedMarkdown {
  const headings: MarkdownHeading[] = [];
  const marked = new Marked({ async: false, gfm: true });
  marked.use({
    renderer: {
      html: ({ text: raw }) => html`${raw}`.text,
      heading({ tokens, depth }) {
        const inner = this.parser.parseInline(tokens);
        const plain = plainText(tokens);
        const id = getHeadingAnchor(plain);
        headings.push({ id, level: depth, text: plain });
        return depth === 1
          ? `<h1>${inner}</h1>\n`
          : `<h${depth} id="${id}"><a class="anchor" href="#${id}">${inner}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        return html`<a href="${leadTo(href)}">${new PreEscapedHtml(this.parser.parseInline(tokens))}</a>`
          .text;
      },
      code: ({ text: code, lang = "" }) =>
        renderCodeBlock(code, languages[lang.split(" ")[0] ?? ""] ?? "Code").text,
      table(token) {
        const content = ({ tokens }: Tokens.TableCell): string => this.parser.parseInline(tokens);
        const titles = token.header.map((cell) => `<th scope="col">${content(cell)}</th>`).join("");
        const rows = token.rows.map(
          (cells) => `<tr>${cells.map((cell) => `<td>${content(cell)}</td>`).join("")}</tr>`,
        );
        const table = `<table><thead><tr>${titles}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
        return `<div class="scroll" tabindex="0" role="region" aria-label="Table">${table}</div>\n`;
      },
    },
  });
  return { body: new PreEscapedHtml(marked.parse(text) as string), headings };
}

const languages: Readonly<Record<string, string>> = {
  sh: "Shell",
  js: "JavaScript",
  ts: "TypeScript",
  json: "JSON",
  graphql: "GraphQL",
  python: "Python",
  ruby: "Ruby",
  php: "PHP",
  go: "Go",
  http: "HTTP",
  text: "Text",
};

const plain = new Marked({ async: false, gfm: true });
plain.use({ renderer: { html: ({ text }) => html`${text}`.text } });

/** Renders a short Markdown text with code and emphasis, but without paragraphs and other blocks. */
export const renderInlineMarkdown = (text: string): PreEscapedHtml =>
  new PreEscapedHtml(plain.parseInline(text) as string);

const plainText = (tokens: readonly { readonly raw: string }[]): string =>
  tokens
    .map(({ raw }) => raw)
    .join("")
    .replaceAll(/[`*]/g, "");

export const getHeadingAnchor = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\w]+/g, "-")
    .replaceAll(/^-|-$/g, "");
