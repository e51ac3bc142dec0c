/**
 * Serves GraphiQL and the type map. Both load files of this service only. The build extracts the large parts
 * (the component, its style sheet and the editor's workers) from their npm package (component-plugin.ts);
 * browsers cache them by hash. The pages' own scripts are in src/pages/graphiql/browser.
 */
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import { fail } from "#foundation/failure.ts";
import { refuseOtherMethods } from "#http/server.ts";
import { assetFileUrl, getPageAssets, basePathOf } from "#pages/shared/assets.ts";
import { compressBody, type CompressedBody, sendCompressed } from "#pages/shared/compressed.ts";
import { html, Markup } from "#pages/shared/html.ts";
import { pageHeaders, renderPage } from "#pages/shared/page.ts";
import type { GraphiqlComponentFile } from "./component-plugin.ts";
import { exampleGroups, initialExamples } from "./examples.ts";

/**
 * GraphiQL's Content-Security-Policy, as strict as the editor allows. The editor (Monaco) writes `style`
 * attributes and <style> elements without a nonce, and its style sheet draws error marks as `data:` pictures.
 * Scripts, workers and requests are limited to this service.
 */
export const graphiqlPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src data:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/**
 * The message for GET requests to the GraphQL endpoint. GET is refused because clients such as EventSource
 * would have to put the token into the URL.
 */
const postOnlyMessage =
  "This address accepts only POST. Subscriptions need POST too, with `Accept: text/event-stream`.";

/** Serves GraphiQL at `/graphql` for requests that accept HTML, and the type map at `/graphql/map`. */
export const graphiqlPlugin: FastifyPluginAsync<{ readonly publicUrl: string }> = async (
  server,
  { publicUrl },
) => {
  mountTypeMap(server, publicUrl);
  refuseOtherMethods(server, "/graphql/map", ["GET"]);
  let page: Promise<CompressedBody> | undefined;
  server.get("/graphql", async (request, reply) => {
    if (!(request.headers.accept ?? "").includes("text/html"))
      throw fail("method_not_allowed", { message: postOnlyMessage, headers: { allow: "POST" } });
    page ??= compressBody(Buffer.from(renderGraphiql(publicUrl)));
    void reply.headers({
      "content-security-policy": graphiqlPolicy,
      "cache-control": "no-cache",
      vary: "Accept, Accept-Encoding",
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
    return sendCompressed(request, reply.type("text/html; charset=utf-8"), await page);
  });
};

function renderGraphiql(publicUrl: string): string {
  const { scripts, styles } = getPageAssets("graphiql", publicUrl);
  const base = basePathOf(publicUrl);
  const addressOf = (file: GraphiqlComponentFile): string => assetFileUrl(file, publicUrl);
  const data = {
    endpoint: `${base}/graphql`,
    component: addressOf("graphiql-component.js"),
    workers: {
      editorWorkerService: addressOf("graphiql-worker-editor.js"),
      json: addressOf("graphiql-worker-json.js"),
      graphql: addressOf("graphiql-worker-graphql.js"),
    },
    groups: exampleGroups,
    opened: initialExamples,
  };
  return `<!doctype html>${
    html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>GraphiQL – Commerce Gateway</title>
        <link rel="icon" href="data:," />
        <link rel="modulepreload" href="${data.component}" />
        ${[addressOf("graphiql-component.css"), ...styles].map(
          (href) => html`<link rel="stylesheet" href="${href}" />`,
        )}
        ${scripts.map((src) => html`<script type="module" src="${src}"></script>`)}
      </head>
      <body>
        <header class="bar">
          <h1 class="name">Commerce Gateway</h1>
          <div id="tools"></div>
          <nav aria-label="Pages">
            <a href="${base}/graphql/map">Type map</a>
            <a href="${base}/docs">API reference</a>
          </nav>
        </header>
        <main id="editor" aria-label="GraphiQL">
          <p class="waiting">GraphiQL is loading. It needs JavaScript.</p>
        </main>
        <footer id="foot"></footer>
        ${dataBlock(data)}
      </body>
    </html>`.text
  }`;
}

/** Serves the frame of the type map at /graphql/map. The page's script draws the schema once it has a token. */
function mountTypeMap(server: FastifyInstance, publicUrl: string): void {
  server.get("/graphql/map", (_request, reply) => {
    const asset = getPageAssets("type-map", publicUrl);
    const base = basePathOf(publicUrl);
    const body = html`<header class="bar">
        <h1 class="name">Commerce Gateway · Type map</h1>
        <div id="tools"></div>
        <nav aria-label="Pages">
          <a href="${base}/graphql">GraphiQL</a>
          <a href="${base}/docs">API reference</a>
        </nav>
      </header>
      <main id="app">
        <p>
          The type map needs JavaScript. Without it, use GraphiQL’s documentation or
          <a href="${base}/openapi.json">the REST document</a>, which describe the same API.
        </p>
      </main>
      ${dataBlock({ endpoint: `${base}/graphql` })}`;
    return reply
      .headers(pageHeaders({ asset }))
      .send(renderPage({ title: "Type map – Commerce Gateway", body, isWide: true, asset }));
  });
}

/**
 * Writes data for the page's script as JSON that browsers do not run. Escapes `<`, so that no text can end
 * the element.
 */
function dataBlock(data: object): Markup {
  const json = JSON.stringify(data).replaceAll("<", String.raw`\u003c`);
  return new Markup(`<script type="application/json" id="page-data">${json}</script>`);
}
