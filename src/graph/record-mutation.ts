/** The audit entry of a mutation, written in the transaction of its change. `changeMutation` calls this for every mutation, so none is left out. */
import { appendAudit, auditedActor, idIn } from "#access/audit.ts";
import type { Transaction } from "#database/transaction.ts";
import type { GraphContext } from "./context.ts";

/** A mutation as it was called. */
interface CalledMutation {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

interface RecordedChange {
  readonly mutation: CalledMutation;
  /** Null: the platform's, or that of what was changed. */
  readonly merchantId: string | null;
  readonly now: Date;
  /** What the rule answered with. */
  readonly changed: unknown;
}

export async function recordMutation(transaction: Transaction, context: GraphContext, change: RecordedChange): Promise<void> {
  const { viewer, operationId, requestId } = context;
  const { mutation, merchantId, now, changed } = change;
  const actor = auditedActor(viewer);
  if (actor === undefined) return;
  const targetId = targetOf(mutation, changed) ?? null;
  await appendAudit(transaction, {
    ...actor,
    merchantId,
    now,
    action: operationId ?? mutation.name,
    targetId,
    requestId,
    details: detailsOf(mutation, targetId),
  });
}

/** What the call names beside its input, else what came of it, else what the input names. */
function targetOf({ args }: CalledMutation, changed: unknown): string | undefined {
  const { merchantId: _merchant, input, ...own } = args;
  return idOf(own) ?? idIn(changed) ?? idOf(changed) ?? idWithin(changed) ?? idOf(input);
}

/** Of what is answered beside something else, as a new thing is beside its secret. */
const idWithin = (changed: unknown): string | undefined =>
  typeof changed !== "object" || changed === null || Array.isArray(changed)
    ? undefined
    : Object.values(changed)
        .map((part: { readonly id?: unknown } | null) => idIn(part?.id))
        .find((id) => id !== undefined);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

/** Its own id, or the first that it names. */
function idOf(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const { id, merchantId, ...others } = value;
  return idIn(id) ?? namedIds(others)[0]?.[1] ?? idIn(merchantId);
}

const namedIds = (value: object): [name: string, id: string][] =>
  Object.entries(value).flatMap(([name, one]): [string, string][] => {
    const id = name.endsWith("Id") ? idIn(one) : undefined;
    return id === undefined ? [] : [[name, id]];
  });

/** No fields of things: they say on which version, or why. */
const circumstances = new Set(["expectedVersion", "reason", "note"]);
/** What is kept nowhere else of why a promotion was taken off. */
const keepingNotes = new Set(["cartPromotionRemove"]);

/** The names of the fields that were given, and whatever else was named by its id. */
function detailsOf({ name, args }: CalledMutation, targetId: string | null): Readonly<Record<string, unknown>> {
  const input = isObject(args["input"]) ? args["input"] : {};
  const given = Object.entries(input).filter(([, value]) => value !== undefined && value !== null);
  const ids = namedIds(input).filter(([field, id]) => id !== targetId && field !== "merchantId");
  const fields = given.map(([field]) => field).filter((field) => !circumstances.has(field) && idIn(input[field]) === undefined);
  const { reason, note } = input;
  return {
    ...(fields.length === 0 ? {} : { fields: fields.toSorted() }),
    ...Object.fromEntries(ids),
    // A word of ours, and not a text of theirs.
    ...(typeof reason === "string" && /^[a-z_]{1,40}$/.test(reason) ? { reason } : {}),
    ...(typeof note === "string" && keepingNotes.has(name) ? { note } : {}),
  };
}
