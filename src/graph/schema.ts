/** The whole graph: imports every part for its effect on the builder. GraphQL Mesh loads this file by .meshrc.yaml. */
import "./scalars.ts";
import "#graph/catalog/money.ts";
import "#graph/catalog/products.ts";
import "#graph/catalog/product-detail.ts";
import "#graph/access/identity.ts";
import "#graph/access/tenants.ts";
import "#graph/markets/markets.ts";
import "#graph/catalog/kept-products.ts";
import "#graph/catalog/search.ts";
import "#graph/catalog/mutations.ts";
import "#graph/catalog/import.ts";
import "#graph/markets/mutations.ts";
import "#graph/access/mutations.ts";
import "#graph/promotions/promotions.ts";
import "#graph/promotions/mutations.ts";
import "#graph/carts/promotion-state.ts";
import "#graph/carts/carts.ts";
import "#graph/carts/mutations.ts";
import "#graph/carts/addresses.ts";
import { builder } from "./builder.ts";

builder.queryType({ description: "Everything that can be read." });
builder.mutationType({ description: "Everything that can be changed. Each mutation is one transaction: all of it happens, or nothing." });

export default builder.toSchema({ sortSchema: false });
