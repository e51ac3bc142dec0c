/**
 * The script of the documentation pages: adds the search and the language tabs, scrolls the table of contents
 * to the current page, copies examples, and lets the reader try operations.
 */
import "#pages/shared/browser/components.css";
import "./docs.css";
import { addCodeSampleLanguageTabs } from "./language-tabs.ts";
import { addDocsSearch } from "./search.ts";
import { addTryOperationForm } from "./try-operation.ts";

/** Scrolls the table of contents, not the page, until the link of the current page is visible. */
function showCurrent(): void {
  const contents = document.getElementById("contents");
  const current = contents?.querySelector<HTMLElement>("[aria-current=page]");
  if (contents === null || current === null || current === undefined) return;
  contents.scrollTop = current.offsetTop - contents.clientHeight / 2;
}

/** Adds a "Copy" button to each example on a documentation page. */
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

addDocsSearch();
showCurrent();
addCodeSampleLanguageTabs();
addCopyButtons();
addTryOperationForm();
