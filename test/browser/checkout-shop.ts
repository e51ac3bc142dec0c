/**
 * A sample shop: fills carts through the graph, sends buyers to the checkout page, and has pages to which
 * they return.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";

export interface Shop extends AsyncDisposable {
  readonly url: string;
  /** The pages to which buyers returned, with the referrers that their browsers sent. */
  readonly visits: { readonly path: string; readonly referrer: string | undefined }[];
  /** Sends a GraphQL request, by default with the storefront's token. */
  ask<Data>(
    query: string,
    variables?: Record<string, unknown>,
    token?: keyof DemoJsonFileContent["tokens"],
  ): Promise<Data>;
  /** Opens a checkout for a cart with one product, and returns the page's address. */
  openCheckout(cart?: {
    readonly country?: string;
    readonly locale?: string;
    readonly quantity?: number;
  }): Promise<OpenedCheckout>;
}

export interface OpenedCheckout {
  readonly id: string;
  readonly url: string;
}

export async function startShop(
  address: string,
  demo: DemoJsonFileContent,
  variantId: string,
): Promise<Shop> {
  const visits: Shop["visits"] = [];
  const server = createServer((request, response) => {
    visits.push({ path: request.url ?? "", referrer: request.headers.referer });
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(
      '<!doctype html><html lang="en"><title>The shop</title><link rel="icon" href="data:,"><h1>Back in ' +
        "the shop</h1></html>",
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask: Shop["ask"] = async <Data>(
    query: string,
    variables: Record<string, unknown> = {},
    token: keyof DemoJsonFileContent["tokens"] = "storefront",
  ) => {
    const answer = await fetch(`${address}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${demo.tokens[token]}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await answer.json()) as { data: Data; errors?: unknown };
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    return data;
  };
  return {
    url,
    visits,
    ask,
    openCheckout: async ({ country = "DE", locale, quantity = 1 } = {}) => {
      const { cartCreate } = await ask<{ cartCreate: { id: string } }>(
        "mutation ($input: CartCreateInput!) { cartCreate(input: $input) { id } }",
        {
          input: {
            market: country,
            lines: [{ variantId, quantity }],
            ...(locale === undefined ? {} : { locale }),
          },
        },
      );
      const { hostedCheckoutSessionCreate: session } = await ask<{
        hostedCheckoutSessionCreate: OpenedCheckout;
      }>(
        "mutation ($input: HostedCheckoutSessionCreateInput!) { hostedCheckoutSessionCreate(input: " +
          "$input) { id url } }",
        { input: { cartId: cartCreate.id, successUrl: `${url}/thanks`, cancelUrl: `${url}/cart` } },
      );
      return session;
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}
