/**
 * Renders code blocks with syntax highlighting on the server, so that the page needs no script for the
 * highlighting.
 */
import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import go from "highlight.js/lib/languages/go";
import graphql from "highlight.js/lib/languages/graphql";
import http from "highlight.js/lib/languages/http";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import typescript from "highlight.js/lib/languages/typescript";
import { html, PreEscapedHtml } from "#pages/shared/html.ts";

const languages = { bash, go, graphql, http, javascript, json, php, python, ruby, typescript };
for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);

/** The language of the syntax highlighting for each label of a code block. */
const syntaxOf: Readonly<Record<string, keyof typeof languages>> = {
  curl: "bash",
  Shell: "bash",
  JavaScript: "javascript",
  TypeScript: "typescript",
  Python: "python",
  Ruby: "ruby",
  PHP: "php",
  Go: "go",
  JSON: "json",
  GraphQL: "graphql",
  HTTP: "http",
  "Example response": "json",
  "Example body": "json",
};

/**
 * Renders a code block. The block can get the keyboard focus, so that long lines can be scrolled with the
 * keyboard.
 */
export function renderCodeBlock(code: string, label: string): PreEscapedHtml {
  const language = syntaxOf[label];
  const shown =
    language === undefined
      ? html`${code}`
      : new PreEscapedHtml(highlighter.highlight(code, { language }).value);
  return new PreEscapedHtml(
    html`<pre tabindex="0" role="region" aria-label="${label}"><code>${shown}</code></pre>`.text.trim(),
  );
}
