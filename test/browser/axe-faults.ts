/** Returns axe's serious and critical findings on a page, with their elements. */
import axe from "axe-core";
import type { Page } from "playwright-core";

/** Runs axe on a page. `excluded`: selectors of third-party parts. */
export async function axeFaults(page: Page, excluded: readonly string[] = []): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(
    async (away) => {
      const { axe: judge } = globalThis as unknown as { axe: typeof axe };
      const { violations } = await judge.run({ exclude: [...away] }, { resultTypes: ["violations"] });
      return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
    },
    [...excluded],
  );
}
