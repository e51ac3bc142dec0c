/** Describes policies in Japanese, from the rules of each policy. */
import type { CancellationRules, ReturnRules } from "#commerce/markets/policy-rules.ts";
import type { PolicySummaryWritersByType } from "./english-summaries.ts";

export const japaneseSummaries: PolicySummaryWritersByType = {
  cancellation: (rules) => cancellationSummary(rules),
  return: (rules) => returnSummary(rules),
  withdrawal: ({ windowDays }) =>
    windowDays === 0
      ? "申込みの撤回の権利はありません。"
      : `配達から${windowDays}日以内（配達がない場合は注文から${windowDays}日以内）であれば、理由を示さずに` +
        "購入を撤回できます。",
  warranty: ({ months }) =>
    months === 0
      ? "法律で定められた保証のみです。"
      : `ご購入の商品には配達から${months}か月の保証が付きます。`,
};

function cancellationSummary({ mode, windowMinutes, afterWindow }: CancellationRules): string {
  if (mode === "none") return "購入者は注文をキャンセルできません。";
  const may = mode === "request" ? "注文のキャンセルを申請できます" : "注文をキャンセルできます";
  if (windowMinutes === null)
    return mode === "request"
      ? `発送されるまで${may}。`
      : `梱包が始まるまで${may}。その後はキャンセルを申請できます。`;
  const within = `注文から${windowMinutes}分以内は${may}`;
  if (afterWindow === "deny") return `${within}。その後はできません。`;
  return mode === "request"
    ? `発送されるまで${may}。`
    : `${within}。その後は発送されるまでキャンセルを申請できます。`;
}

function returnSummary({ mode, windowDays, exchangeWindowDays, extendUntil }: ReturnRules): string {
  if (mode === "none") return "ショップは法律で定められた場合にのみ返品を受け付けます。";
  const may = mode === "request" ? "を申請できます" : "できます";
  const returned = `ご購入の商品は${within(windowDays)}返品${may}`;
  const exchanged =
    exchangeWindowDays === null ? "。交換はできません" : `。${within(exchangeWindowDays)}交換${may}`;
  const extended = extendUntil === null ? "" : `。いずれも${extendUntil}までは終了しません`;
  return `${returned}${exchanged}${extended}。`;
}

const within = (windowDays: number | null): string =>
  windowDays === null ? "いつでも" : `配達から${windowDays}日以内に`;
