/**
 * The routes for a merchant's logo and for the style sheet with the merchant's colour, which need no checkout
 * session. Also renders the HTML elements that load the two into the checkout page.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { buildBrandStyleSheet } from "#commerce/merchants/brand-color.ts";
import { findMerchantLogoByHash } from "#commerce/merchants/branding.ts";
import type { Database } from "#database/connect.ts";
import { createFailure } from "#foundation/failure.ts";
import { getBasePathOfPublicUrl } from "#pages/shared/assets.ts";
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import type { CheckoutPageMerchant } from "./documents.ts";

const logoPath = "/checkout-logo/:hash";
const themePath = "/checkout-theme/:file";

/**
 * The HTTP headers of a logo or style sheet. Browsers may cache both forever, because the URL path contains
 * the logo's hash or the style sheet's colour. The content at a path therefore never changes.
 */
const headers = {
  "cache-control": "public, max-age=31536000, immutable",
  "content-security-policy": "default-src 'none'",
  "x-content-type-options": "nosniff",
};

export function registerBrandingRoutes(
  server: FastifyInstance,
  db: Database,
  limitAddress: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): void {
  server.get<{ Params: { hash: string } }>(
    logoPath,
    { onRequest: limitAddress },
    async ({ params: { hash } }, reply) => {
      const file = /^[0-9a-f]{64}$/.test(hash) ? await findMerchantLogoByHash(db, hash) : undefined;
      if (file === undefined) throw createFailure("route_not_found");
      return reply.headers(headers).type(file.logoType).send(file.logo);
    },
  );
  server.get<{ Params: { file: string } }>(
    themePath,
    { onRequest: limitAddress },
    async ({ params: { file } }, reply) => {
      const [, digits] = /^([0-9a-f]{6})\.css$/.exec(file) ?? [];
      if (digits === undefined) throw createFailure("route_not_found");
      return reply
        .headers(headers)
        .type("text/css; charset=utf-8")
        .send(buildBrandStyleSheet(`#${digits}`));
    },
  );
}

/**
 * Returns the URL path of the style sheet for the merchant's colour, as a list with one item. The list is
 * empty if the merchant has no colour.
 */
export const getBrandStyleSheetPaths = (
  { branding }: CheckoutPageMerchant,
  publicUrl: string,
): readonly string[] =>
  typeof branding?.color === "string"
    ? [`${getBasePathOfPublicUrl(publicUrl)}/checkout-theme/${branding.color.slice(1)}.css`]
    : [];

/**
 * Renders the merchant's logo; undefined if the merchant has none. Screen readers skip the image, because the
 * page shows the merchant's name beside it.
 */
export function renderMerchantLogo({ branding }: CheckoutPageMerchant): PreEscapedHtml | undefined {
  if (branding === null || branding.logo === null) return undefined;
  const { url, width, height } = branding.logo;
  return html`<img
    class="merchant-logo"
    src="${new URL(url).pathname}"
    width="${width}"
    height="${height}"
    alt=""
  />`;
}
