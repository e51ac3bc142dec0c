/**
 * The landing page: what the service is, links to its parts, and the demo's accounts. The page shows the
 * demo's secrets only at a loopback address, where only the developer can read the page.
 */
import type { PartialDemoJsonFileContent } from "#demo/demo-file.ts";
import type { PageScriptAndStylePaths } from "#pages/shared/assets.ts";
import { logo, productName } from "#pages/shared/brand.ts";
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import type { HtmlPage } from "#pages/shared/page.ts";

export interface LandingPageInput {
  readonly basePath: string;
  readonly publicUrl: string;
  /** The accounts, keys and ids of the demo; undefined if the service has no demo. */
  readonly demo: PartialDemoJsonFileContent | undefined;
  /** True if the page may show the secrets of the demo, for example passwords and API keys. */
  readonly hasSecrets: boolean;
  readonly asset: PageScriptAndStylePaths;
}

export function createLandingPage(page: LandingPageInput): HtmlPage {
  const { basePath, demo, hasSecrets, asset } = page;
  return {
    title: productName,
    isWide: true,
    asset,
    body: html`<header class="band">
        <span class="product">${logo}<span>${productName}</span></span>
        <nav aria-label="Main">
          <a href="${basePath}/docs">Documentation</a> <a href="${basePath}/console">Console</a>
          <a href="${basePath}/graphql">GraphiQL</a>
        </nav>
      </header>
      <main class="landing">
        <section class="hero">
          <h1>One API from the catalog to the last return</h1>
          <p class="lead">
            Search products, build carts, apply promotions, check out on a hosted page, follow orders and
            receive signed webhooks: 20 REST operations, and the GraphQL graph behind them.
          </p>
          <p class="ways">
            <a class="button" href="${basePath}/docs/guides/getting-started">Make the first request</a>
            <a class="button second" href="${basePath}/docs">Read the reference</a>
          </p>
        </section>
        <ul class="places">
          ${places.map((place) => placeCard(place, basePath))}
        </ul>
        ${demo === undefined ? undefined : demoSection(page, demo)}
        ${
          demo !== undefined && !hasSecrets
            ? html`<p class="soft">
                The demo's keys and passwords are in <code>demo.json</code> in the service's data folder. The
                page shows them only at a loopback address.
              </p>`
            : undefined
        }
      </main>
      <footer class="soft">
        <a href="${basePath}/openapi.json">OpenAPI document</a> <a href="${basePath}/docs/errors">Errors</a>
        <a href="${basePath}/docs/events">Events</a> <a href="${basePath}/readyz">Status</a>
      </footer>`,
  };
}

interface Place {
  readonly path: string;
  readonly name: string;
  readonly readers: string;
  readonly text: string;
  /** The SVG path data of an icon, which is 24 × 24 units large and drawn with lines. */
  readonly icon: string;
}

const places: readonly Place[] = [
  {
    path: "/docs",
    name: "Documentation",
    readers: "For integrators",
    text: "Guides, every operation with examples that can be tried on the page, all errors and events.",
    icon: "M5 4h10l4 4v12H5zM15 4v4h4M9 12h6M9 16h6",
  },
  {
    path: "/console",
    name: "Console",
    readers: "For a merchant's staff",
    text: "Installed apps, API keys, webhook deliveries and what went wrong with them.",
    icon: "M4 5h16v14H4zM4 9h16M8 13l2 2-2 2M13 17h3",
  },
  {
    path: "/graphql",
    name: "GraphiQL",
    readers: "For frontends and analysts",
    text: "The whole graph with example queries, reports and a map of its types.",
    icon: "M12 4v5M12 15v5M4.5 8l4.5 2.5M15 13.5l4.5 2.5M19.5 8 15 10.5M9 13.5 4.5 16M12 9a3 3 0 1 0 .01 0",
  },
];

const placeCard = ({ path, name, readers, text, icon }: Place, basePath: string): PreEscapedHtml =>
  html`<li class="card">
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="${icon}" /></svg>
    <h2><a href="${basePath}${path}">${name}</a></h2>
    <p class="readers">${readers}</p>
    <p>${text}</p>
  </li>`;

function demoSection(
  { publicUrl, hasSecrets }: LandingPageInput,
  demo: PartialDemoJsonFileContent,
): PreEscapedHtml {
  const [product] = demo.products;
  const merchantOf = demo.merchants.first.slug;
  return html`<section class="demo" aria-labelledby="demo-heading">
    <h2 id="demo-heading">Try the demo</h2>
    <p>
      This service has demo data: two merchants, 60 products in three countries, carts, and orders in every
      state. Nothing in the demo moves money.
    </p>
    ${
      demo.checkout === undefined || !hasSecrets
        ? undefined
        : html`<p>
            <a class="button" href="${new URL(demo.checkout.url).pathname}">Open a demo checkout</a>
          </p>`
    }
    ${
      hasSecrets
        ? html`<dl>
            ${
              demo.staff === undefined
                ? undefined
                : html`${secret("Console: e-mail address", demo.staff.email)}
                  ${secret("Console: password", demo.staff.password)}`
            }
            ${secret(`API key of ${merchantOf}, all permissions`, demo.keys.full)}
            ${secret("GraphiQL: token of an admin", demo.tokens.admin)}
            ${secret("GraphiQL: token of an analyst", demo.tokens.analyst)}
          </dl>`
        : undefined
    }
    ${
      product === undefined
        ? undefined
        : html`<h3>A first request, without a key</h3>
            <pre
              tabindex="0"
              role="region"
              aria-label="Shell"
            ><code>${`curl '${publicUrl}/api/v1/catalog/merchants/${product.merchantSlug}/products/${product.productSlug}'`}</code></pre>`
    }
    ${
      hasSecrets
        ? html`<h3>A request with the key</h3>
            <pre
              tabindex="0"
              role="region"
              aria-label="Shell"
            ><code>${`curl -H 'Authorization: Bearer ${demo.keys.full}' '${publicUrl}/api/v1/open/catalog/products'`}</code></pre>`
        : undefined
    }
  </section>`;
}

const secret = (name: string, value: string): PreEscapedHtml =>
  html`<div>
    <dt>${name}</dt>
    <dd><code>${value}</code></dd>
  </div>`;
