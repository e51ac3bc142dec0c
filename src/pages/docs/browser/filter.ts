/** Finds operations, guides and error codes by any words of their name, method or path. */
import { unfold } from "./place.ts";

export function addFilter(): void {
  if (!unfold("filter-template")) return;
  unfold("codes-template");
  const [input, count] = [document.querySelector<HTMLInputElement>("#filter"), document.querySelector("#filter-count")];
  input?.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = show(words);
    if (count !== null) count.textContent = words.length === 0 ? "" : `${shown} found`;
  });
}

/** Gives how many are left. */
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
