/** What GraphiQL opens with. Every one of them runs on the demo data; a test runs them and counts their statements. */
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
    items {
      title
      score
      matched
      availability
      priceRange { min { amountMinor currency } }
    }
    meta {
      totalItems
      facets { key buckets { label count } }
      query { corrected }
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
];

/** A frontend's whole way: the operations of one tab, run one after the other. */
export const cartWay: ExampleQuery = {
  title: "A cart's way",
  query: `# A frontend's whole way: with a storefront's or an admin's token, run
# one operation after the other (the play button lists them), and copy
# what they answer into the variables below: variantId from Find,
# cartId and lineId from Open, optionId from Address.
query Find {
  publicProduct(merchantSlug: "lindenhof", productSlug: "sund-4-family-tent") {
    title
    variants { id title availability }
  }
}

# The same idempotencyKey again answers the same cart.
mutation Open($variantId: ID!) {
  cartCreate(
    idempotencyKey: "a-new-one-for-each-cart"
    input: { market: "DE", lines: [{ variantId: $variantId, quantity: 1 }] }
  ) {
    id
    version
    lines { id title quantity unitPrice { amountMinor currency } }
  }
}

mutation Fill($cartId: ID!, $lineId: ID!) {
  cartLinesUpdate(cartId: $cartId, input: { lines: [{ lineId: $lineId, quantity: 2 }] }) {
    version
    totalQuantity
    totals { total { amountMinor currency } estimated }
    warnings { code message }
  }
}

# What comes back stands for the address; the address itself is never shown again.
mutation Address($cartId: ID!) {
  cartAddressSet(
    cartId: $cartId
    input: {
      address: {
        recipientName: "Anna Beispiel"
        line1: "Musterweg 1"
        postalCode: "10115"
        city: "Berlin"
        countryCode: "DE"
      }
    }
  ) {
    addressToken
    expiresAt
    address { city postalCodePrefix recipientInitials }
    serviceability { status }
    quote { deliveryOptions { id name price { amountMinor } minDays maxDays } }
  }
}

mutation Deliver($cartId: ID!, $optionId: ID!) {
  cartDeliveryOptionSelect(cartId: $cartId, input: { optionId: $optionId }) {
    version
    delivery { selectedOptionId }
    totals { shipping { amountMinor } tax { amountMinor } total { amountMinor } estimated }
  }
}

mutation Promotion($cartId: ID!, $code: String!) {
  cartPromotionApply(cartId: $cartId, input: { code: $code }) {
    state
    promotion { title kind }
    discount { amountMinor }
    totals { total { amountMinor currency } }
  }
}

query Look($cartId: ID!) {
  cart(id: $cartId) {
    status
    version
    lines { title quantity total { amountMinor } discountAllocations { source amount { amountMinor } } }
    totals { subtotal { amountMinor } discount { amountMinor } shipping { amountMinor } tax { amountMinor } total { amountMinor } }
    address { city postalCodePrefix }
    expiresAt
  }
}`,
  variables: `{
  "variantId": "",
  "cartId": "",
  "lineId": "",
  "optionId": "",
  "code": "LINDEN10"
}`,
};
