/** The stock service of an ERP, as another company would run it: an HTTP API with an OpenAPI document. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export const erpDocument = {
  openapi: "3.0.3",
  info: { title: "ERP stock", version: "1.0.0" },
  paths: {
    "/stock/{sku}": {
      get: {
        operationId: "erpStock",
        description: "The stock of one article in all warehouses.",
        parameters: [{ name: "sku", in: "path", required: true, schema: { type: "string" } }],
        responses: {
          200: {
            description: "The stock.",
            content: { "application/json": { schema: { $ref: "#/components/schemas/ErpStock" } } },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      ErpStock: {
        type: "object",
        description: "The stock of an article, as the ERP counts it.",
        properties: {
          sku: { type: "string", description: "The article." },
          onHand: { type: "integer", description: "Pieces in all warehouses." },
          warehouse: { type: "string", description: "The warehouse that ships first." },
        },
      },
    },
  },
};

export interface Erp extends AsyncDisposable {
  readonly address: string;
  /** The requested SKUs. */
  readonly requestedSkus: string[];
  /** The SKU whose request is answered with 500. */
  failsFor: string | undefined;
}

export async function startErp(): Promise<Erp> {
  const requestedSkus: string[] = [];
  const server: Server = createServer((request, response) => {
    const sku = decodeURIComponent(request.url?.split("/").at(-1) ?? "");
    requestedSkus.push(sku);
    response.statusCode = sku === erp.failsFor ? 500 : 200;
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify(
        response.statusCode === 500
          ? { secret: "ERP-INTERNAL" }
          : { sku, onHand: sku.length, warehouse: "Rotterdam" },
      ),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const erp: Erp = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requestedSkus,
    failsFor: undefined,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return erp;
}
