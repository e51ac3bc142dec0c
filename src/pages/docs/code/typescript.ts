/** Writes the example requests as calls of the project's TypeScript client. */
import { promotionCodeFirstNote, type ExampleHttpRequest } from "./example-request.ts";

/**
 * The input of an example with the TypeScript client. The client's methods are called with the operation's
 * path and parameters, so the HTTP request alone is not enough.
 */
export interface TypeScriptClientCall {
  /** The operation's path, with its parameters in braces. */
  readonly path: string;
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly queryParameters: Readonly<Record<string, string | number>>;
}

export function formatTypeScriptSample(request: ExampleHttpRequest, call: TypeScriptClientCall): string {
  const { origin } = new URL(request.url);
  const isKeyed = "Authorization" in request.headers;
  const cart = '"/api/v1/open/storefront/carts/{cartId}"';
  const parameters = parametersOf(call);
  const send = (sent: ExampleHttpRequest): string => {
    const options = [...(parameters === undefined ? [] : ["params"]), ...bodyOf(sent)];
    const rest = options.length === 0 ? "" : `, { ${options.join(", ")} }`;
    return `commerce.${sent.method.toLowerCase()}("${call.path}"${rest})`;
  };
  return [
    'import { createCommerceClient } from "@commerce-gateway/client";',
    "",
    `const commerce = createCommerceClient({ baseUrl: "${origin}"${isKeyed ? ', apiKey: process.env.KEY ?? ""' : ""} });`,
    ...(parameters === undefined ? [] : [`const params = ${parameters};`]),
    ...(request.before === null ? [] : [`await ${send(request.before)}; // ${promotionCodeFirstNote}`]),
    ...(request.versionUrl === null
      ? []
      : [
          `const { data: cart } = await commerce.get(${cart}, { params: { path: { cartId: ${cartIdOf(request.versionUrl)} } } });`,
        ]),
    `const { data } = await ${send(request)};`,
    "console.log(data);",
  ].join("\n");
}

function bodyOf({ body, versionUrl }: ExampleHttpRequest): string[] {
  if (body === null) return [];
  const text = spell(body);
  return versionUrl === null ? [`body: ${text}`] : [`body: { ...${text}, expectedVersion: cart.version }`];
}

const cartIdOf = (versionUrl: string): string => JSON.stringify(versionUrl.split("/").at(-1));

function parametersOf({ pathParameters, queryParameters }: TypeScriptClientCall): string | undefined {
  const parts = [
    ...(Object.keys(pathParameters).length === 0 ? [] : [`path: ${spell(pathParameters)}`]),
    ...(Object.keys(queryParameters).length === 0 ? [] : [`query: ${spell(queryParameters)}`]),
  ];
  return parts.length === 0 ? undefined : `{ ${parts.join(", ")} }`;
}

const spell = (value: object): string =>
  JSON.stringify(value, undefined, 1)
    .replaceAll(/\n\s*/g, " ")
    .replaceAll(/"(\w+)": /g, "$1: ");
