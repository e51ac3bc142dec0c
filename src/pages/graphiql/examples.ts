/**
 * The example queries among which readers of GraphiQL can choose, in groups. The dialog shows the groups
 * whose examples the role of the current token may run.
 */
import { type InternalTokenRole, internalTokenRoles } from "#access/viewer.ts";
import { exampleQueries, type ExampleGraphqlQuery } from "./example-queries.ts";
import { cartWorkflowExample, orderWorkflowExample } from "./workflow-examples.ts";
import { reportExamples } from "./report-examples.ts";

/** Example queries for a merchant's staff: orders, checkouts, stock, credentials and the audit log. */
const officeExamples: readonly ExampleGraphqlQuery[] = [
  {
    title: "Open checkouts",
    query: `# Open checkout sessions, neither paid nor canceled, with their carts.
query OpenCheckouts {
  hostedCheckoutSessions(status: OPEN, first: 20) {
    totalCount
    edges {
      node {
        id
        paymentStatus
        amountTotal { amountMinor currency }
        expiresAt
        cart { id totalQuantity }
      }
    }
  }
}`,
  },
  {
    title: "Stock that runs low",
    query: `# Stock on hand, reserved and available of each variant, with its low-stock threshold.
query Stock {
  products(status: PUBLISHED, first: 20) {
    edges {
      node {
        translations { locale title }
        variants { sku availability stock { onHand reserved available lowStockThreshold } }
      }
    }
  }
}`,
  },
  {
    title: "Orders to send",
    query: `# Confirmed orders for the warehouse, with their lines and delivery addresses.
# Names and streets are shown to staff and are null for analysts.
query OrdersToSend {
  orders(status: CONFIRMED, first: 20) {
    edges {
      node {
        number
        placedAt
        lines { sku title quantities { ordered allocated shipped } }
        delivery { name carrier }
        shippingAddress { recipientName line1 postalCode city countryCode }
        fulfillments { id status lines { lineId quantity } }
      }
    }
  }
}`,
  },
  {
    title: "Keys and tokens",
    query: `# All API keys and internal tokens, with their last use, expiry and revocation. Secrets are not stored.
query KeysAndTokens {
  apiKeys(first: 20) {
    edges { node { name prefix lastFour mode scopes createdAt lastUsedAt expiresAt revokedAt } }
  }
  internalTokens(first: 20) {
    edges { node { name role lastFour createdAt lastUsedAt expiresAt revokedAt } }
  }
}`,
  },
  {
    title: "Audit trail",
    query: `# The 20 newest entries of the audit trail, oldest first: which actor changed which record.
query AuditTrail {
  auditEntries(last: 20) {
    totalCount
    edges { node { at actor actorId action targetType targetId requestId details } }
  }
}`,
  },
];

/** Example queries for operators of the platform, who may read data of all merchants. */
const platformExamples: readonly ExampleGraphqlQuery[] = [
  {
    title: "Merchants",
    query: `# All merchants of the platform, with their markets and currencies.
query Merchants {
  merchants(first: 50) {
    totalCount
    edges {
      node {
        id
        slug
        name
        mode
        status
        currencies
        catalogVersion
        markets { handle countries currency }
        createdAt
      }
    }
  }
}`,
  },
  {
    title: "Apps and where they are installed",
    query: `# Installed apps of all merchants, with their scopes and the readiness checks that fail.
query AppsInstalled {
  installations(first: 20) {
    totalCount
    edges {
      node {
        status
        app { name publisher }
        merchant { slug }
        scopes
        readiness { status missingScopes checks { code status severity message } }
      }
    }
  }
}`,
  },
  {
    title: "OAuth clients",
    query: `# OAuth clients with their redirect addresses, and the grants that they received.
query OAuthClients {
  oauthClients(first: 20) {
    edges { node { id app { name } authMethod redirectUris createdAt disabledAt } }
  }
  oauthGrants(first: 20) {
    edges { node { id clientId scopes issuedAt expiresAt lastUsedAt revokedAt } }
  }
}`,
  },
  {
    title: "Orders of all merchants",
    query: `# The newest orders of all merchants. Amounts in different currencies are never added.
query AllOrders {
  orders(last: 20) {
    totalCount
    edges { node { number placedAt merchant { slug } status paymentStatus totals { total { amountMinor currency } } } }
  }
}`,
  },
];

/** Example queries that read promotions and returns. */
const recordExamples: readonly ExampleGraphqlQuery[] = [
  {
    title: "Promotions in force",
    query: `# Active promotions with their trigger, discount, number of uses and end.
query PromotionsInForce {
  promotions(status: ACTIVE, first: 20) {
    totalCount
    edges {
      node {
        titles
        trigger
        kind
        basisPoints
        amount { amountMinor currency }
        used
        usageLimit
        startsAt
        endsAt
        codes(first: 5) { totalCount edges { node { code used usageLimit } } }
      }
    }
  }
}`,
  },
  {
    title: "Returns of orders",
    query: `# Orders with their returns: the reasons, the units and the refunds.
query ReturnsOfOrders {
  orders(last: 50) {
    edges {
      node {
        number
        returnStatus
        returns {
          status
          kind
          reason
          requestedAt
          closedAt
          refund { amountMinor currency }
          lines { lineId quantity accepted restocked }
        }
      }
    }
  }
}`,
  },
];

/** Example queries for storefronts. Each example has one operation. */
const storefrontExamples: readonly ExampleGraphqlQuery[] = [
  {
    title: "Product page",
    query: `# The data of a product page in the buyer's language: variants, prices and policies.
query ProductPage($slug: String!, $languages: [LocaleCode!]) {
  publicProduct(merchantSlug: "lindenhof", productSlug: $slug, languages: $languages) {
    title
    summary
    locale
    localizedSlugs { locale slug }
    image { url alt width height }
    options { name values { code label } }
    variants {
      id
      title
      availability
      offers { market price { amountMinor currency exponent } lowest30d { amountMinor } }
    }
    policies { type summary }
  }
}`,
    variables: `{
  "slug": "sund-4-family-tent",
  "languages": ["de", "en"]
}`,
  },
  {
    title: "Category tree",
    query: `# The categories for a menu, each with its parent category.
query CategoryTree {
  categories(first: 50) {
    edges { node { slug names position parent { slug } } }
  }
}`,
  },
];

export interface ExampleGraphqlQueryGroup {
  readonly title: string;
  readonly roles: readonly InternalTokenRole[];
  readonly examples: readonly ExampleGraphqlQuery[];
}

function examplesTitled(...titles: readonly string[]): readonly ExampleGraphqlQuery[] {
  return exampleQueries.filter(({ title }) => titles.includes(title));
}

/** The roles of internal tokens that may read all data of a merchant. */
const readers: readonly InternalTokenRole[] = ["analyst", "admin", "operator"];

/** The groups of example queries. Each role of a group can run all examples of the group, which a test checks. */
export const exampleGroups: readonly ExampleGraphqlQueryGroup[] = [
  { title: "Start here", roles: internalTokenRoles, examples: examplesTitled("Search", "Who am I") },
  { title: "Reports", roles: readers, examples: reportExamples },
  {
    title: "Orders, carts and promotions",
    roles: readers,
    examples: [...examplesTitled("Orders", "Carts"), ...recordExamples],
  },
  { title: "Catalog and integrations", roles: readers, examples: examplesTitled("Products", "Webhooks") },
  { title: "Back office", roles: ["admin", "operator"], examples: officeExamples },
  { title: "Platform", roles: ["operator"], examples: platformExamples },
  {
    title: "Pages of a storefront",
    roles: ["storefront", "admin", "analyst"],
    examples: [...examplesTitled("Markets"), ...storefrontExamples],
  },
  { title: "Step by step: a purchase", roles: ["storefront", "admin"], examples: [cartWorkflowExample] },
  { title: "Step by step: an order", roles: ["admin"], examples: [orderWorkflowExample] },
];

/**
 * The example queries that GraphiQL opens as tabs when it is first used. Every role can run them. The dialog
 * with examples offers all others.
 */
export const initialExamples: readonly ExampleGraphqlQuery[] = examplesTitled("Search", "Who am I");
