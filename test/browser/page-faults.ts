/**
 * Finds measurable faults of a page under WCAG 2.2 AA, for people with low vision, with screen readers, or on
 * phones.
 */
import type { Page } from "playwright-core";

export const pageFaults = (page: Page): Promise<string[]> => page.evaluate(findFaults);

/** Runs in the page, so it cannot use anything outside of this function. */
function findFaults(): string[] {
  const faults: string[] = [];
  const check = (isRight: boolean, fault: string): void => void (isRight || faults.push(fault));
  const all = (selector: string): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(selector)];
  const nameOf = ({ localName, id }: Element): string => (id === "" ? localName : `${localName}#${id}`);
  const textOf = (node: Node | null): string => (node?.textContent ?? "").trim();

  type Color = readonly [red: number, green: number, blue: number, alpha: number];
  const colorOf = (text: string): Color => {
    const [red = 0, green = 0, blue = 0, alpha = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
    return [red, green, blue, alpha];
  };
  /** Finds an element's background. Backgrounds are transparent or opaque, and every page sets one. */
  const groundOf = (element: Element | null): Color => {
    const color = element === null ? undefined : colorOf(getComputedStyle(element).backgroundColor);
    if (color === undefined || (color[3] > 0 && color[3] < 1))
      throw new Error("There is no ground to see text on.");
    return color[3] === 1 ? color : groundOf(element?.parentElement ?? null);
  };
  const luminance = (color: Color): number => {
    const linear = (part: number): number =>
      part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    return (
      0.2126 * linear(color[0] / 255) + 0.7152 * linear(color[1] / 255) + 0.0722 * linear(color[2] / 255)
    );
  };
  const contrast = (one: Color, other: Color): number => {
    const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };

  const checkFrame = (): void => {
    check(document.documentElement.lang === "en", "no language");
    check(textOf(document.querySelector("title")) !== "", "no title");
    for (const selector of ["h1", "main"])
      check(all(selector).length === 1, `${all(selector).length} ${selector}`);
    const viewport = document.querySelector("meta[name=viewport]")?.getAttribute("content");
    check(viewport === "width=device-width, initial-scale=1", `a phone is told ${viewport}`);
  };

  const checkReferences = (): void => {
    const ids = all("[id]").map(({ id }) => id);
    check(new Set(ids).size === ids.length, "an id that is there twice");
    for (const element of all("[aria-describedby]"))
      for (const id of (element.getAttribute("aria-describedby") ?? "").split(" "))
        check(textOf(document.getElementById(id)) !== "", `${nameOf(element)} is described by nothing`);
    for (const link of all("a"))
      check(
        document.querySelector(link.getAttribute("href") ?? "none") !== null,
        `“${textOf(link)}” leads nowhere`,
      );
  };

  const checkControl = (control: HTMLInputElement | HTMLButtonElement): void => {
    const [label] = control.labels ?? [];
    check(
      textOf(control.localName === "button" ? control : (label ?? null)) !== "",
      `${nameOf(control)} has no label`,
    );
    const [own, besides] = [control, label ?? control].map((element) => element.getBoundingClientRect());
    const height = Math.max(own?.height ?? 0, besides?.height ?? 0);
    check(height >= 24, `${nameOf(control)} is ${height} high`);
    if (control.localName === "button" || control.type === "checkbox") return;
    check((control as HTMLInputElement).autocomplete !== "", `${nameOf(control)} is not filled in by itself`);
    const ratio = contrast(
      colorOf(getComputedStyle(control).borderTopColor),
      groundOf(control.parentElement),
    );
    check(ratio >= 3, `${nameOf(control)} has a border with a contrast of ${ratio.toFixed(2)}`);
  };

  const checkText = (text: Node, element: Element): void => {
    if (textOf(text) === "") return;
    const { color, opacity, fontSize } = getComputedStyle(element);
    const ratio = contrast(colorOf(color), groundOf(element));
    check(ratio >= 4.5 && opacity === "1", `“${textOf(text)}” has a contrast of ${ratio.toFixed(2)}`);
    check(Number.parseFloat(fontSize) >= 13, `“${textOf(text)}” is ${fontSize}`);
  };

  const checkWidth = (): void => {
    const { scrollWidth } = document.documentElement;
    check(scrollWidth <= innerWidth, `${scrollWidth} wide on ${innerWidth}`);
    for (const element of all("main, main *")) {
      const { left, right } = element.getBoundingClientRect();
      check(
        left >= 0 && right <= innerWidth && element.scrollWidth <= Math.max(element.clientWidth, 1) + 1,
        `${nameOf(element)} runs over`,
      );
    }
  };

  checkFrame();
  checkReferences();
  for (const control of all("input, button") as HTMLInputElement[]) checkControl(control);
  check(
    all("fieldset").every(({ firstElementChild }) => firstElementChild?.localName === "legend"),
    "a fieldset without a legend",
  );
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text?.parentElement; text = texts.nextNode())
    checkText(text, text.parentElement);
  checkWidth();
  return faults;
}
