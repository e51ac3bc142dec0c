/**
 * A small GraphQL schema with the directives of `schema/rest.graphql`, and services in memory. With both,
 * tests execute documents with single Mesh plugins, without a database.
 */
import { readFileSync } from "node:fs";
import { buildSchema, type DocumentNode, execute, type ExecutionResult, type GraphQLSchema } from "graphql";
import type { Plugin } from "graphql-yoga";
import {
  anonymousViewer,
  type ApiKeyViewer,
  type InternalTokenRole,
  type InternalTokenViewer,
  type OauthViewer,
  type PermissionScope,
} from "#access/viewer.ts";
import type { IdempotencyKeyClaim, StoredIdempotentAnswer } from "#database/idempotency.ts";
import type { RowLockWithReadQuery, Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import type { GraphqlContext, GraphqlContextOptions, GraphqlServices } from "#graph/context.ts";
import { createGraphqlExecutorWithPluginHooks, createMeshExecutorWrappingPlugin } from "#mesh/run.ts";

const restDirectives = readFileSync(new URL("../../../schema/rest.graphql", import.meta.url), "utf8");

/** Creates the small schema. The resolvers are members of the root value that a test passes. */
export const createSmallSchema = (): GraphQLSchema =>
  buildSchema(`${restDirectives}
    type Query { item(id: ID): Item  echo(text: String): String  color(color: Color = RED): String }
    type Item { id: ID!  name: String  parent: Item }
    enum Color { RED }
    input ChangeInput { name: String! }
    type Mutation {
      change(idempotencyKey: String, input: ChangeInput): Item
      touch(note: String, idempotencyKey: String): Item
    }
    type Subscription { changed: Item }`);

export const smallPublicUrl = "https://shop.example";

const installation = {
  installationId: "ins_1",
  appId: "app_1",
  merchantId: "mer_1",
  suspended: null,
};

export const createApiKeyViewer = (...scopes: readonly PermissionScope[]): ApiKeyViewer => ({
  kind: "api_key",
  apiKeyId: "key_1",
  keyPrefix: "cpk_test_1",
  scopes: new Set(scopes),
  ...installation,
});

export const createOauthViewer = (...scopes: readonly PermissionScope[]): OauthViewer => ({
  kind: "oauth",
  grantId: "gra_1",
  clientId: "ocl_1",
  scopes: new Set(scopes),
  ...installation,
});

export const createInternalViewer = (role: InternalTokenRole): InternalTokenViewer => ({
  kind: "internal",
  tokenId: "tok_1",
  role,
  merchantId: "mer_1",
});

/** One call of the function that runs a change once for each idempotency key. */
export interface RecordedChange extends IdempotencyKeyClaim {
  readonly lockAndRead: RowLockWithReadQuery | undefined;
}

/** Services that keep the answers of idempotency keys in memory, and record what the plugins do with them. */
export interface SmallServices {
  readonly services: GraphqlServices;
  readonly changes: RecordedChange[];
  readonly events: (readonly unknown[])[];
  readonly transaction: Transaction;
}

export function createSmallServices(given: Partial<GraphqlServices> = {}): SmallServices {
  const changes: RecordedChange[] = [];
  const events: (readonly unknown[])[] = [];
  const transaction = { isTransaction: true } as Transaction;
  const answers = new Map<string, { recorded: StoredIdempotentAnswer; fingerprint: string }>();
  const services = {
    publicUrl: smallPublicUrl,
    clock: { now: () => new Date(0) },
    events: { emit: (...event: readonly unknown[]) => void events.push(event) },
    doOnce: async (
      claim: IdempotencyKeyClaim,
      work: (transaction: Transaction) => Promise<StoredIdempotentAnswer>,
      lockAndRead?: RowLockWithReadQuery,
    ) => {
      changes.push({ ...claim, lockAndRead });
      const fingerprint = Buffer.from(claim.fingerprint).toString("hex");
      const known = answers.get(`${claim.ownerId} ${claim.key}`);
      if (known !== undefined && known.fingerprint !== fingerprint)
        throw createFailure("idempotency_key_reused");
      if (known !== undefined) return { recorded: known.recorded, isReplay: true };
      const recorded = await work(transaction);
      answers.set(`${claim.ownerId} ${claim.key}`, { recorded, fingerprint });
      return { recorded, isReplay: false };
    },
    ...given,
  } as unknown as GraphqlServices;
  return { services, changes, events, transaction };
}

export interface SmallExecution {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly context: GraphqlContext;
  readonly rootValue?: unknown;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
}

/** Executes a document with plugins in the order of `.meshrc.yaml`: the last plugin runs first. */
export async function executeWithPlugins(
  plugins: readonly Plugin[],
  { schema, document, context, rootValue, variables, operationName }: SmallExecution,
): Promise<ExecutionResult> {
  const executor = createMeshExecutorWrappingPlugin(() => (args) => execute(args));
  return createGraphqlExecutorWithPluginHooks([executor, ...plugins])({
    schema,
    document,
    contextValue: context,
    rootValue,
    variableValues: variables,
    operationName,
  });
}

/**
 * Creates the context of an execution without data loaders. The function `createGraphqlContext` of the
 * service would import the loaders and all modules that they need.
 */
export const createSmallContext = (
  services: GraphqlServices,
  options: Partial<GraphqlContextOptions>,
): GraphqlContext =>
  ({
    viewer: anonymousViewer,
    requestId: "req_1",
    buyerReference: null,
    buyerSessionId: null,
    operationId: null,
    isReportFile: false,
    once: null,
    services,
    clock: services.clock,
    publicUrl: services.publicUrl,
    ...options,
  }) as unknown as GraphqlContext;
