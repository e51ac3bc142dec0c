/**
 * Serves the files of exports: `GET /exports/ID.ndjson`, with the same tokens and sessions as CSV reports. A
 * client can continue an interrupted download with a Range header (RFC 9110 section 14).
 */
import { Readable } from "node:stream";
import type { FastifyPluginAsync } from "fastify";
import { createFailure } from "#foundation/failure.ts";
import { isIdOfKind } from "#foundation/ids.ts";
import { createGraphqlContext, type GraphqlServices } from "#graph/context.ts";
import { reportBaseCost } from "#graph/limits.ts";
import { openExportFile } from "#graph/reports/export-file.ts";
import {
  getRateLimitKeyOfAddress,
  type InternalTokenOrStaffAuthenticator,
  addCredentialIdToRequestLog,
} from "#graphql/authenticate.ts";
import { countGraphqlRequestAgainstQuotas, createGraphqlCostCharger } from "#graphql/quotas.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";
import { parseByteRange } from "./byte-range.ts";

export interface ExportsPluginOptions {
  readonly services: GraphqlServices;
  readonly authentication: InternalTokenOrStaffAuthenticator;
  readonly limiter: RateLimiter;
}

/** The cost in points of downloading an export's file, the same as for one report. */
const downloadCost = reportBaseCost;

const extension = ".ndjson";

export const exportDownloadPlugin: FastifyPluginAsync<ExportsPluginOptions> = async (
  server,
  { services, authentication, limiter },
) => {
  server.get<{ Params: { file: string } }>("/exports/:file", async (request, reply) => {
    const viewer = await authentication.authenticateDownload(request);
    addCredentialIdToRequestLog(request, viewer);
    await countGraphqlRequestAgainstQuotas({ viewer, limiter }, reply);
    const { file } = request.params;
    const id = file.endsWith(extension) ? file.slice(0, -extension.length) : "";
    if (!isIdOfKind("export", id))
      throw createFailure("route_not_found", {
        message: "The path must be /exports/ID.ndjson, with the export's id.",
      });
    const client = getRateLimitKeyOfAddress(request);
    const context = createGraphqlContext(services, { viewer, requestId: request.id, client });
    const payment = await createGraphqlCostCharger({ address: client, viewer, limiter })(downloadCost);
    if (payment?.refusal !== undefined) throw payment.refusal;
    const { sizeBytes, read } = await openExportFile(context, id);
    const etag = `"${id}"`;
    const { range, "if-range": condition } = request.headers;
    const part =
      condition === undefined || condition === etag ? parseByteRange(range ?? "", sizeBytes) : undefined;
    const { start, size } = part ?? { start: 0, size: sizeBytes };
    if (part !== undefined) {
      void reply.code(206).header("content-range", `bytes ${start}-${start + size - 1}/${sizeBytes}`);
    }
    return reply
      .headers({
        "cache-control": "no-store",
        "accept-ranges": "bytes",
        etag,
        "content-disposition": `attachment; filename="${file}"`,
        "content-length": String(size),
      })
      .type("application/x-ndjson; charset=utf-8")
      .send(Readable.from(request.method === "HEAD" ? [] : read(start, size)));
  });
};
