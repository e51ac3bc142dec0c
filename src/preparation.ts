/** What the doors ask of the network before a change begins: where the name of an endpoint's URL leads to. */
import type { ResolvedNames } from "#webhooks/endpoints/resolved-names.ts";

/** Operations of REST and mutations of the graph that are given an endpoint's URL. */
const givenUrls = new Set(["createInstallationWebhook", "webhookEndpointCreate", "webhookEndpointUpdate"]);

export type Prepare = (name: string, input: unknown) => Promise<void> | void;

export function createPreparation(names: ResolvedNames): Prepare {
  return (name, input) => {
    const url = givenUrls.has(name) && typeof input === "object" && input !== null && "url" in input ? input.url : undefined;
    return typeof url === "string" ? names.prepare(url) : undefined;
  };
}
