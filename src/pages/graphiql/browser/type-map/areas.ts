/**
 * Which area of the service a type belongs to. Its name says it mostly (`OrderLine`); what has no such name lies where most of what leads to it lies, and
 * what several areas lead to is shared. So a new type finds its place by itself.
 */
import type { Part } from "./parts.ts";

export const sharedArea = "Shared";

/** In the order in which they are tried: the narrower name first. */
const namesOfAreas: readonly (readonly [string, RegExp])[] = [
  ["Analytics", /Report|Interval$|Funnel/],
  ["Webhooks", /^(?:Webhook|PublicWebhook|Event|Signature|Payload)/],
  ["After-sales", /^(?:Return|Warranty|AfterSales|Exchange)/],
  ["Promotions", /^(?:Promotion|Automatic|ReplacedPromotion|Discount)/],
  ["Checkout", /^(?:HostedCheckout|Checkout)/],
  ["Carts", /^(?:Cart|PublicCart|SavedAddress|Address|Serviceability)/],
  ["Orders", /^(?:Order|Fulfillment|Payment|Refund|Cancellation|Dispute)/],
  ["Inventory", /^(?:Stock|Availability|Restock|Reservation)/],
  ["Markets", /^(?:Market|TaxRate|DeliveryMethod|DeliveryOption|Policy|Policies)/],
  [
    "Catalog",
    /^(?:Product|PublicProduct|Variant|Category|Media|Price|Image|Option|Attribute|Search|Facet|Import|Catalog|Restriction|Rating|Localized)/,
  ],
  ["Identity", /^(?:Viewer|ApiKey|ApiInfo|App|Installation|InternalToken|OAuth|Staff|Audit|Merchant|Role|Scope|Credential|Mode|RateLimit|Readiness)/],
];

/** As the overview has them. */
export const areaNames: readonly string[] = [
  "Identity",
  "Catalog",
  "Markets",
  "Inventory",
  "Promotions",
  "Carts",
  "Checkout",
  "Orders",
  "After-sales",
  "Webhooks",
  "Analytics",
  sharedArea,
];

type Parts = ReadonlyMap<string, readonly Part[]>;

export function areasOf(parts: Parts): ReadonlyMap<string, string> {
  const areas = new Map([...parts.keys()].flatMap((name) => namedArea(name)));
  // As often as something new was placed: inputs of inputs take a turn each.
  for (let placed = -1; placed !== areas.size;) {
    placed = areas.size;
    for (const [name, area] of reached(parts, areas)) areas.set(name, area);
  }
  return new Map([...parts.keys()].map((name) => [name, areas.get(name) ?? sharedArea]));
}

function namedArea(name: string): readonly (readonly [string, string])[] {
  const found = namesOfAreas.find(([, pattern]) => pattern.test(name));
  return found === undefined ? [] : [[name, found[0]]];
}

/** The types without an area that are led to from one area alone. */
function reached(parts: Parts, areas: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  const from = new Map<string, Set<string>>();
  for (const [name, held] of parts) {
    const area = areas.get(name);
    if (area === undefined) continue;
    for (const target of held.flatMap(({ leadsTo, args }) => [leadsTo].concat(args.map((argument) => argument.leadsTo)))) {
      if (target === null || !parts.has(target) || areas.has(target)) continue;
      from.set(target, (from.get(target) ?? new Set()).add(area));
    }
  }
  return [...from].flatMap(([target, found]) => (found.size === 1 ? [[target, [...found][0] ?? sharedArea] as const] : []));
}

/** A root field lies where what it answers lies, or else where its name says: `orders`, `orderCancel`. */
export function areaOfRootField({ name, leadsTo }: Pick<Part, "name" | "leadsTo">, areaOf: (type: string) => string | undefined): string {
  const named = namedArea(`${name.charAt(0).toUpperCase()}${name.slice(1)}`)[0]?.[1];
  return named ?? areaOf(leadsTo ?? "") ?? sharedArea;
}
