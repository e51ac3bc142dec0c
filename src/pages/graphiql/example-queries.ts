/**
 * What GraphiQL opens with. Every one of them runs on the demo data; a test runs them and counts their
 * statements.
 */
export interface ExampleQuery {
  readonly title: string;
  readonly query: string;
  /** What the variables pane opens with, as JSON. */
  readonly variables?: string;
}

export const exampleQueries: readonly ExampleQuery[] = [
  {
    title: "Search",
    query: `# Search as a shopper in Germany does. Try other words, another locale, another sort.
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
    query: `# The merchant's own catalog: what is stored, in all languages, with stock and prices.
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
    query: `# Where the merchant sells, and how.
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
    query: `# The token of this tab.
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
    query: `# Carts in all their states, with what is in them and what they cost. Addresses are masked for everybody.
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
    query: `# The orders of one merchant, the newest first: where each stands, what is
# still to be paid, and what its buyer could do about it at this moment.
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
    query: `# Where apps want to be told of what happens, how their receivers fare, and what
# was sent last. Nothing listens at the demo's: one delivery waits for its next attempt.
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
