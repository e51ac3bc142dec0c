/** The whole graph: imports every part for its effect on the builder. GraphQL Mesh loads this file by .meshrc.yaml. */
import "./scalars.ts";
import "./money.ts";
import "./products.ts";
import "./product-detail.ts";
import "./identity.ts";
import "./tenants.ts";
import "./markets.ts";
import "./catalog.ts";
import "./search.ts";
import "./catalog-mutations.ts";
import "./import.ts";
import "./market-mutations.ts";
import "./access-mutations.ts";
import { builder } from "./builder.ts";

builder.queryType({ description: "Everything that can be read." });
builder.mutationType({ description: "Everything that can be changed. Each mutation is one transaction: all of it happens, or nothing." });

export default builder.toSchema({ sortSchema: false });
