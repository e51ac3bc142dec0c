/** Reads the OpenAPI document over HTTP as a client does, and validates response bodies against it. */
import { Ajv2020 } from "ajv/dist/2020.js";
import type { World } from "./world.ts";

export interface OpenApiParameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: { readonly type: string };
}

export interface SchemaReference {
  readonly $ref?: string;
  readonly allOf?: readonly SchemaReference[];
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly description: string;
  readonly "x-stability": string;
  readonly "x-required-scope"?: string;
  readonly "x-idempotency": string;
  readonly security: readonly Record<string, unknown>[];
  readonly parameters: readonly (OpenApiParameter | { readonly $ref: string })[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Record<string, { readonly schema: { readonly $ref: string } }>;
  };
  readonly responses: Readonly<
    Record<
      string,
      { readonly $ref?: string; readonly content?: Record<string, { readonly schema: SchemaReference }> }
    >
  >;
}

export interface OpenApi {
  readonly openapi: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly parameters: { readonly IdempotencyKey: OpenApiParameter };
    readonly headers: Readonly<Record<string, unknown>>;
    readonly responses: Readonly<Record<string, unknown>>;
    readonly schemas: Readonly<Record<string, unknown>>;
  };
}

export interface Contract {
  readonly document: OpenApi;
  readonly operations: readonly (OpenApiOperation & { readonly method: string; readonly path: string })[];
  /** Lists the violations of the documented response schema by a body; empty if the body is valid. */
  faultsOf(operationId: string, status: number, body: unknown): string[];
}

const id = "https://contract.test/openapi.json";

export async function readContract(world: World): Promise<Contract> {
  const { body } = await world.get("/openapi.json");
  const document = body as OpenApi;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat("date-time", /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  ajv.addFormat("uri", (text) => URL.canParse(text));
  ajv.addFormat("locale", /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?$/);
  ajv.addFormat("country-code", /^[A-Z]{2}$/);
  ajv.addSchema({ ...document }, id);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      Object.assign({}, operation, { path, method: method.toUpperCase() }),
    ),
  );
  return {
    document,
    operations,
    faultsOf: (operationId, status, answered) => {
      const operation = operations.find((candidate) => candidate.operationId === operationId);
      const path = operation?.path.replaceAll("~", "~0").replaceAll("/", "~1");
      const pointer = `/paths/${path}/${operation?.method.toLowerCase()}/responses/${status}`;
      const response = operation?.responses[status];
      const $ref = `${id}#${response?.$ref?.slice(1) ?? encodeURI(pointer)}/content/application~1json/schema`;
      const check = ajv.compile({ $ref });
      return check(answered)
        ? []
        : (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
    },
  };
}
