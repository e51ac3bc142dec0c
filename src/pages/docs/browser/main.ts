/**
 * The documentation's script: searches operations, scrolls the contents to the current page, copies examples,
 * and tries an operation in the page.
 */
import "./docs.css";
import { addTryForm, replaceTemplateByContent } from "./try-operation.ts";

/** Scrolls the contents (not the page) to the link of the current page. */
function showCurrent(): void {
  const contents = document.getElementById("contents");
  const current = contents?.querySelector<HTMLElement>("[aria-current=page]");
  if (contents === null || current === null || current === undefined) return;
  contents.scrollTop = current.offsetTop - contents.clientHeight / 2;
}

/** Adds a "Copy" button to each example. */
function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLElement>("pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy: ${block.getAttribute("aria-label") ?? "code"}`);
    button.addEventListener("click", () => void copy(block.textContent ?? "", button));
    const frame = document.createElement("div");
    frame.className = "code";
    block.replaceWith(frame);
    frame.append(block, button);
  }
}

async function copy(text: string, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select it";
  }
  setTimeout(() => (button.textContent = "Copy"), 2_000);
}

/** Searches operations, guides and error codes by words of their name, method or path. */
function addFilter(): void {
  if (!replaceTemplateByContent("filter-template")) return;
  replaceTemplateByContent("codes-template");
  const [input, count] = [
    document.querySelector<HTMLInputElement>("#filter"),
    document.querySelector("#filter-count"),
  ];
  input?.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = show(words);
    if (count !== null) count.textContent = words.length === 0 ? "" : `${shown} found`;
  });
}

/** Shows the links that contain all words, and returns their number. */
function show(words: readonly string[]): number {
  let shown = 0;
  for (const section of document.querySelectorAll<HTMLElement>("#contents section")) {
    const heading = (section.querySelector("h2")?.textContent ?? "").toLowerCase();
    const items = [...section.querySelectorAll<HTMLElement>("li")];
    for (const item of items) {
      const text = `${heading} ${(item.textContent ?? "").toLowerCase()}`;
      item.hidden = !words.every((word) => text.includes(word));
    }
    const left = items.filter(({ hidden }) => !hidden).length;
    section.hidden = left === 0 || (words.length === 0 && section.dataset["shown"] === "found");
    shown += left;
  }
  return shown;
}

addFilter();
showCurrent();
addCopyButtons();
addTryForm();
