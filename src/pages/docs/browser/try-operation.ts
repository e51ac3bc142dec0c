/**
 * Lets the reader try an operation on its documentation page. Sends the request of the form with the API key
 * that is stored for the browser tab, and shows the response.
 */

const keyName = "commerce-gateway-docs-key";
const shownHeaders = [
  "x-request-id",
  "x-api-stability",
  "idempotent-replayed",
  "etag",
  "content-language",
  "ratelimit",
  "retry-after",
];

export function addTryOperationForm(): void {
  if (!replaceTemplateByContent("try-template")) return;
  const [form, result] = [
    document.querySelector<HTMLFormElement>(".try form"),
    document.querySelector<HTMLElement>(".try .result"),
  ];
  if (form === null || result === null) return;
  const key = form.querySelector<HTMLInputElement>("#try-key");
  if (key !== null) key.value = sessionStorage.getItem(keyName) ?? "";
  const demoKey = form.querySelector<HTMLButtonElement>("#demo-key");
  demoKey?.addEventListener("click", () => {
    if (key !== null) void fillInDemoKey(key, demoKey);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (key !== null) sessionStorage.setItem(keyName, key.value.trim());
    void send(form, result);
  });
}

async function fillInDemoKey(input: HTMLInputElement, button: HTMLButtonElement): Promise<void> {
  try {
    const response = await fetch(button.dataset["url"] ?? "", { cache: "no-store" });
    const { key } = (await response.json()) as { readonly key?: string };
    if (key === undefined) throw new Error("The answer has no key.");
    input.value = key;
    button.textContent = "The demo's key is filled in";
  } catch {
    button.textContent = "The key could not be loaded; try again";
  }
}

async function send(form: HTMLFormElement, result: HTMLElement): Promise<void> {
  const button = form.querySelector("button");
  if (button !== null) button.disabled = true;
  result.replaceChildren(paragraph("Sending …"));
  try {
    await showAnswer(await answerTo(form), result);
  } catch (error) {
    result.replaceChildren(
      paragraph(
        `The request failed: ${error instanceof Error ? error.message : "the service cannot be reached"}.`,
      ),
    );
  } finally {
    if (button !== null) button.disabled = false;
  }
}

/**
 * Sends the request of the form in which the reader tries an operation, after the requests that must be sent
 * first. Returns the first response with an error, otherwise the response to the form's request.
 */
async function answerTo(form: HTMLFormElement): Promise<Response> {
  const { method = "GET", before, versionPath } = form.dataset;
  const [address, body, headers] = [addressOf(form), bodyOf(form), headersOf(form)];
  if (before !== undefined) {
    const response = await fetch(address, { method: "PUT", headers, body: before, cache: "no-store" });
    if (!response.ok) return response;
  }
  const again = { ...headers, ...("idempotency-key" in headers ? { "idempotency-key": newKey() } : {}) };
  if (versionPath === undefined || body === null || body.includes('"expectedVersion"'))
    return fetch(address, { method, headers: again, body, cache: "no-store" });
  const seen = await fetch(filled(versionPath, form), {
    headers: { authorization: headers["authorization"] ?? "" },
    cache: "no-store",
  });
  if (!seen.ok) return seen;
  const { data } = (await seen.json()) as { readonly data: { readonly version: number } };
  return fetch(address, { method, headers: again, body: withVersion(body, data.version), cache: "no-store" });
}

/**
 * Sets `expectedVersion` in a JSON body. Returns a body with a JSON syntax error unchanged, so that the
 * reader sees the service's error about the body.
 */
function withVersion(body: string, expectedVersion: number): string {
  try {
    return JSON.stringify({ ...(JSON.parse(body) as object), expectedVersion });
  } catch {
    return body;
  }
}

const placesOf = (form: HTMLFormElement): (HTMLInputElement | HTMLSelectElement)[] => [
  ...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>("[data-in]"),
];

function filled(path: string, form: HTMLFormElement): string {
  const values = new Map(placesOf(form).map(({ name, value }) => [name, value]));
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(values.get(name) ?? ""));
}

function addressOf(form: HTMLFormElement): string {
  const fields = placesOf(form);
  const path = filled(form.dataset["path"] ?? "", form);
  const queryFields = fields.filter(
    ({ dataset, value }) => dataset["in"] === "query" && (value !== "" || dataset["required"] === "true"),
  );
  const query = new URLSearchParams(
    queryFields.map(({ name, value }): [string, string] => [name, value]),
  ).toString();
  return query === "" ? path : `${path}?${query}`;
}

function headersOf(form: HTMLFormElement): Record<string, string> {
  const key = form.querySelector<HTMLInputElement>("#try-key")?.value.trim();
  return {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(form.dataset["idempotent"] === "true" ? { "idempotency-key": newKey() } : {}),
    ...(bodyOf(form) === null ? {} : { "content-type": "application/json" }),
  };
}

/**
 * Creates a random idempotency key. Browsers offer `crypto.randomUUID` only on https:// and on localhost, so
 * the function does not use it.
 */
const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const bodyOf = (form: HTMLFormElement): string | null =>
  form.querySelector<HTMLTextAreaElement>("#try-body")?.value ?? null;

async function showAnswer(response: Response, result: HTMLElement): Promise<void> {
  const text = await response.text();
  const status = paragraph(`${response.status} ${meaningOf(response.status)}`);
  status.className = response.ok ? "status good" : "status fault";
  const headers = document.createElement("dl");
  for (const name of shownHeaders) {
    const value = response.headers.get(name);
    if (value === null) continue;
    const [term, detail] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    detail.textContent = value;
    headers.append(term, detail);
  }
  const body = document.createElement("pre");
  body.tabIndex = 0;
  body.setAttribute("role", "region");
  body.setAttribute("aria-label", "Response body");
  body.textContent = pretty(text);
  result.replaceChildren(status, headers, body);
}

/**
 * The names of HTTP statuses, for example "Bad request". They are listed here, because HTTP/2 responses do
 * not contain status names.
 */
const meanings: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not found",
  409: "Conflict",
  429: "Too many requests",
  503: "Not available",
};
const meaningOf = (status: number): string => meanings[status] ?? "";

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function paragraph(text: string): HTMLParagraphElement {
  const made = document.createElement("p");
  made.textContent = text;
  return made;
}

/**
 * Replaces an HTML `template` element by its content, which makes the content visible. Returns false if the
 * page has no template with this id.
 */
function replaceTemplateByContent(id: string): boolean {
  const template = document.getElementById(id);
  if (!(template instanceof HTMLTemplateElement)) return false;
  template.replaceWith(template.content.cloneNode(true));
  return true;
}
