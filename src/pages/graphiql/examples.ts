/** The example queries as GraphiQL's picker shows them: grouped by who runs them, each group with the roles whose tokens it is open to. */
import { type Role, roles } from "#access/viewer.ts";
import { analystExamples } from "./analyst-examples.ts";
import { exampleQueries, type ExampleQuery } from "./example-queries.ts";
import { cartWay, orderWay } from "./example-ways.ts";
import { officeExamples, platformExamples } from "./office-examples.ts";
import { reportExamples } from "./report-examples.ts";
import { storefrontExamples } from "./storefront-examples.ts";

export interface ExampleGroup {
  readonly title: string;
  readonly roles: readonly Role[];
  readonly examples: readonly ExampleQuery[];
}

function called(...titles: readonly string[]): readonly ExampleQuery[] {
  return exampleQueries.filter(({ title }) => titles.includes(title));
}

export const exampleGroups: readonly ExampleGroup[] = [
  {
    title: "For analysts",
    roles: ["analyst", "admin", "operator"],
    examples: [...reportExamples, ...analystExamples, ...called("Orders", "Carts", "Webhooks")],
  },
  { title: "For storefronts", roles: ["storefront", "admin"], examples: [...called("Markets"), ...storefrontExamples, cartWay] },
  { title: "For back office", roles: ["admin", "operator"], examples: [...called("Products"), ...officeExamples, orderWay] },
  { title: "For the platform", roles: ["operator"], examples: platformExamples },
  { title: "For everybody", roles, examples: called("Search", "Who am I") },
];

/** What GraphiQL opens with: the rest is in the picker. */
export const openedExamples: readonly ExampleQuery[] = called("Search", "Who am I", "Orders");
