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
import { builder } from "./builder.ts";

builder.queryType({ description: "Everything that can be read." });

export default builder.toSchema({ sortSchema: false });
