/**
 * The search field that every console page shows. The keys “/” and Ctrl+K (or ⌘K) move the focus into the
 * field.
 */
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { consolePath } from "#pages/console/browser/graph/client.ts";
import { type ConsoleLocation, navigateToConsolePath } from "#pages/console/browser/navigation.tsx";
import { searchTextMax, removeSecretsFromSearchText } from "./search-terms.ts";

/** True if the reader is typing into a field. A pressed key is then text and not a shortcut. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));

const isShortcut = ({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean =>
  (key.toLowerCase() === "k" && (ctrlKey || metaKey) && !altKey) ||
  (key === "/" && !ctrlKey && !metaKey && !altKey && !isTyping(target));

export function ConsoleSearchField({ place }: { readonly place: ConsoleLocation }): JSX.Element {
  const searched = place.parts[0] === "search" ? (place.query.get("q") ?? "") : "";
  const [text, setText] = useState(searched);
  const field = useRef<HTMLInputElement>(null);
  // Layout effects run before the browser handles the next input. Later effects would replace a text that is
  // typed directly after a navigation, or miss the shortcut keys.
  useLayoutEffect(() => setText(removeSecretsFromSearchText(searched)), [searched]);
  useLayoutEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      // The shortcut keys do not move the focus to the search field while a dialog is open.
      if (!isShortcut(event) || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);
  const search = (event: Event): void => {
    event.preventDefault();
    const wanted = removeSecretsFromSearchText(text);
    setText(wanted);
    navigateToConsolePath(wanted === "" ? "/search" : `/search?${new URLSearchParams({ q: wanted })}`);
  };
  return (
    <form
      class="find"
      role="search"
      aria-label="Search the console"
      action={`${consolePath}/search`}
      onSubmit={search}
    >
      <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
        <path d="M10.5 4a6.5 6.5 0 1 0 .01 0M15.5 15.5 21 21" />
      </svg>
      <input
        ref={field}
        type="search"
        name="q"
        aria-label="Search by id, order number or name"
        aria-keyshortcuts="/ Control+K Meta+K"
        placeholder="Search"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        enterkeyhint="search"
        maxLength={10 * searchTextMax}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}
