/**
 * The example queries as GraphiQL's picker shows them: grouped by who runs them, each group with the roles
 * whose tokens may run it.
 */
import { type InternalRole, internalRoles } from "#access/viewer.ts";
import { exampleQueries, type ExampleQuery } from "./example-queries.ts";
import { cartWorkflowExample, orderWorkflowExample } from "./workflow-examples.ts";
import { reportExamples } from "./report-examples.ts";

/** What a merchant's own staff ask: their buyers' orders, their checkouts, who may do what. */
const officeExamples: readonly ExampleQuery[] = [
  {
    title: "Open checkouts",
    query: `# Who stands at the cash desk: checkout sessions that are neither paid nor canceled, with their carts.
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
    query: `# What is on the shelf, promised and free, next to the mark below which it is called low.
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
    query: `# What the warehouse sees: confirmed orders, what is in each, and where it goes.
# Names and streets are shown to staff, and stay empty for analysts.
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
    query: `# Every API key and internal token, when it was last used and whether it still works. The secrets themselves are not kept.
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
    query: `# Who changed what, the latest last.
query AuditTrail {
  auditEntries(last: 20) {
    totalCount
    edges { node { at actor actorId action targetType targetId requestId details } }
  }
}`,
  },
];

/** What the platform asks about all its merchants. */
const platformExamples: readonly ExampleQuery[] = [
  {
    title: "Merchants",
    query: `# Every merchant of the platform, where it sells and in which currencies.
query Merchants {
  merchants(first: 50) {
    totalCount
    edges { node { id slug name mode status currencies catalogVersion markets { handle countries currency } createdAt } }
  }
}`,
  },
  {
    title: "Apps and where they are installed",
    query: `# Which app may do what at which merchant, and what keeps it from working.
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
    query: `# The apps that sign in by OAuth, where they send people back to, and what is in force.
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
    query: `# The newest orders, whoever sold them. Amounts of two currencies are never added.
query AllOrders {
  orders(last: 20) {
    totalCount
    edges { node { number placedAt merchant { slug } status paymentStatus totals { total { amountMinor currency } } } }
  }
}`,
  },
];

/** What analysts ask beside the reports: single things, without the buyers' personal data. */
const analystExamples: readonly ExampleQuery[] = [
  {
    title: "Promotions in force",
    query: `# What is being given away: by code or by itself, how often each was used, and until when.
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
    query: `# Which orders came back, why, and what was given back for them.
query ReturnsOfOrders {
  orders(last: 50) {
    edges {
      node {
        number
        returnStatus
        returns { status kind reason requestedAt closedAt refund { amountMinor currency } lines { lineId quantity accepted restocked } }
      }
    }
  }
}`,
  },
];

/** What a storefront asks: one query each. */
const storefrontExamples: readonly ExampleQuery[] = [
  {
    title: "Product page",
    query: `# All that a product's page shows, in the buyer's language: variants, prices, policies.
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
    query: `# The categories for a menu, each with what it stands below.
query CategoryTree {
  categories(first: 50) {
    edges { node { slug names position parent { slug } } }
  }
}`,
  },
];

export interface ExampleGroup {
  readonly title: string;
  readonly roles: readonly InternalRole[];
  readonly examples: readonly ExampleQuery[];
}

function examplesTitled(...titles: readonly string[]): readonly ExampleQuery[] {
  return exampleQueries.filter(({ title }) => titles.includes(title));
}

export const exampleGroups: readonly ExampleGroup[] = [
  {
    title: "For analysts",
    roles: ["analyst", "admin", "operator"],
    examples: [...reportExamples, ...analystExamples, ...examplesTitled("Orders", "Carts", "Webhooks")],
  },
  {
    title: "For storefronts",
    roles: ["storefront", "admin"],
    examples: [...examplesTitled("Markets"), ...storefrontExamples, cartWorkflowExample],
  },
  {
    title: "For back office",
    roles: ["admin", "operator"],
    examples: [...examplesTitled("Products"), ...officeExamples, orderWorkflowExample],
  },
  { title: "For the platform", roles: ["operator"], examples: platformExamples },
  { title: "For everybody", roles: internalRoles, examples: examplesTitled("Search", "Who am I") },
];

/** What GraphiQL opens with: the rest is in the picker. */
export const initialExamples: readonly ExampleQuery[] = examplesTitled("Search", "Who am I", "Orders");
