/** Everything that people look at, and what machines ask beside the contract: health, figures, pictures. */
import type { FastifyInstance } from "fastify";
import type { OpenDatabase } from "#database/connect.ts";
import { refuseOtherMethods } from "#http/server.ts";
import { mountAssets } from "#pages/shared/assets.ts";
import { mountGraphiql } from "#pages/graphiql/plugin.ts";
import { mountTypeMap } from "#pages/graphiql/type-map-page.ts";
import { mountHealth } from "#observability/health.ts";
import { type MetricsPage, mountMetrics } from "#observability/metrics-page.ts";
import { mountPictures } from "#pages/demo-pictures.ts";
import type { Role } from "./background.ts";

export interface PageServices extends Pick<OpenDatabase, "db"> {
  /** Where the service stands: with its path, addresses in pages begin. */
  readonly publicUrl: string;
  readonly metrics: MetricsPage;
}

/** A worker shows its health and its figures alone. */
export function mountPages(server: FastifyInstance, { db, publicUrl, metrics }: PageServices, role: Role): void {
  mountHealth(server, db);
  mountMetrics(server, metrics);
  for (const path of ["/healthz", "/readyz", "/metrics"]) refuseOtherMethods(server, path, ["GET"]);
  if (role === "worker") return;
  mountGraphiql(server, publicUrl);
  mountTypeMap(server, publicUrl);
  refuseOtherMethods(server, "/graphql/map", ["GET"]);
  mountAssets(server);
  refuseOtherMethods(server, "/assets/:file", ["GET"]);
  mountPictures(server);
  refuseOtherMethods(server, "/media/demo/:file", ["GET"]);
}
