/**
 * Runs a tool call as a request to the REST operation of the tool, inside this process. The request passes
 * all steps of a REST request, so the same scopes, rate limits, validation, idempotency, audit and request
 * log apply.
 */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { FastifyInstance, FastifyRequest, LightMyRequestResponse } from "fastify";
import type { ApiKeyOrOauthViewer } from "#access/viewer.ts";
import { runInternalRequestAsVerifiedViewer } from "#gateway/steps/authorize.ts";
import {
  bodyArgumentName,
  idempotencyKeyArgumentName,
  languageArgumentName,
  type RestOperationWithMcpTool,
} from "./operation-tools.ts";

/** An MCP request and its caller. */
export interface McpRequestWithViewer {
  readonly request: FastifyRequest;
  /** The verified owner of the request's credential; undefined if the caller sent no credential. */
  readonly viewer: ApiKeyOrOauthViewer | undefined;
}

/**
 * Sends the tool call as a request to its REST operation and returns the answer. Never throws for errors of
 * the operation.
 */
export async function callRestOperationForMcp(
  server: FastifyInstance,
  { operation, tool }: RestOperationWithMcpTool,
  {
    caller,
    args,
  }: { readonly caller: McpRequestWithViewer; readonly args: Readonly<Record<string, unknown>> },
): Promise<CallToolResult> {
  const call = readArguments(tool.inputSchema, args);
  if (typeof call === "string") return toErrorResult(call);
  const { request, viewer } = caller;
  // `inject` sends the request only when its result is awaited. The result is therefore awaited here, inside
  // the function that runs with the rights of the verified caller.
  const send = async (): Promise<LightMyRequestResponse> => {
    const sent = await server.inject({
      method: operation.method,
      url: toUrl(operation, call.values),
      remoteAddress: request.ip,
      headers: toHeaders({ request, viewer }, call),
      ...(call.body === undefined ? {} : { payload: call.body }),
    });
    return sent;
  };
  const answer = await (viewer === undefined ? send() : runInternalRequestAsVerifiedViewer(viewer, send));
  if (answer.statusCode !== 200) return toErrorResult(answer.body);
  return {
    content: [{ type: "text", text: answer.body }],
    structuredContent: answer.json<Record<string, unknown>>(),
  };
}

const toErrorResult = (text: string): CallToolResult => ({
  isError: true,
  content: [{ type: "text", text }],
});

/** The arguments of an MCP tool call, converted to the form in which the REST request sends them. */
interface OperationArguments {
  /** The body of the REST request as JSON text; undefined if the request has no body. */
  readonly body: string | undefined;
  /** The values of all arguments except the body, by the name of the argument. */
  readonly values: ReadonlyMap<string, string>;
}

/**
 * Reads the arguments of a tool call. If arguments are unknown or missing, or cannot be written into a URL or
 * a header, returns a message that names all of them. The values are not validated here; the REST operation
 * validates them.
 */
function readArguments(
  { properties = {}, required = [] }: RestOperationWithMcpTool["tool"]["inputSchema"],
  args: Readonly<Record<string, unknown>>,
): OperationArguments | string {
  const names = Object.keys(properties);
  const { [bodyArgumentName]: body, ...others } = args;
  const unknown = Object.keys(args).filter((name) => !names.includes(name));
  const missing = required.filter((name) => args[name] === undefined);
  const broken = Object.entries(others).flatMap(([name, value]) => {
    const rule = unknown.includes(name) ? undefined : findBrokenRule(name, value);
    return rule === undefined ? [] : [`The argument "${name}" must ${rule}.`];
  });
  const allowed = names.length === 0 ? "The tool has no arguments." : `Allowed: ${names.join(", ")}.`;
  const faults = [
    ...unknown.map((name) => `The argument "${name}" is unknown.`),
    ...missing.map((name) => `The argument "${name}" is required.`),
    ...(unknown.length + missing.length === 0 ? [] : [allowed]),
    ...broken,
  ];
  if (faults.length > 0) return faults.join(" ");
  return {
    body: body === undefined ? undefined : JSON.stringify(body),
    values: new Map(Object.entries(others).map(([name, value]) => [name, String(value)])),
  };
}

const headerArguments: ReadonlySet<string> = new Set([idempotencyKeyArgumentName, languageArgumentName]);

function findBrokenRule(name: string, value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean")
    return "be a text, a number or a boolean";
  return headerArguments.has(name) && !/^[\x20-\x7e]*$/.test(String(value))
    ? "consist of printable ASCII characters"
    : undefined;
}

/**
 * Returns the path and query of the REST request for a tool call. Argument values are percent-encoded, so
 * that no value can change the path to that of another operation.
 */
function toUrl(
  { path, parameters }: RestOperationWithMcpTool["operation"],
  values: OperationArguments["values"],
): string {
  const encoded = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeSegment(values.get(name) ?? ""),
  );
  const query = new URLSearchParams();
  for (const { name, in: location } of parameters) {
    const value = values.get(name);
    if (location === "query" && value !== undefined) query.set(name, value);
  }
  return query.size === 0 ? encoded : `${encoded}?${query.toString()}`;
}

/**
 * Encodes a value as one path segment. URL parsers remove the segments `.` and `..` even if they are encoded.
 * These and empty values are replaced by a control character, which no id has, so that the answer is 404.
 */
const encodeSegment = (value: string): string =>
  /^\.{0,2}$/.test(value) ? "%00" : encodeURIComponent(value.toWellFormed());

function toHeaders(
  { request: { headers, ip }, viewer }: McpRequestWithViewer,
  { body, values }: OperationArguments,
): Record<string, string> {
  const { host } = headers;
  // The REST API accepts access tokens only with the scheme DPoP. The owner of the token has already been
  // verified, so this internal request needs no proof.
  const authorization =
    viewer?.kind === "oauth" ? headers.authorization?.replace(/^bearer /i, "DPoP ") : headers.authorization;
  const key = values.get(idempotencyKeyArgumentName);
  const language = values.get(languageArgumentName);
  return {
    ...(host === undefined ? {} : { host }),
    // The header X-Forwarded-For contains the IP address of the MCP caller, because a service that runs
    // behind proxies reads the address of a caller from this header.
    "x-forwarded-for": Array.from({ length: proxyHopsMax }, () => ip).join(", "),
    ...(authorization === undefined ? {} : { authorization }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(key === undefined ? {} : { "idempotency-key": key }),
    ...(language === undefined ? {} : { "accept-language": language }),
  };
}

/**
 * The highest allowed value of the setting TRUST_PROXY, which is the number of proxies. The header repeats
 * the caller's address for each possible proxy.
 */
const proxyHopsMax = 10;
