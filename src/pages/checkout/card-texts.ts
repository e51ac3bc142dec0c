/** Texts of the test card form and of the bank's confirmation page in English, German and Japanese. */

/**
 * A text in English, German and Japanese, like `EnglishGermanJapaneseText` of texts.ts. This file cannot
 * import that type, because texts.ts imports this file.
 */
type CardTexts = readonly [en: string, de: string, ja: string];

export const cardTexts = {
  paymentTest: [
    "This is a test shop: use a test card. The card number is neither stored nor passed on.",
    "Dies ist ein Testshop: Verwenden Sie eine Testkarte. Die Kartennummer wird weder gespeichert noch " +
      "weitergegeben.",
    "これはテスト用のショップです。テストカードをお使いください。カード番号は保存も転送もされません。",
  ],
  cardNumber: ["Card number", "Kartennummer", "カード番号"],
  cardExpiry: ["Expiry MM/YY", "Gültig bis MM/JJ", "有効期限（月/年）"],
  cardCvc: ["Security code", "Prüfziffer", "セキュリティコード"],
  cardName: ["Name on card", "Name auf der Karte", "カード名義"],
  cardList: ["Test cards", "Testkarten", "テストカード"],
  cardListHint: [
    "Any future expiry date, name and 3-digit security code works (4 digits for American Express).",
    "Jedes künftige Ablaufdatum, jeder Name und jede dreistellige Prüfziffer passt (bei American Express " +
      "vierstellig).",
    "有効期限は未来の日付、名義とセキュリティコード（3桁、American Express は4桁）は任意です。",
  ],
  cardUse: ["Fill in", "Eintragen", "入力する"],
  cardNumberEmpty: [
    "Enter a test card number.",
    "Geben Sie die Nummer einer Testkarte ein.",
    "テストカードの番号を入力してください。",
  ],
  cardNumberUnknown: [
    "This is a test shop: use a test card number, for example 4242 4242 4242 4242.",
    "Dies ist ein Testshop: Verwenden Sie die Nummer einer Testkarte, zum Beispiel 4242 4242 4242 4242.",
    "これはテスト用のショップです。テストカードの番号（例：4242 4242 4242 4242）をお使いください。",
  ],
  cardExpiryMalformed: [
    "Enter the expiry date as month and year, for example 12/34.",
    "Geben Sie das Ablaufdatum als Monat und Jahr ein, zum Beispiel 12/34.",
    "有効期限を月と年で入力してください（例：12/34）。",
  ],
  cardExpiryPast: [
    "The expiry date is in the past. Enter the current month or a later one.",
    "Das Ablaufdatum ist vorbei. Geben Sie den aktuellen oder einen späteren Monat ein.",
    "有効期限が切れています。今月以降の年月を入力してください。",
  ],
  cardCvcMalformed: [
    "Enter the security code: {digits} digits.",
    "Geben Sie die Prüfziffer ein: {digits} Ziffern.",
    "セキュリティコード（{digits}桁）を入力してください。",
  ],
  cardNameEmpty: [
    "Enter the name on the card, at most 100 characters.",
    "Geben Sie den Namen auf der Karte ein, höchstens 100 Zeichen.",
    "カード名義を100文字以内で入力してください。",
  ],
  tok_success: ["The payment succeeds", "Die Zahlung gelingt", "成功する"],
  tok_challenge: [
    "The bank asks you to confirm (3-D Secure)",
    "Die Bank verlangt eine Bestätigung (3-D Secure)",
    "カード会社の本人認証（3Dセキュア）が必要",
  ],
  tok_challenge_decline: [
    "The bank asks you to confirm, then declines",
    "Die Bank verlangt eine Bestätigung und lehnt dann ab",
    "本人認証のあと拒否される",
  ],
  tok_decline: ["The card is declined", "Die Karte wird abgelehnt", "カードが拒否される"],
  tok_decline_insufficient_funds: [
    "The card has insufficient funds",
    "Das Guthaben reicht nicht",
    "残高が不足している",
  ],
  tok_decline_expired_card: ["The card has expired", "Die Karte ist abgelaufen", "期限切れのカード"],
  tok_decline_incorrect_cvc: [
    "The security code is wrong",
    "Die Prüfziffer ist falsch",
    "セキュリティコードが誤っている",
  ],
  tok_slow: [
    "The payment succeeds after a few seconds",
    "Die Zahlung gelingt nach einigen Sekunden",
    "数秒後に成功する",
  ],
  tok_late_success: [
    "The provider answers too late, after 20 minutes",
    "Die Antwort kommt zu spät, nach 20 Minuten",
    "応答が20分後に届く（時間切れ）",
  ],
  offline: [
    "The connection was lost, so the payment is not confirmed yet. Your entries are still here. As soon as " +
      "you are online, this page finds out what happened and sends the payment again if it did not arrive. " +
      "You pay at most once.",
    "Die Verbindung ist abgebrochen, die Zahlung ist noch nicht bestätigt. Ihre Eingaben bleiben erhalten. " +
      "Sobald Sie wieder online sind, prüft diese Seite, was geschehen ist, und sendet die Zahlung noch " +
      "einmal, falls sie nicht ankam. Sie bezahlen höchstens einmal.",
    "接続が切れたため、お支払いはまだ確認できていません。入力内容は残っています。オンラインに戻ると、" +
      "このページが状況を確認し、届いていない場合だけもう一度送信します。二重に支払われることはありません。",
  ],
  challenge: ["Your bank asks you to confirm", "Ihre Bank bittet um Bestätigung", "カード会社による本人認証"],
  challengeText: [
    "Confirm the payment of {amount} to {merchant}. This is the page of a test bank: choose what it answers.",
    "Bestätigen Sie die Zahlung von {amount} an {merchant}. Dies ist die Seite einer Testbank: Wählen Sie, " +
      "was sie antwortet.",
    "{merchant} への {amount} のお支払いを確認してください。これはテスト用の銀行のページです。結果を選んでください。",
  ],
  challengeTime: [
    "Without an answer, the payment fails after 10 minutes and nothing is charged.",
    "Ohne Antwort scheitert die Zahlung nach 10 Minuten, und es wird nichts abgebucht.",
    "10分以内に回答がない場合、お支払いは行われず、請求も発生しません。",
  ],
  challengeComplete: ["Confirm the payment", "Zahlung bestätigen", "支払いを承認する"],
  challengeFail: ["Fail the confirmation", "Bestätigung scheitern lassen", "認証を失敗させる"],
  challengeCancel: [
    "Cancel and go back to the checkout",
    "Abbrechen und zurück zur Kasse",
    "キャンセルして購入手続きに戻る",
  ],
} as const satisfies Record<string, CardTexts>;

/** Messages about declined cards, by the failure code of the payment. */
export const cardFailureTexts: Readonly<Record<string, CardTexts>> = {
  expired_card: [
    "The card has expired. Nothing was charged; pay with another card.",
    "Die Karte ist abgelaufen. Es wurde nichts abgebucht; bezahlen Sie mit einer anderen Karte.",
    "カードの有効期限が切れています。請求は発生していません。別のカードでお支払いください。",
  ],
  incorrect_cvc: [
    "The security code is wrong. Nothing was charged; check the code and pay again.",
    "Die Prüfziffer ist falsch. Es wurde nichts abgebucht; prüfen Sie sie und bezahlen Sie noch einmal.",
    "セキュリティコードが正しくありません。請求は発生していません。確認してもう一度お支払いください。",
  ],
  authentication_failed: [
    "Your bank did not confirm the payment. Nothing was charged; try again or pay with another card.",
    "Ihre Bank hat die Zahlung nicht bestätigt. Es wurde nichts abgebucht; versuchen Sie es noch einmal " +
      "oder bezahlen Sie mit einer anderen Karte.",
    "本人認証が完了しませんでした。請求は発生していません。もう一度試すか、別のカードでお支払いください。",
  ],
};
