/**
 * A storefront without a backend. The page talks to `/graphql` with the session of its own buyer, which it
 * creates with the publishable token: products and filters, a cart, the hosted checkout page, orders,
 * returns.
 */
/** The base URL of the service and the merchant's publishable token; vite.config.ts sets both. */
declare const settings: { readonly url: string; readonly token: string };

// eslint-disable-next-line typescript/no-explicit-any -- The documents say which fields a result has.
type Result = any;

async function send(token: string, query: string, variables: object = {}): Promise<Result> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const body = JSON.stringify({ query, variables });
  const answer = await fetch(`${settings.url}/graphql`, { method: "POST", headers, body });
  const { data, errors = [] } = await answer.json();
  if (errors.length > 0) throw Object.assign(new Error(errors[0].message), { status: answer.status });
  // Every document of this page has one root field.
  return Object.values(data)[0];
}

/** Sends a document as the buyer. Creates a session if there is none, or if the stored one has ended. */
async function ask(query: string, variables?: object): Promise<Result> {
  const stored = localStorage.getItem("session");
  try {
    if (stored !== null) return await send(stored, query, variables);
  } catch (error) {
    if ((error as { status?: number }).status !== 401) throw error;
    localStorage.removeItem("cart");
  }
  const { token } = await send(settings.token, "mutation { buyerSessionCreate(input: {}) { token } }");
  localStorage.setItem("session", token);
  return send(token, query, variables);
}

/** Finds an element of index.html. The type has the fields of form controls, which only some elements have. */
const find = (id: string): HTMLInputElement => document.querySelector(`#${id}`) as HTMLInputElement;
const create = (tag: string, ...content: readonly (Node | string)[]): HTMLElement => {
  const element = document.createElement(tag);
  element.append(...content);
  return element;
};
const createButton = (text: string, work: () => Promise<void>): HTMLElement => {
  const element = create("button", text);
  element.addEventListener("click", () => void attempt(work));
  return element;
};
const attempt = async (work: () => Promise<void>): Promise<void> =>
  work().catch((error: Error) => find("notice").replaceChildren(error.message));

const money = "{ amountMinor currency exponent }";
const format = ({ amountMinor, currency, exponent }: Result): string =>
  new Intl.NumberFormat("en", { style: "currency", currency }).format(amountMinor / 10 ** exponent);

async function showProducts(): Promise<void> {
  const chosen = (name: string): string => find(name).value;
  const query = `query ($q: SearchText!, $category: Slug, $filter: ProductSearchFilter) {
    productSearch(q: $q, category: $category, filter: $filter, locale: "en", market: "DE", sort: RELEVANCE,
      page: 1, pageSize: 24) {
      items { slug title merchant { slug } image { url alt } priceRange { min ${money} } }
      meta { facets { key buckets { value label count } } } } }`;
  const filter = chosen("brand") === "" ? null : { brands: [chosen("brand")] };
  const found = await ask(query, { q: chosen("q"), category: chosen("category") || null, filter });
  find("products").replaceChildren(...found.items.map(createProduct));
  for (const name of ["category", "brand"]) {
    const facet = found.meta.facets.find(({ key }: Result) => key === name.toUpperCase());
    const options = (facet?.buckets ?? []).map(
      ({ value, label, count }: Result) =>
        new Option(`${label} (${count})`, value, false, value === chosen(name)),
    );
    find(name).replaceChildren(new Option("All", ""), ...options);
  }
}

function createProduct({ slug, title, merchant, image, priceRange }: Result): HTMLElement {
  const picture = Object.assign(new Image(), { src: image?.url ?? "", alt: image?.alt ?? "" });
  const add = createButton("Add to cart", async () => {
    const query = `query ($merchant: String!, $slug: String!) {
      publicProduct(merchantSlug: $merchant, productSlug: $slug) { variants { id availability } } }`;
    const { variants } = await ask(query, { merchant: merchant.slug, slug });
    const sold = variants.find(({ availability }: Result) => availability !== "OUT_OF_STOCK");
    await addToCart((sold ?? variants[0]).id);
  });
  return create("li", picture, create("p", title), create("p", format(priceRange.min)), add);
}

async function addToCart(variantId: string): Promise<void> {
  const cartId = localStorage.getItem("cart");
  const lines = [{ variantId, quantity: 1 }];
  const createCart = "mutation ($input: CartCreateInput!) { cartCreate(input: $input) { id } }";
  const addLines = `mutation ($cartId: ID!, $input: CartLinesAddInput!) {
    cartLinesAdd(cartId: $cartId, input: $input) { id } }`;
  const { id } = await (cartId === null
    ? ask(createCart, { input: { market: "DE", lines } })
    : ask(addLines, { cartId, input: { lines } }));
  localStorage.setItem("cart", id);
  await showCart();
}

async function showCart(): Promise<void> {
  const cartId = localStorage.getItem("cart");
  const query = `query ($id: ID!) { cart(id: $id) { status totals { total ${money} }
    lines { id title quantity total ${money} } } }`;
  const cart = cartId === null ? null : await ask(query, { id: cartId });
  const isOpen = cart?.status === "ACTIVE" || cart?.status === "LOCKED";
  if (!isOpen) localStorage.removeItem("cart");
  const rows = (isOpen ? cart.lines : []).map(({ title, quantity, total }: Result) =>
    create("li", `${quantity} × ${title}: ${format(total)}`),
  );
  const sum = isOpen ? `Total ${format(cart.totals.total)}` : "The cart is empty.";
  find("cart").replaceChildren(...rows, create("li", sum));
  find("checkout").disabled = rows.length === 0;
}

async function checkOut(): Promise<void> {
  const query = `mutation ($input: HostedCheckoutSessionCreateInput!) {
    hostedCheckoutSessionCreate(input: $input) { url } }`;
  const page = location.origin + location.pathname;
  const input = { cartId: localStorage.getItem("cart"), successUrl: page, cancelUrl: page };
  location.assign((await ask(query, { input })).url);
}

async function showOrders(): Promise<void> {
  const orders = await ask(`{ orders(first: 10, sort: NEWEST_FIRST) { edges { node { id number status
    returns { status } afterSalesEligibility { lines { lineId options { kind decision } } } } } } }`);
  find("orders").replaceChildren(...orders.edges.map(({ node }: Result) => createOrder(node)));
}

function createOrder({ id, number, status, returns, afterSalesEligibility }: Result): HTMLElement {
  const mayReturn = ({ kind, decision }: Result): boolean =>
    kind === "RETURN_REFUND" && decision !== "DENIED";
  const lines = afterSalesEligibility.lines
    .filter(({ options }: Result) => options.some(mayReturn))
    .map(({ lineId }: Result) => ({ lineId, quantity: 1 }));
  const query = `mutation ($orderId: ID!, $key: String!, $input: ReturnRequestInput!) {
    returnRequest(orderId: $orderId, idempotencyKey: $key, input: $input) { id } }`;
  const input = { kind: "RETURN_REFUND", reason: "UNWANTED", lines };
  const request = createButton("Return", async () => {
    await ask(query, { orderId: id, key: `return-${id}`, input });
    await showOrders();
  });
  const texts = [`Order ${number}`, status, ...returns.map((each: Result) => `return ${each.status}`)];
  return create("li", `${texts.join(" · ")} `, ...(lines.length > 0 ? [request] : []));
}

find("search").addEventListener("submit", (event) => event.preventDefault());
find("search").addEventListener("input", () => void attempt(showProducts));
find("checkout").addEventListener("click", () => void attempt(checkOut));
for (const show of [showProducts, showCart, showOrders]) await attempt(show);
