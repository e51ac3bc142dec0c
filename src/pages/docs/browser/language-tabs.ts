/**
 * Shows the code examples of an operation as tabs, one for each programming language, and remembers the
 * chosen language for all pages.
 */

const storageKey = "commerce-gateway-docs-language";

export function addCodeSampleLanguageTabs(): void {
  for (const samples of document.querySelectorAll<HTMLElement>(".samples")) makeTabs(samples);
}

interface Panel {
  readonly language: string;
  readonly element: HTMLElement;
}

function makeTabs(samples: HTMLElement): void {
  const panels = [...samples.querySelectorAll<HTMLElement>("[data-language]")].map((old, number): Panel => {
    const element = document.createElement("div");
    const language = old.dataset["language"] ?? "";
    element.id = `sample-${number}`;
    element.setAttribute("role", "tabpanel");
    element.append(...[...old.children].filter(({ localName }) => localName !== "summary"));
    old.replaceWith(element);
    return { language, element };
  });
  const tabs = panels.map(({ language, element }, number) => {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `sample-tab-${number}`;
    tab.textContent = language;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", element.id);
    element.setAttribute("aria-labelledby", tab.id);
    return tab;
  });
  const choose = (chosen: number): void => {
    for (const [number, tab] of tabs.entries()) {
      const isChosen = number === chosen;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      const panel = panels[number];
      if (panel !== undefined) panel.element.hidden = !isChosen;
    }
  };
  const list = document.createElement("div");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language");
  list.append(...tabs);
  samples.prepend(list);
  const stored = panels.findIndex(({ language }) => language === readLanguage());
  choose(Math.max(0, stored));
  const pick = (number: number): void => {
    choose(number);
    storeLanguage(panels[number]?.language ?? "");
  };
  for (const [number, tab] of tabs.entries()) tab.addEventListener("click", () => pick(number));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = (tabs.findIndex((tab) => tab === document.activeElement) + step + tabs.length) % tabs.length;
    pick(next);
    tabs[next]?.focus();
  });
}

/**
 * Returns the stored programming language. Null if none is stored, or if the reader has switched the
 * browser's storage off; the choice then applies only to the open page.
 */
function readLanguage(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}

function storeLanguage(language: string): void {
  try {
    localStorage.setItem(storageKey, language);
  } catch {
    // Storing the language has failed. The error is ignored, because the page also works without the
    // browser's storage.
  }
}
