/** The command `trigger`: makes an event happen in test mode, with real objects of the merchant. */
import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { closestMatch } from "leven";
import {
  addSharedOptions,
  CommandFailed,
  createStopSignal,
  guarded,
  print,
  printJson,
  requireTarget,
  type SharedOptions,
  staffKinds,
} from "./command-context.ts";
import { graph, type Target } from "./service.ts";
import { recipes } from "./trigger-recipes.ts";
import { eventDocument, type Recipe, shopDocument, type Shop, step, waitFor } from "./trigger-steps.ts";

interface TriggerOptions extends SharedOptions {
  readonly list?: boolean;
}

export function addTriggerCommand(program: Command): void {
  addSharedOptions(program.command("trigger"))
    .description(
      "Makes an event happen in test mode, with real objects: trigger order.completed creates a cart, pays it " +
        "with a test card and delivers the order. Needs a login or an internal token with the role admin.",
    )
    .argument("[event]", "the event type; --list shows all that can be triggered")
    .option("--list", "list the event types that can be triggered, and end")
    .action(guarded(runTrigger));
}

async function runTrigger(
  type: string | undefined,
  options: TriggerOptions,
  command: Command,
): Promise<void> {
  if (options.list === true) {
    const names = [...recipes.keys()];
    return options.json === true ? printJson(names) : names.forEach(print);
  }
  const recipe = recipes.get(type ?? "");
  if (type === undefined || recipe === undefined)
    return command.error(
      type === undefined
        ? "error: missing required argument 'event'; --list shows the event types"
        : `error: '${type}' cannot be triggered.${suggestEventType(type)} --list shows the event types that can.`,
      { exitCode: 2 },
    );
  const target = requireTarget(options, staffKinds);
  if (options.json !== true) print(`Triggering ${type} …`);
  const event = await triggerEvent(target, { type, recipe, createSignal: createStopSignal });
  if (options.json === true) return printJson(event);
  const { id, subject } = event;
  print(
    `Trigger succeeded: ${type} [${id}] about ${subject.type} ${subject.id}, version ${subject.version}.`,
  );
}

/** Maximum number of typos in an event type for which `trigger` suggests the right event type. */
const typosMax = 4;

function suggestEventType(type: string): string {
  const nearest = closestMatch(type.toLowerCase(), [...recipes.keys()], { maxDistance: typosMax });
  return nearest === undefined ? "" : ` Did you mean ${nearest}?`;
}

interface Connection<Node> {
  readonly edges: readonly { readonly node: Node }[];
}

interface TriggeredEvent {
  readonly id: string;
  readonly type: string;
  readonly subject: { readonly type: string; readonly id: string; readonly version: number };
}

interface EventAnswer {
  readonly events: Connection<TriggeredEvent>;
}

interface Triggering {
  readonly type: string;
  readonly recipe: Recipe;
  /** Creates the signal that ends the recipe. Called after the shop was read and before anything is changed. */
  readonly createSignal: () => AbortSignal;
}

/** Runs the recipe of an event type, and returns the event as soon as the service has stored it. */
export async function triggerEvent(
  target: Target,
  { type, recipe, createSignal }: Triggering,
): Promise<TriggeredEvent> {
  const { shop, serverTime } = await openShop(target, createSignal);
  await recipe(shop);
  return waitFor(`The event ${type}`, shop, async () => {
    const { events } = await graph<EventAnswer>(target, eventDocument, { type, from: serverTime });
    return events.edges[0]?.node;
  });
}

interface ShopAnswer {
  readonly viewer: {
    readonly role: string | null;
    /** The current time of the service, whose clock may differ from the clock of this machine. */
    readonly api: { readonly serverTime: string };
    readonly merchant: {
      readonly mode: "LIVE" | "TEST";
      readonly defaultMarket: string;
      readonly defaultLocale: string;
      readonly markets: readonly {
        readonly id: string;
        readonly countries: readonly string[];
        readonly currency: string;
        readonly defaultLocale: string;
      }[];
    } | null;
  };
  readonly installations: Connection<{ readonly id: string }>;
  readonly products: Connection<{
    readonly variants: readonly {
      readonly id: string;
      readonly restrictions: readonly string[];
      readonly requiresShipping: boolean;
      readonly discontinued: boolean;
      readonly prices: readonly { readonly market: { readonly id: string } }[];
    }[];
  }>;
}

/**
 * Reads the merchant, the market and the products that the recipes need. Refuses live mode, in which a recipe
 * would charge cards and ship parcels.
 */
async function openShop(
  target: Target,
  createSignal: () => AbortSignal,
): Promise<{ shop: Shop; serverTime: string }> {
  const { viewer, installations, products } = await graph<ShopAnswer>(target, shopDocument);
  const { merchant } = viewer;
  if (merchant === null || viewer.role !== "admin")
    throw new CommandFailed("trigger needs a login or an internal token of a merchant, with the role admin.");
  if (merchant.mode !== "TEST")
    throw new CommandFailed(
      "trigger works only in test mode, but the merchant is in live mode. Nothing was done.",
    );
  const market = merchant.markets.find(({ countries }) => countries.includes(merchant.defaultMarket));
  if (market === undefined)
    throw new CommandFailed(`The merchant has no market for ${merchant.defaultMarket}.`);
  const [variantId, exchangeVariantId] = chooseVariants(products, market.id);
  if (variantId === undefined)
    throw new CommandFailed(
      "The merchant has no published product in stock that can be ordered and returned.",
    );
  const shop: Shop = {
    target,
    locale: market.defaultLocale,
    merchantLocale: merchant.defaultLocale,
    market: { id: market.id, country: merchant.defaultMarket, currency: market.currency },
    variantId,
    exchangeVariantId: exchangeVariantId ?? null,
    installationId: installations.edges[0]?.node.id ?? "",
    run: randomBytes(4).toString("hex"),
    signal: createSignal(),
  };
  // Adds three units of each variant to the stock, which the recipe may sell. Otherwise repeated runs would
  // sell out the product.
  for (const id of [variantId, ...(exchangeVariantId === undefined ? [] : [exchangeVariantId])])
    await step(shop, "stockAdjust", { input: { variantId: id, delta: 3, reason: "RECEIVED" } });
  return { shop, serverTime: viewer.api.serverTime };
}

/**
 * Returns the ids of the variants that buyers may order and return, of the product with the most such
 * variants.
 */
function chooseVariants({ edges }: ShopAnswer["products"], marketId: string): readonly string[] {
  const [best] = edges
    .map(({ node }) =>
      node.variants.filter(
        ({ restrictions, requiresShipping, discontinued, prices }) =>
          restrictions.length === 0 &&
          requiresShipping &&
          !discontinued &&
          prices.some(({ market }) => market.id === marketId),
      ),
    )
    .toSorted((one, other) => other.length - one.length);
  return (best ?? []).map(({ id }) => id);
}
