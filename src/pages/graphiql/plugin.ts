/**
 * GraphiQL for people: a small page that loads nothing from elsewhere. What is large – the component, its
 * sheet, the editor's workers – the build takes out of its package (component-plugin.ts) and browsers keep by
 * hash; what is ours runs in src/pages/graphiql/browser.
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
 * As strict as the editor lets it be. Monaco writes its lines with `style` attributes and its theme into
 * <style> elements, both without a nonce, and draws the squiggles below faults as pictures in its sheet
 * (`data:`). Scripts, workers and requests are this service's own files alone.
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

/** EventSource only knows GET, and would have the token in the address. */
const askedByPost =
  "This address takes POST. Subscriptions are asked for by POST as well, with `Accept: text/event-stream`.";

/** GraphiQL at `/graphql`, for requests that accept HTML, and the map of the graph's types at `/graphql/map`. */
export const graphiqlPlugin: FastifyPluginAsync<{ readonly publicUrl: string }> = async (
  server,
  { publicUrl },
) => {
  mountTypeMap(server, publicUrl);
  refuseOtherMethods(server, "/graphql/map", ["GET"]);
  let page: Promise<CompressedBody> | undefined;
  server.get("/graphql", async (request, reply) => {
    if (!(request.headers.accept ?? "").includes("text/html"))
      throw fail("method_not_allowed", { message: askedByPost, headers: { allow: "POST" } });
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
        ${[addressOf("graphiql-component.css"), ...styles].map((href) => html`<link rel="stylesheet" href="${href}" />`)}
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
          <p class="waiting">GraphiQL is on its way; it needs JavaScript.</p>
        </main>
        <footer id="foot"></footer>
        ${dataBlock(data)}
      </body>
    </html>`.text
  }`;
}

/** The type map at /graphql/map: the frame of a page whose script draws the schema, once it has a token. */
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
          The map of the graph’s types needs JavaScript. GraphiQL’s documentation and
          <a href="${base}/openapi.json">the REST document</a> tell the same in words.
        </p>
      </main>
      ${dataBlock({ endpoint: `${base}/graphql` })}`;
    return reply
      .headers(pageHeaders({ asset }))
      .send(renderPage({ title: "Type map – Commerce Gateway", body, isWide: true, asset }));
  });
}

/** Data for the page's script, which browsers do not run: no text in it can end the element. */
function dataBlock(data: object): Markup {
  return new Markup(
    `<script type="application/json" id="page-data">${JSON.stringify(data).replaceAll("<", String.raw`\u003c`)}</script>`,
  );
}
