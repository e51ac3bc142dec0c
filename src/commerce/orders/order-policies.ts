/** The policy that an order was placed under, with its rules as what they are. */
import type { PolicyType } from "#commerce/markets/policies.ts";
import type { RulesByType } from "#commerce/markets/policy-rules.ts";
import type { OrderAggregate, OrderPolicy } from "./order-aggregate.ts";

export type PolicyOfType<Type extends PolicyType> = Omit<OrderPolicy, "rules"> & { readonly rules: RulesByType[Type] };

export function policyOf<Type extends PolicyType>({ id, policies }: Pick<OrderAggregate, "id" | "policies">, type: Type): PolicyOfType<Type> {
  const policy = policies.find((candidate) => candidate.type === type);
  if (policy === undefined) throw new Error(`Order ${id} was placed without a policy of type ${type}.`);
  return { ...policy, rules: policy.rules as RulesByType[Type] };
}
