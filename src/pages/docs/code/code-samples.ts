/**
 * Renders the example of an operation in all languages. Without a script, the page shows the curl example,
 * and the reader can open the others. The page's script turns all examples into tabs and remembers the chosen
 * language.
 */
import type { OpenApiDocumentOperation } from "#pages/docs/api-document.ts";
import type { RequestExampleValues } from "#pages/docs/examples.ts";
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import { renderCodeBlock } from "./code-block.ts";
import { formatCurlSample } from "./curl.ts";
import { createExampleHttpRequest } from "./example-request.ts";
import { formatGoSample } from "./go.ts";
import { formatJavaScriptSample } from "./javascript.ts";
import { formatPhpSample } from "./php.ts";
import { formatPythonSample } from "./python.ts";
import { formatRubySample } from "./ruby.ts";
import { type TypeScriptClientCall, formatTypeScriptSample } from "./typescript.ts";

export interface CodeSample {
  readonly language: string;
  readonly code: string;
}

export function createCodeSamples(
  operation: OpenApiDocumentOperation,
  example: RequestExampleValues,
  publicUrl: string,
): CodeSample[] {
  const request = createExampleHttpRequest(operation, example, publicUrl);
  return [
    { language: "curl", code: formatCurlSample(request) },
    { language: "JavaScript", code: formatJavaScriptSample(request) },
    // An operation that needs access tokens with DPoP proofs has no TypeScript example, because the
    // TypeScript client supports only API keys.
    ...(operation.credential === "token"
      ? []
      : [{ language: "TypeScript", code: formatTypeScriptSample(request, clientCall(operation, example)) }]),
    { language: "Python", code: formatPythonSample(request) },
    { language: "PHP", code: formatPhpSample(request) },
    { language: "Go", code: formatGoSample(request) },
    { language: "Ruby", code: formatRubySample(request) },
  ];
}

function clientCall(
  { path, parameters }: OpenApiDocumentOperation,
  example: RequestExampleValues,
): TypeScriptClientCall {
  const given = parameters.flatMap(({ name, in: place, schema }) => {
    const value = example.parameters[name];
    return value === undefined ? [] : [{ name, place, value, isInteger: schema.type === "integer" }];
  });
  const inPath = given.filter(({ place }) => place === "path");
  const inQuery = given.filter(({ place }) => place === "query");
  return {
    path,
    pathParameters: Object.fromEntries(inPath.map(({ name, value }) => [name, value])),
    queryParameters: Object.fromEntries(
      inQuery.map(({ name, value, isInteger }) => [name, isInteger ? Number(value) : value]),
    ),
  };
}

export const renderCodeSamples = ([first, ...others]: readonly CodeSample[]): PreEscapedHtml =>
  html`<div class="samples">
    ${
      first === undefined
        ? undefined
        : html`<div data-language="${first.language}">${renderCodeBlock(first.code, first.language)}</div>`
    }
    ${others.map(
      ({ language, code }) =>
        html`<details data-language="${language}">
          <summary>${language}</summary>
          ${renderCodeBlock(code, language)}
        </details>`,
    )}
  </div>`;
