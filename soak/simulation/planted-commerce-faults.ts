/** Deliberate faults of carts, checkouts, payments and orders, which the simulation must find. */

export interface PlantedFault {
  readonly name: string;
  /** The path of the changed file, from the project's folder. */
  readonly file: string;
  /** The replaced texts, each of which occurs in the file, and their replacements. */
  readonly changes: readonly (readonly [text: string, replacement: string])[];
}

const execute = "src/commerce/payments/execute-payment-operation.ts";

export const plantedCommerceFaults: readonly PlantedFault[] = [
  {
    name: "the lease of a killed process on a payment operation never ends",
    file: "src/commerce/payments/payment-operations.ts",
    changes: [
      [
        "(d.leased_until is null\n        or d.leased_until <= ${now}::timestamptz)",
        "d.leased_until is null",
      ],
    ],
  },
  {
    name: "the lease of a killed process on a payment operation ends after five minutes",
    file: "src/commerce/payments/payment-operations.ts",
    changes: [["paymentOperationLeaseMs = 30_000", "paymentOperationLeaseMs = 300_000"]],
  },
  {
    name: "each payment operation is attempted twice",
    file: "src/commerce/payments/driver.ts",
    changes: [["  if (outcome === undefined)\n", "  if (outcome === undefined || attempts === 1)\n"]],
  },
  {
    name: "captures are not sent to the payment provider",
    file: "src/commerce/payments/payment-operations.ts",
    changes: [
      [
        "where d.status = 'pending' and d.due_at",
        "where d.kind <> 'capture' and d.status = 'pending' and d.due_at",
      ],
    ],
  },
  {
    name: "only notices start a search for payment operations",
    file: "src/commerce/payments/driver.ts",
    changes: [["      poll.start();\n", ""]],
  },
  {
    name: "a lost answer of the payment provider counts as a refusal",
    file: execute,
    changes: [
      [
        "return { outcome: endsWithTimeout ? timedOut : undefined, error };",
        'void endsWithTimeout; return { outcome: { outcome: "declined", code: "other" }, error };',
      ],
    ],
  },
  {
    name: "a repeated authorization has a new key and asks for no state before",
    file: execute,
    changes: [
      ["if (operation.attempts > 1 || hasTimedOut) {", "if (hasTimedOut) {"],
      ["idempotencyKey: id,", "idempotencyKey: `${id}.${operation.attempts}`,"],
    ],
  },
  {
    name: "a canceled checkout keeps its stock",
    file: "src/commerce/checkout/end-session.ts",
    changes: [["  await releaseStockHolds(transaction, owner, { sessionId });\n", ""]],
  },
  {
    name: "a declined payment keeps its promotion uses",
    file: "src/commerce/checkout/fail-session.ts",
    changes: [["  await releasePromotionUses(transaction, { sessionId: session.id, now });\n", ""]],
  },
  {
    name: "a checkout can be canceled while its payment is processed",
    file: "src/commerce/checkout/release-sessions.ts",
    changes: [["  requireOpenCheckoutSession(session, input, context.now);\n", ""]],
  },
  {
    name: "the outcome of a payment is saved before its order, in a transaction of its own",
    file: "src/commerce/orders/payment/settle-payment.ts",
    changes: [
      [
        "  return runOrderChangeAsSystem(services, operation.merchantId, (transaction, context) =>",
        `  return runOrderChangeAsSystem(services, operation.merchantId, (transaction, { now }) =>
    recordPaymentOperationResult(transaction, { id: operation.id, failureCode: null, now }),
  ).then(() => runOrderChangeAsSystem(services, operation.merchantId, (transaction, context) =>`,
      ],
      [
        "savePaymentOperationOutcome(transaction, context, { operation, outcome, log: services.log }),\n  );",
        "savePaymentOperationOutcome(transaction, context, { operation, outcome, log: services.log }),\n  ));",
      ],
      [
        "if (!(await recordPaymentOperationResult(transaction, { id: operation.id, failureCode, now }))) return;",
        "void failureCode;",
      ],
    ],
  },
  {
    name: "a payment that the provider does not know counts as declined",
    file: execute,
    changes: [
      [
        '    if (found.outcome !== "unknown") return found;\n',
        '    if (found.outcome === "unknown") return { outcome: "declined", code: "other" };\n    return found;\n',
      ],
    ],
  },
  {
    name: "the expected version of a cart is not compared",
    file: "src/commerce/carts/cart-status.ts",
    changes: [
      ['    throw createCartConflictFailure("cart_version_conflict", cart, { now });', "    void cart;"],
    ],
  },
  {
    name: "the payment of a buyer who gave up is not voided",
    file: "src/commerce/checkout/fail-session.ts",
    changes: [["  await queuePaymentOperation(transaction, {", "  void ({"]],
  },
  {
    name: "the second payment of a checkout has the key of the first one",
    file: execute,
    changes: [["idempotencyKey: id,", 'idempotencyKey: kind === "authorize" ? operation.sessionId : id,']],
  },
  {
    name: "the events of background work are inserted in a transaction of their own",
    file: "src/commerce/orders/change-order.ts",
    changes: [
      [
        `  const runInOutbox = (transaction: Transaction): Promise<Changed> =>
    runFunctionAndInsertOutboxEvents(transaction, { merchantId, now, cause: systemCause, render }, (outbox) =>
`,
        `  const appended: any[] = [];
  const outbox: any = {
    append: (event: any) => appended.push(() => [event]),
    appendLast: (create: any) => appended.push(create),
  };
  const runInOutbox = (transaction: Transaction): Promise<Changed> =>
    Promise.resolve(
`,
      ],
      [
        "  return runInTransaction(db, runInOutbox, { merchantId });\n",
        `  return runInTransaction(db, runInOutbox, { merchantId }).then(async (changed) => {
    const context = { merchantId, now, cause: systemCause, render };
    await runInTransaction(db, (later) =>
      runFunctionAndInsertOutboxEvents(later, context, async (last) => {
        for (const create of appended) for (const event of create()) last.append(event);
      }),
    );
    return changed;
  });
`,
      ],
    ],
  },
];
