/** What axe finds wrong with a page, serious or critical, and where. */
import axe from "axe-core";
import type { Page } from "playwright-core";

/** `excluded`: parts that are not ours, as selectors. */
export async function axeFaults(page: Page, excluded: readonly string[] = []): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(
    async (away) => {
      const { axe: judge } = globalThis as unknown as { axe: typeof axe };
      const { violations } = await judge.run({ exclude: [...away] });
      return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
    },
    [...excluded],
  );
}
