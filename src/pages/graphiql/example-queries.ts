/**
 * The example queries that GraphiQL offers. All of them work with the demo data; a test runs them and counts
 * their SQL statements.
 */
export interface ExampleGraphqlQuery {
  readonly title: string;
  readonly query: string;
  /** The variables of the example as JSON; GraphiQL fills the pane for variables with this text. */
  readonly variables?: string;
}

export const exampleQueries: readonly ExampleGraphqlQuery[] = [
  {
    title: "Search",
    query: `# Search the products of the German market. Try other words, another locale or another sort order.
query Search {
  productSearch(q: "zelt", locale: "de", market: "DE", sort: RELEVANCE, page: 1, pageSize: 10) {
    meta {
      totalItems
      facets { key buckets { label count } }
      query { corrected }
    }
    items {
      title
      score
      matched
      availability
      priceRange { min { amountMinor currency } }
    }
  }
}`,
  },
  {
    title: "Products",
    query: `# The merchant's own catalog: every product in all languages, with stock and prices.
query Products {
  products(first: 10) {
    totalCount
    edges {
      node {
        id
        status
        translations { locale slug title }
        variants {
          sku
          stock { onHand reserved available }
          prices { market { handle } amount { amountMinor currency } }
        }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`,
  },
  {
    title: "Markets",
    query: `# The merchant's markets with their countries, taxes and delivery methods.
query Markets {
  markets {
    handle
    countries
    currency
    taxIncluded
    taxRates { name country basisPoints }
    deliveryMethods { code names price { amountMinor } minDays maxDays }
  }
  policies { type summaries url }
}`,
  },
  {
    title: "Who am I",
    query: `# The role and the merchant of the token that this tab uses.
query WhoAmI {
  viewer {
    credential
    role
    merchant { slug name currencies }
  }
}`,
  },
  {
    title: "Carts",
    query: `# Carts in every status, with their totals. Addresses are masked for all callers.
query Carts {
  carts(first: 20) {
    totalCount
    edges {
      node {
        id
        status
        version
        market
        totalQuantity
        totals { subtotal { amountMinor currency } discount { amountMinor } total { amountMinor } estimated }
        promotion { state suspendedReason promotion { code } }
        address { countryCode city }
        warnings { code message }
      }
    }
  }
}`,
  },
  {
    title: "Orders",
    query: `# The newest orders of one merchant: their statuses, the outstanding amount,
# and whether the buyer can cancel or return the order now.
query Orders {
  orders(last: 20) {
    totalCount
    edges {
      node {
        number
        placedAt
        status
        paymentStatus
        fulfillmentStatus
        returnStatus
        lines { title quantities { ordered canceled shipped delivered returned } total { amountMinor currency } }
        totals { total { amountMinor currency } refunded { amountMinor } outstanding { amountMinor } }
        cancellationEligibility { decision scope reasons { code } deadline { at } }
        afterSalesEligibility { decision lines { options { kind decision eligibleQuantity window { endsAt } } } }
        timeline { at type actor }
      }
    }
  }
}`,
  },
  {
    title: "Webhooks",
    query: `# Webhook endpoints of the installed apps, their health, and their latest deliveries.
# The demo's endpoints have no receiver, so one delivery waits for its next attempt.
query Webhooks {
  installations(first: 2) {
    edges {
      node {
        app { name }
        webhookEndpointList {
          endpoints {
            id
            url
            status
            eventTypes
            health { state consecutiveFailures successRate24h lastFailureAt lastFailure { code httpStatus } }
          }
        }
        webhookLog {
          events {
            type
            occurredAt
            subject { type id version }
            deliveries { id status attemptCount nextAttemptAt lastAttempt { at httpStatus errorCode } replayable }
          }
        }
      }
    }
  }
}`,
  },
];
