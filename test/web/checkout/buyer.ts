/**
 * A buyer on the checkout page without scripts: follows redirects, keeps cookies, and submits forms as a
 * browser would.
 */
import { expect } from "vitest";
import { type TestCardToken, testCards } from "#commerce/payments/test/test-cards.ts";
import { type GraphAnswer, berlin, changeCart, deliveryOf, makeCart } from "#test/operations/cart-calls.ts";
import { makeSession } from "#test/operations/checkout-calls.ts";
import { publicUrl, type Answer, type World } from "#test/support/world.ts";

export interface Buyer {
  /** The last answer. */
  readonly last: () => Answer;
  /** The path of the page's address. */
  readonly path: string;
  readonly cookie: () => string | undefined;
  open(query?: string): Promise<Answer>;
  /** Submits fields and follows a redirect to the page itself. */
  send(fields: Readonly<Record<string, string>>, headers?: Record<string, string>): Promise<Answer>;
  /** Presses a button, and submits all fields of its form. */
  press(action: string, fields?: Readonly<Record<string, string>>): Promise<Answer>;
}

export const ownHeaders = {
  origin: "null",
  "sec-fetch-site": "same-origin",
  "content-type": "application/x-www-form-urlencoded",
};

export function buyerOf(
  world: World,
  url: string,
  options: { readonly headers?: Record<string, string> } = {},
): Buyer {
  const path = url.slice(publicUrl.length);
  const jar = new Map<string, string>();
  let last: Answer | undefined;
  const keep = (answer: Answer): Answer => {
    for (const given of [answer.headers["set-cookie"] ?? []].flat()) {
      const [name = "", value = ""] = (given.split(";")[0] ?? "").split("=");
      jar.set(name, value);
    }
    last = answer;
    return answer;
  };
  const cookieHeader = (): string => [...jar].map((pair) => pair.join("=")).join("; ");
  const cookies = (): Record<string, string> => (jar.size === 0 ? {} : { cookie: cookieHeader() });
  const lastOf = (): Answer => {
    if (last === undefined) throw new Error("Nothing was opened.");
    return last;
  };
  const buyer: Buyer = {
    path,
    last: lastOf,
    cookie: () => jar.get("checkout") && `checkout=${jar.get("checkout")}`,
    open: async (query = "") => keep(await world.get(path + query, { ...cookies(), ...options.headers })),
    send: async (fields, headers = {}) => {
      const body = new URLSearchParams(fields).toString();
      const answer = keep(
        await world.send({
          method: "POST",
          url: path,
          headers: { ...ownHeaders, ...cookies(), ...options.headers, ...headers },
          body,
        }),
      );
      return answer;
    },
    press: async (action, fields = {}) => {
      const form = formOf(lastOf().text, action);
      const card = action === "pay" && "cardNumber" in form ? cardOf("tok_success") : {};
      const sent = await buyer.send({ ...form, ...card, ...fields, action });
      if (sent.status !== 303) return sent;
      const to = sent.headers["location"] ?? "";
      expect(to.startsWith(path)).toBe(true);
      return buyer.open(to.slice(path.length).replace(/#.*/, ""));
    },
  };
  return buyer;
}

/** Returns the fields of the card form, filled with the first test card of a payment token. */
export function cardOf(token: TestCardToken): Record<string, string> {
  const card = testCards.find((known) => known.token === token);
  if (card === undefined) throw new Error(`No test card has the token ${token}.`);
  const { number, cvcLength } = card;
  const cardCvc = "1234".slice(0, cvcLength);
  return { cardNumber: number, cardExpiry: "12/34", cardCvc, cardName: "Erika Mustermann" };
}

/** Returns the fields of the form that contains the button. */
export function formOf(page: string, action: string): Record<string, string> {
  const form = [...page.matchAll(/<form[\s\S]*?<\/form>/g)]
    // Buttons with the attribute "form" belong to another form.
    .map(([text]) => text.replaceAll(/<button[^>]*\sform="[^"]*"[^>]*>/g, ""))
    .find((text) => text.includes(`value="${action}"`));
  if (form === undefined) throw new Error(`The page has no button ${action}: ${textOf(page)}`);
  const fields: Record<string, string> = {};
  for (const [input] of form.matchAll(/<input[^>]*>/g)) {
    const attribute = (name: string): string =>
      unescaped(new RegExp(`\\s${name}="([^"]*)"`).exec(input)?.[1] ?? "");
    if (attribute("type") !== "radio" || /\schecked/.test(input))
      fields[attribute("name")] = attribute("value");
  }
  for (const [, name = "", options = ""] of form.matchAll(
    /<select[^>]*\sname="(\w+)"[^>]*>([\s\S]*?)<\/select>/g,
  ))
    fields[name] = unescaped(/value="([^"]*)"\s+selected/.exec(options)?.[1] ?? "");
  return fields;
}

/** Returns the ids of the offered delivery options. */
export const optionsOf = (page: string): string[] =>
  [...page.matchAll(/name="optionId"\s+value="([^"]+)"/g)].map(([, id = ""]) => id);

const unescaped = (text: string): string =>
  text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&amp;", "&");

/** Returns the page's visible text. */
export const textOf = (page: string): string =>
  unescaped(page.replaceAll(/<(head|style)[\s\S]*?<\/\1>/g, " ").replaceAll(/<[^>]+>/g, " "))
    .replaceAll(/\s+/g, " ")
    .trim();

export const headingOf = (page: string): string => textOf(/<h1>([\s\S]*?)<\/h1>/.exec(page)?.[1] ?? "");
export const faultsOf = (page: string): string[] =>
  [...(/<div class="faults"[\s\S]*?<\/div>/.exec(page)?.[0].matchAll(/<li>([\s\S]*?)<\/li>/g) ?? [])].map(
    ([, fault = ""]) => textOf(fault),
  );

/** Creates a session for a cart that can be paid: with an address, a delivery option and an e-mail. */
export async function makePayableSession(
  world: World,
  lines: Readonly<Record<string, number>> = { "KIT-KVERN": 1 },
): Promise<GraphAnswer["data"]> {
  const { id: cartId } = await makeCart(world, { lines });
  await changeCart(world, "cartBuyerSet", { cartId, input: { email: "erika@example.com" } });
  await changeCart(world, "cartAddressSet", { cartId, input: { address: berlin } });
  await changeCart(world, "cartDeliveryOptionSelect", {
    cartId,
    input: { optionId: await deliveryOf(world, "standard") },
  });
  return makeSession(world, { cartId });
}

export const addressTyped = {
  countryCode: "DE",
  recipientName: "Erika Mustermann",
  line1: "Heidestraße 17",
  postalCode: "51147",
  city: "Köln",
  email: "erika@example.com",
};
