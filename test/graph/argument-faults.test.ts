/** Invalid arguments of GraphQL fields: all faults in one answer, each with its path and the whole rule. */
import { expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";

const world = useWorld();

const create = `mutation ($input: PublicWebhookCreateRequest!) {
  webhookEndpointCreate(installationId: "ins_1", input: $input) { endpoint { id } } }`;

it("a mutation reports all faults of its input at once", async () => {
  const input = {
    url: "x".repeat(2049),
    eventTypes: [],
    description: "x".repeat(201),
    maxPerSecond: 0,
    metadata: { ["k".repeat(41)]: "x", note: "x".repeat(501) },
  };
  const { body } = await world().graphql(create, { token: "admin", variables: { input } });
  const [error, ...rest] = body.errors;
  expect([rest, error.message, error.extensions.code]).toEqual([
    [],
    '"url" must have at most 2048 characters.',
    "invalid_field",
  ]);
  const faults = error.extensions.details.map(({ field, code, message }: Record<string, string>) => [
    field,
    code,
    message,
  ]);
  const key = "k".repeat(41);
  expect(faults).toEqual([
    ["/url", "too_long", '"url" must have at most 2048 characters.'],
    ["/eventTypes", "too_short", '"eventTypes" must have 1 to 100 items.'],
    ["/description", "too_long", '"description" must have at most 200 characters.'],
    ["/maxPerSecond", "too_small", '"maxPerSecond" must be an integer from 1 to 100.'],
    [`/metadata/${key}`, "invalid", `"metadata.${key}" must have a name of 1 to 40 characters.`],
    ["/metadata/note", "too_long", '"metadata.note" must have at most 500 characters.'],
  ]);
});
