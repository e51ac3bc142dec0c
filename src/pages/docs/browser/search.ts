/**
 * The search of the documentation. A button, the keys Ctrl-K and the key `/` open the search dialog. The
 * search entries are loaded when the dialog is first opened, and are searched in the browser.
 */
import MiniSearch, { type SearchResult } from "minisearch";

interface Entry {
  readonly kind: string;
  readonly title: string;
  readonly names: string;
  readonly text: string;
  readonly url: string;
}

interface IndexedEntry extends Entry {
  readonly id: number;
}

const resultsMax = 12;
const excerptMax = 140;
const kinds = ["Operation", "Guide", "Event", "Error", "Field"];

export function addDocsSearch(): void {
  const place = document.getElementById("search-place");
  if (place === null) return;
  const { button, dialog, input, list, status } = createElements();
  place.replaceWith(button);
  document.body.append(dialog);
  let index: Promise<MiniSearch<IndexedEntry>> | undefined;
  const open = (): void => {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
    index ??= loadIndex(place.dataset["index"] ?? "").catch((error: unknown) => {
      index = undefined;
      throw error;
    });
    void show();
  };
  let latest = 0;
  const show = async (): Promise<void> => {
    const turn = ++latest;
    try {
      const found = await index;
      if (turn === latest && found !== undefined) showResults(found, { query: input.value, list, status });
    } catch {
      status.textContent = "The search could not be loaded. Close it and try again.";
    }
  };
  button.addEventListener("click", open);
  input.addEventListener("input", () => void show());
  dialog.addEventListener("keydown", (event) => moveSelection(event, { input, list }));
  // A click outside the search dialog closes the dialog.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  list.addEventListener("click", () => dialog.close());
  addEventListener("keydown", (event) => {
    // The search field of a closed dialog does not count as focused, because the browser removes its focus
    // only when it draws the next frame.
    const isTyping =
      event.target instanceof HTMLElement &&
      event.target.matches("input, textarea, select") &&
      (dialog.open || !dialog.contains(event.target));
    const isShortcut =
      (event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !isTyping);
    if (!isShortcut) return;
    event.preventDefault();
    open();
  });
}

interface SearchElements {
  readonly button: HTMLButtonElement;
  readonly dialog: HTMLDialogElement;
  readonly input: HTMLInputElement;
  readonly list: HTMLElement;
  readonly status: HTMLElement;
}

function createElements(): SearchElements {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "search";
  button.innerHTML = "<span>Search</span> <kbd>Ctrl K</kbd>";
  button.setAttribute("aria-keyshortcuts", "Control+K /");
  const dialog = document.createElement("dialog");
  dialog.className = "search-dialog";
  dialog.setAttribute("aria-label", "Search the documentation");
  dialog.innerHTML = `<form method="dialog" role="search">
      <label class="hidden" for="search-input">Search guides, operations, fields, errors and events</label>
      <input id="search-input" type="search" autocomplete="off" spellcheck="false"
        placeholder="Guides, operations, fields, errors, events" />
      <button class="second" value="close">Close</button>
    </form>
    <p class="soft" role="status"></p>
    <div class="results"></div>`;
  const input = dialog.querySelector("input");
  const [status, list] = [dialog.querySelector<HTMLElement>("p"), dialog.querySelector<HTMLElement>("div")];
  if (input === null || status === null || list === null) throw new Error("The dialog lacks a part.");
  return { button, dialog, input, list, status };
}

async function loadIndex(url: string): Promise<MiniSearch<IndexedEntry>> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} was answered with ${response.status}.`);
  const entries: readonly Entry[] = await response.json();
  const index = new MiniSearch<IndexedEntry>({
    fields: ["title", "names", "text"],
    storeFields: ["kind", "title", "names", "text", "url"],
    // Splits names such as cart_locked, Idempotency-Key and setPublicCartAddress into words, so that a search
    // for a single word finds the name.
    tokenize: (text) =>
      text.split(/[^\p{L}\p{N}]+/u).flatMap((word) => [word].concat(word.match(/[A-Z]?[a-z]+|\d+/g) ?? [])),
    searchOptions: {
      boost: { title: 4, names: 2 },
      boostDocument: (_id, _term, stored) => (stored?.["kind"] === "Field" ? 0.5 : 1),
      combineWith: "AND",
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  });
  for (const [id, entry] of entries.entries()) index.add({ ...entry, id });
  return index;
}

interface Shown {
  readonly query: string;
  readonly list: HTMLElement;
  readonly status: HTMLElement;
}

function showResults(index: MiniSearch<IndexedEntry>, { query, list, status }: Shown): void {
  const words = query.trim();
  const found = words === "" ? [] : index.search(words);
  const shown = found.slice(0, resultsMax);
  status.textContent =
    words === ""
      ? "Type a word, a path, an error code or a field."
      : found.length === 0
        ? `Nothing was found for “${words}”.`
        : `${found.length} found`;
  const groups = Map.groupBy(shown, ({ kind }) => String(kind));
  list.replaceChildren(
    ...[...groups]
      .toSorted(([one], [other]) => rankOf(one, groups) - rankOf(other, groups))
      .flatMap(([kind, results]) => [headingOf(kind), listOf(results)]),
  );
}

/**
 * Returns the sort key of a group of search results, for example guides or operations. The group with the
 * best result comes first.
 */
const rankOf = (kind: string, groups: ReadonlyMap<string, readonly SearchResult[]>): number =>
  -(groups.get(kind)?.[0]?.score ?? 0) + kinds.indexOf(kind) / 1000;

function headingOf(kind: string): HTMLElement {
  const heading = document.createElement("h2");
  heading.textContent = `${kind}s`;
  return heading;
}

function listOf(results: readonly SearchResult[]): HTMLElement {
  const list = document.createElement("ul");
  for (const result of results) {
    const [title, names, text, url] = [result["title"], result["names"], result["text"], result["url"]].map(
      String,
    );
    const [item, link, name, more] = [
      document.createElement("li"),
      document.createElement("a"),
      document.createElement("strong"),
      document.createElement("span"),
    ];
    const isNamed = result["kind"] === "Error" || result["kind"] === "Event";
    link.href = url ?? "";
    name.textContent = title ?? "";
    more.textContent = `${isNamed ? "" : `${names} – `}${excerptOf(text ?? "", result.terms)}`;
    link.append(name, more);
    item.append(link);
    list.append(item);
  }
  return list;
}

/** Returns an excerpt of the found text around the first searched word. */
function excerptOf(text: string, terms: readonly string[]): string {
  const places = terms.map((term) => text.toLowerCase().indexOf(term)).filter((at) => at >= 0);
  const at = Math.max(0, Math.min(...places, text.length) - 40);
  const start = places.length === 0 || at < 20 ? 0 : text.indexOf(" ", at) + 1;
  const end = start + excerptMax;
  const shown = text.slice(start, end < text.length ? text.lastIndexOf(" ", end) : undefined);
  return `${start === 0 ? "" : "… "}${shown}${end < text.length ? " …" : ""}`;
}

/** The arrow keys move between the search results; Enter in the search field opens the first result. */
function moveSelection(event: KeyboardEvent, { input, list }: Pick<SearchElements, "input" | "list">): void {
  // The Escape key closes the search dialog. Without this code, it would only clear the text of the search
  // field.
  if (event.key === "Escape") {
    event.preventDefault();
    input.closest("dialog")?.close();
  }
  const links = [...list.querySelectorAll("a")];
  const at = links.findIndex((link) => link === document.activeElement);
  if (event.key === "Enter" && event.target === input) {
    event.preventDefault();
    links[0]?.click();
  }
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  event.preventDefault();
  const next = event.key === "ArrowDown" ? at + 1 : at - 1;
  (links[next] ?? (next < 0 ? input : links.at(-1)))?.focus();
}
